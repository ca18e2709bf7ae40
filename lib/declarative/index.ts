/*
 * Operators in YAML: pipelines from sources to a target, run as controllers.
 *
 *   YAML ──► spec/ ──► engine/ with expression/ ──► runtime/ ──► operator/ ──► group or CRD controller (crd/)
 *
 * Read `spec/operator-spec.ts` (the specification), `engine/pipeline.ts` (incremental evaluation) and
 * `runtime/declarative-controller.ts` (one controller). `views/` holds objects that exist only in this
 * process, and `api-server/` serves them to kubectl. `graph/` draws operators. `spec-problem.ts` is the form
 * in which all of these report problems of a specification.
 */
export { createToken, generateKeys, ViewApiServer } from './api-server/index.js';
export type { KeyFiles } from './api-server/index.js';
export { operatorCrdAccess, operatorCrdController, OperatorResource } from './crd/index.js';
export type { Document } from './document.js';
export { operatorGraph, toDot, toMermaid, toSvg } from './graph/index.js';
export type { OperatorGraph } from './graph/index.js';
export { InvalidSpecError, isInvalidSpec } from './spec/invalid-spec-error.js';
export { loadOperators } from './spec/load-operator.js';
export type { LoadedOperator } from './spec/load-operator.js';
export type { ControllerSpec, OperatorSpec, SourceSpec, TargetSpec } from './spec/operator-spec.js';
export { DeclarativeManager, Views } from './views/index.js';
export {
  ErrorStream,
  Group,
  DeclarativeOperator,
  statusChannelBufferSize,
} from './operator/index.js';
export { DeclarativeController } from './runtime/index.js';
export type { ReportedError } from './runtime/index.js';
