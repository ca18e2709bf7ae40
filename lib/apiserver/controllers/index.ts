export { startControllers } from './start-controllers.js';
export type { Controllers } from './start-controllers.js';
export { controllerNames } from './controllers-options.js';
export type { ControllerName, ControllersOptions } from './controllers-options.js';
export { podBehaviorAnnotation } from './pod/index.js';
export type { PodBehavior, PodOptions } from './pod/index.js';
