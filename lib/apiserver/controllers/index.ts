export { startControllers, controllerNames } from './start-controllers.js';
export type { Controllers, ControllerName, ControllersOptions } from './start-controllers.js';
export { podBehaviorAnnotation } from './pod-behavior.js';
export type { PodBehavior, PodOptions } from './pod-behavior.js';
