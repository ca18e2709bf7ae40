export type {
  BackOff,
  BackOffFactory,
  ExponentialBackOffOptions,
  RetryOptions,
} from './with-retry.js';
export { contextKey } from './resource-context.js';
export type {
  Cancellation,
  ContextKey,
  NotReadyOptions,
  ResourceContext,
  StepName,
} from './resource-context.js';
export type {
  Awaitable,
  CrudOperations,
  CrudResourceOptions,
  PatchPart,
  SetChange,
  States,
} from './crud-resource.js';
export { CrudResource, Patch } from './crud-resource.js';
export { defaultBackOffFactory, exponentialBackOff, withRetry } from './with-retry.js';
export { ResourceRouter, ResourceSet, defaultResourceSetResourceFunc } from './resource-set.js';
export type {
  DeletionOrder,
  Resource,
  ResourceFunc,
  ResourceRouterOptions,
  ResourceSetOptions,
} from './resource-set.js';
export {
  ExecutionFailedError,
  InvalidConfigError,
  NoResourceSetError,
  PermanentError,
  ResourceFailedError,
  isExecutionFailed,
  isInvalidConfig,
  isNoResourceSet,
  isPermanent,
  isResourceFailed,
} from './errors.js';
export type { FrameworkEvents } from './framework/feed-events.js';
export { Framework } from './framework/framework.js';
export type { FrameworkAddOptions, FrameworkRunOptions } from './framework/framework.js';
export type { FrameworkOptions } from './framework/framework-options.js';
export { newResourceContext } from './pass-context.js';
export type { ResourceContextOptions } from './pass-context.js';
export {
  configMapResource,
  objectsResource,
  secretResource,
  serviceResource,
} from './objects/objects-resource.js';
export type {
  KeptObjectsOptions,
  LiteralHint,
  ObjectOfType,
  ObjectsResourceOptions,
} from './objects/objects-resource.js';
export { processDelete, processUpdate } from './process.js';
export { prometheusNamespace, prometheusSubsystem, withMetrics } from './with-metrics.js';
export { resourceChain } from './resource-chain.js';
export type { ResourceChainOptions } from './resource-chain.js';
export { unwrap, withLogging, wrap, wrapSteps } from './wrap.js';
export type { AroundStep, Step, StepLoggingOptions, Wrapper } from './wrap.js';
export type { OperationMetricsOptions } from './with-metrics.js';
