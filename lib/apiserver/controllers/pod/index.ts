export { startKubelet } from './kubelet.js';
export { startScheduler } from './scheduler.js';
export { podBehaviorAnnotation, resolvePodOptions } from './pod-behavior.js';
export type { PodBehavior, PodOptions, ResolvedPodOptions } from './pod-behavior.js';
