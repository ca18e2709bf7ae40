/*
 * A reconciler as a chain of small resources, each with `ensureCreated` and `ensureDeleted`.
 *
 *   controller ──► framework/ ──► resource-set.ts ──► process.ts ──► resources, one after the other
 *
 * Read `resource-set.ts` (a resource, and the choice of its chain), `process.ts` (one reconcile) and
 * `resource-context.ts` with `pass-context.ts` (the context that a reconcile shares). `crud-resource.ts` and
 * `objects/` are kinds of resources. `wrap.ts`, `with-retry.ts` and `with-metrics.ts` extend resources.
 * `framework/` runs chains as a controller; `resource-chain.ts` runs them in an `Operator`.
 */
export type { BackOff } from './with-retry.js';
export { contextKey } from './resource-context.js';
export type { Cancellation, ContextKey, ResourceContext } from './resource-context.js';
export type { CrudOperations, States } from './crud-resource.js';
export { CrudResource, Patch } from './crud-resource.js';
export { defaultBackOffFactory, exponentialBackOff, withRetry } from './with-retry.js';
export { ResourceRouter, ResourceSet, defaultResourceSetResourceFunc } from './resource-set.js';
export type { Resource } from './resource-set.js';
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
export { Framework } from './framework/framework.js';
export type { FrameworkOptions } from './framework/framework-options.js';
export { newResourceContext } from './pass-context.js';
export {
  configMapResource,
  objectsResource,
  secretResource,
  serviceResource,
} from './objects/objects-resource.js';
export { processDelete, processUpdate } from './process.js';
export { prometheusNamespace, prometheusSubsystem, withMetrics } from './with-metrics.js';
export { resourceChain } from './resource-chain.js';
export { unwrap, withLogging, wrap, wrapSteps } from './wrap.js';
export type { Step, Wrapper } from './wrap.js';
