export {
  createToken,
  generateKeys,
  keyFilesIn,
  ViewApiServer,
  viewKubeConfig,
  writeViewKubeConfig,
} from './api-server/index.js';
export type {
  KeyFiles,
  KeyOptions,
  ServedViews,
  TokenClaims,
  TokenOptions,
  ViewApiServerOptions,
  ViewKubeConfigOptions,
  ViewTls,
} from './api-server/index.js';
export {
  cleanUpAnnotation,
  operatorCrdAccess,
  operatorCrdController,
  OperatorResource,
} from './crd/index.js';
export type {
  ControllerDocument,
  OperatorControllerStatus,
  OperatorCrdControllerOptions,
  OperatorDocument,
  OperatorStatus,
} from './crd/index.js';
export type { Document } from './document.js';
export {
  compilePipeline,
  compilePlan,
  netDeltas,
  OutputCollector,
  Pipeline,
  ZSet,
} from './engine/index.js';
export type {
  Delta,
  IncrementalNode,
  OutputChange,
  PipelinePlan,
  PipelineSettings,
  PipelineSource,
  StageFailure,
  StagePlan,
  ZSetEntry,
} from './engine/index.js';
export {
  compileCondition,
  compileExpression,
  compileProjection,
  DataError,
  isDataError,
} from './expression/index.js';
export type { Expression, ExpressionOptions, Projection } from './expression/index.js';
export { operatorGraph, toDot, toMermaid, toSvg } from './graph/index.js';
export type {
  GraphController,
  GraphLink,
  GraphOperator,
  GraphResource,
  GraphSource,
  GraphStage,
  GraphTarget,
  NamedOperator,
  OperatorGraph,
} from './graph/index.js';
export { InvalidSpecError, isInvalidSpec } from './spec/invalid-spec-error.js';
export type { LocatedProblem } from './spec/invalid-spec-error.js';
export { loadOperators } from './spec/load-operator.js';
export type { LoadedOperator } from './spec/load-operator.js';
export { operatorOfViewGroup, viewGroupOf } from './spec/operator-spec.js';
export type {
  BasicPredicate,
  ControllerSpec,
  OperatorSpec,
  PredicateSpec,
  ResourceSpec,
  SourceSpec,
  SourceType,
  TargetSpec,
  TargetType,
} from './spec/operator-spec.js';
export { compileContext, formatSpecPath } from './spec-problem.js';
export type { CompileContext, SpecPath, SpecProblem } from './spec-problem.js';
export { DeclarativeManager, Views } from './views/index.js';
export type { DeclarativeManagerOptions, ViewsOptions } from './views/index.js';
export { ErrorStream, Group, Operator, statusChannelBufferSize } from './operator/index.js';
export type {
  CleanUpPolicy,
  ErrorStreamOptions,
  FormerController,
  GroupOptions,
  OperatorChangeOptions,
  OperatorController,
  OperatorInput,
  OperatorOptions,
  ViewsServer,
} from './operator/index.js';
export { DeclarativeController } from './runtime/index.js';
export type {
  DeclarativeControllerListener,
  DeclarativeControllerOptions,
  DeclarativeControllerStatus,
  GrowthLimit,
  ReportedError,
  StopControllerOptions,
} from './runtime/index.js';
