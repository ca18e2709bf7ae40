export type { BackOff, BackOffFactory } from './back-off.js';
export { contextKey } from './context-key.js';
export type { ContextKey } from './context-key.js';
export type { Awaitable, CrudOperations, States } from './crud-operations.js';
export { CrudResource } from './crud-resource.js';
export type { CrudResourceOptions } from './crud-resource.js';
export { defaultBackOffFactory } from './default-back-off-factory.js';
export { defaultResourceSetResourceFunc } from './default-resource-set-resource-func.js';
export type { ResourceFunc } from './default-resource-set-resource-func.js';
export { ExecutionFailedError, isExecutionFailed } from './execution-failed-error.js';
export { exponentialBackOff } from './exponential-back-off.js';
export type { ExponentialBackOffOptions } from './exponential-back-off.js';
export type { FrameworkEvents } from './framework/feed-events.js';
export { Framework } from './framework/framework.js';
export type { FrameworkAddOptions, FrameworkRunOptions } from './framework/framework.js';
export type { FrameworkOptions } from './framework/framework-options.js';
export { InvalidConfigError, isInvalidConfig } from './invalid-config-error.js';
export { newResourceContext } from './new-resource-context.js';
export type { ResourceContextOptions } from './new-resource-context.js';
export { NoResourceSetError, isNoResourceSet } from './no-resource-set-error.js';
export { configMapResource } from './objects/config-map-resource.js';
export { objectsResource } from './objects/objects-resource.js';
export { secretResource } from './objects/secret-resource.js';
export { serviceResource } from './objects/service-resource.js';
export type {
  KeptObjectsOptions,
  LiteralHint,
  ObjectOfType,
  ObjectsResourceOptions,
} from './objects/objects-resource-options.js';
export { Patch } from './patch.js';
export type { PatchPart, SetChange } from './patch.js';
export { isPermanent, PermanentError } from './permanent-error.js';
export { processDelete, processUpdate } from './process.js';
export { prometheusNamespace, prometheusSubsystem } from './prometheus-names.js';
export type { Resource } from './resource.js';
export type {
  Cancellation,
  NotReadyOptions,
  ResourceContext,
  StepName,
} from './resource-context.js';
export { resourceChain } from './resource-chain.js';
export type { ResourceChainOptions } from './resource-chain.js';
export { ResourceFailedError, isResourceFailed } from './resource-failed-error.js';
export { ResourceRouter } from './resource-router.js';
export type { ResourceRouterOptions } from './resource-router.js';
export { ResourceSet } from './resource-set.js';
export type { DeletionOrder, ResourceSetOptions } from './resource-set.js';
export { withLogging } from './with-logging.js';
export type { StepLoggingOptions } from './with-logging.js';
export { withMetrics } from './with-metrics.js';
export type { OperationMetricsOptions } from './with-metrics.js';
export { withRetry } from './with-retry.js';
export type { RetryOptions } from './with-retry.js';
export { unwrap, wrap } from './wrap.js';
export type { Wrapper } from './wrap.js';
export { wrapSteps } from './wrap-steps.js';
export type { AroundStep, Step } from './wrap-steps.js';
