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
 * `hot-loop.ts` slows down keys that write one object repeatedly.
 */
export { Controller, controllerFor } from './controller.js';
export type {
  ControllerBuilder,
  ControllerForOptions,
  OwnsOptions,
  WatchKindOptions,
} from './controller.js';
export { Backoff } from './delays.js';
export type { BackoffOptions } from './delays.js';
export type { HotLoop, HotLoopOptions } from './hot-loop.js';
export type { KeyOwnership, KeyOwnershipListener, ReconcileKey } from './keys.js';
export {
  enqueueObject,
  enqueueOwner,
  initialListPriority,
  kindSource,
  requestFor,
  and,
  annotationChanged,
  answerOf,
  generationChanged,
  ignoreAnnotated,
  ignoreNamespaces,
  labelChanged,
  labelSelector,
  not,
  onEvents,
  or,
  resourceVersionChanged,
} from './kind-source.js';
export type {
  EnqueueOwnerOptions,
  KindSourceOptions,
  MapContext,
  Mapped,
  Mapper,
  EventPredicates,
  Predicate,
} from './kind-source.js';
export { forgetMetrics } from './metrics.js';
export type {
  ControllerKind,
  ControllerOptions,
  ControllerRuntime,
  ControllerSettings,
  MultiClusterRuntime,
} from './options.js';
export { bothOf, reconcileFailed } from './outcome.js';
export type {
  ControllerEvent,
  ControllerEventListener,
  HotLoopEvent,
  LastError,
  ReconciledEvent,
  ReconcileOutcome,
} from './outcome.js';
export { WorkQueue } from './queue.js';
export type {
  AddOptions,
  ReadyKeyStatus,
  WaitingKey,
  WorkItem,
  WorkQueueOptions,
} from './queue.js';
export type { ReconcileClient } from './reconcile-client.js';
export { extendContext, warnOfPendingWrites } from './lazy-context.js';
export type { ReconcileContext, Reconciler, SingleReconcile } from './reconcile.js';
export {
  checkedResult,
  done,
  failureKindOf,
  InvalidResultError,
  isResult,
  readableError,
  requeueAfter,
  retryAfterMsOf,
  shapeOf,
  TerminalError,
  UnfinishedFailure,
} from './result.js';
export type { Done, FailureKind, RequeueAfter, Result, TerminalErrorOptions } from './result.js';
export type { ClusterStatus, ControllerCluster, SourceStatus } from './running-cluster.js';
export type { RunningController } from './running-controller.js';
export { callbackSource, emitterSource, streamSource, timerSource } from './sources.js';
export type {
  CallbackSource,
  CallbackSourceOptions,
  Emitter,
  EmitterSourceOptions,
  EnqueueOptions,
  ItemMapper,
  Source,
  SourceContext,
  StartedSource,
  StartedSourceStatus,
  StreamSourceOptions,
  TimerSourceOptions,
} from './sources.js';
export type {
  ActiveHotLoop,
  ActiveReconcile,
  ControllerStatus,
  DelayedReconcile,
  WaitingReconcile,
} from './status.js';
export { eventTrigger } from './trigger.js';
export type {
  AcquiredTrigger,
  EventTrigger,
  RequeueTrigger,
  RetryTrigger,
  SourceTrigger,
  Trigger,
  TriggerList,
} from './trigger.js';
