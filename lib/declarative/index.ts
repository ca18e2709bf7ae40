export { createToken, generateKeys, ViewApiServer } from './api-server/index.js';
export { operatorCrdAccess, operatorCrdController, OperatorResource } from './crd/index.js';
export type { Document } from './document.js';
export { operatorGraph, toDot, toMermaid, toSvg } from './graph/index.js';
export type { OperatorGraph } from './graph/index.js';
export { InvalidSpecError, isInvalidSpec } from './spec/invalid-spec-error.js';
export { loadOperators } from './spec/load-operator.js';
export type { LoadedOperator } from './spec/load-operator.js';
export type { ControllerSpec, OperatorSpec } from './spec/operator-spec.js';
export { DeclarativeManager, Views } from './views/index.js';
export {
  ErrorStream,
  Group,
  DeclarativeOperator,
  statusChannelBufferSize,
} from './operator/index.js';
export { DeclarativeController } from './runtime/index.js';
export type { ReportedError } from './runtime/index.js';
