export type { BackOff, BackOffFactory } from './back-off.js';
export { contextKey } from './context-key.js';
export type { ContextKey } from './context-key.js';
export type { Awaitable, CrudOperations, States } from './crud-operations.js';
export { CrudResource } from './crud-resource.js';
export type { CrudResourceOptions } from './crud-resource.js';
export { defaultResourceSetResourceFunc } from './default-resource-set-resource-func.js';
export type { ResourceFunc } from './default-resource-set-resource-func.js';
export { ExecutionFailedError, isExecutionFailed } from './execution-failed-error.js';
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
  ObjectsResourceOptions,
} from './objects/objects-resource-options.js';
export { Patch } from './patch.js';
export type { PatchPart, SetChange } from './patch.js';
export { processDelete, processUpdate } from './process.js';
export type { Resource } from './resource.js';
export type { Cancellation, ResourceContext, StepName } from './resource-context.js';
export { ResourceFailedError, isResourceFailed } from './resource-failed-error.js';
export { ResourceRouter } from './resource-router.js';
export type { ResourceRouterOptions } from './resource-router.js';
export { ResourceSet } from './resource-set.js';
export type { ResourceSetOptions } from './resource-set.js';
