/*
 * Controllers: from a change of an object to the outcome of its reconcile.
 *
 *   sources ──► keys ──► queue ──► workers ──► reconcile ──► outcome ──► queue
 *
 * Read in this order: `controller.ts` describes a controller and `options.ts` its settings.
 * `sources.ts` and `kind-source.ts`, with its predicates, turn events into keys with triggers.
 * `queue.ts`, on `ready-list.ts` and `delays.ts`, decides which key is next. `workers.ts` takes keys,
 * `reconcile.ts` is one reconcile of one key, `lazy-context.ts` its context and `reconcile-client.ts` its client.
 * `outcome.ts` requeues, counts and logs; `result.ts` classifies results and errors.
 * `running-controller.ts` starts and stops all of it, per cluster with `running-cluster.ts`.
 * `hot-loop.ts` slows down keys that write one object repeatedly. `single-reconcile.ts` reconciles a key without a
 * running controller, for plans; `outside-guard.ts` refuses requests of its handler.
 */
export { Controller, controllerFor, refuseNoType } from './controller.js';
export type { ControllerBuilder, WatchKindOptions } from './controller.js';
export { Backoff } from './delays.js';
export type { HotLoop } from './hot-loop.js';
export type { KeyOwnership, KeyOwnershipListener, ReconcileKey } from './keys.js';
export {
  enqueueOwner,
  initialListPriority,
  kindSource,
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  labelSelector,
  not,
  onEvents,
  or,
  resourceVersionChanged,
} from './kind-source.js';
export type { Mapper, Predicate } from './kind-source.js';
export { forgetMetrics } from './metrics.js';
export type { ControllerKind, ControllerOptions, ControllerSettings } from './options.js';
export { bothOf, reconcileFailed } from './outcome.js';
export type {
  ControllerEvent,
  ControllerEventListener,
  LastError,
  ReconciledEvent,
} from './outcome.js';
export { WorkQueue } from './queue.js';
export type { ReconcileClient } from './reconcile-client.js';
export { extendContext, reportingOf, warnOfPendingWrites } from './lazy-context.js';
export { reconcileWatch } from './reconcile.js';
export type { ReconcileContext, Reconciler, WatchedReconcile } from './reconcile.js';
export {
  checkedResult,
  done,
  failureKindOf,
  InvalidResultError,
  isLasting,
  isResult,
  readableError,
  requeueAfter,
  retryAfterMsOf,
  shapeOf,
  TerminalError,
  UnfinishedFailure,
} from './result.js';
export type { Result } from './result.js';
export type { ControllerCluster, SourceStatus } from './running-cluster.js';
export type { RunningController } from './running-controller.js';
export { callbackSource, streamSource, timerSource } from './sources.js';
export type {
  CallbackSource,
  Source,
  SourceContext,
  StartedSource,
  StartedSourceStatus,
} from './sources.js';
export type { ActiveReconcile, ControllerStatus } from './status.js';
export { eventTrigger } from './trigger.js';
export type { Trigger, TriggerList } from './trigger.js';
