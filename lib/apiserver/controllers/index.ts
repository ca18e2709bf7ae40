/*
 * The controllers of a cluster: workloads, pods, namespaces, garbage collection. They access objects by `Loopback`.
 *
 * Read `start-controllers.ts`, then `controller-host.ts` (reads, watches and writes), `work-queue.ts` and
 * `controller-events.ts` (the Events of all controllers). Each other file is one controller, named after its kind, or a
 * part of one. Shared by workloads: `dependents.ts` (adoption), `pod-control.ts`, `controller-revisions.ts` and
 * `pod-state.ts`.
 */
export { startControllers, controllerNames } from './start-controllers.js';
export type { Controllers, ControllerName, ControllersOptions } from './start-controllers.js';
export type { PodOptions } from './pod-behavior.js';
export { PodRules } from './pod-rules.js';
export type { PodBehavior } from './pod-rules.js';
export { MetricRules } from './metric-rules.js';
export type { MetricRule } from './metric-rules.js';
export { RootCertificate } from './root-certificate.js';
