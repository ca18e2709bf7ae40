export { startKubelet } from './kubelet.js';
export { startScheduler } from './scheduler.js';
export { podBehaviorAnnotation } from './pod-behavior.js';
export type { PodBehavior } from './pod-behavior.js';
export { resolvePodOptions } from './pod-options.js';
export type { PodOptions, ResolvedPodOptions } from './pod-options.js';
