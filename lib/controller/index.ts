export { Backoff } from './backoff.js';
export type { BackoffOptions } from './backoff.js';
export { Controller } from './controller.js';
export { controllerFor } from './controller-builder.js';
export type {
  ControllerBuilder,
  ControllerForOptions,
  OwnsOptions,
  WatchKindOptions,
} from './controller-builder.js';
export type {
  ControllerEvent,
  ControllerEventListener,
  HotLoopEvent,
  ReconciledEvent,
  ReconcileOutcome,
} from './controller-event.js';
export type { ControllerKind } from './controller-definition.js';
export type { ControllerOptions } from './controller-options.js';
export type {
  ControllerRuntime,
  ControllerSettings,
  MultiClusterRuntime,
} from './controller-runtime.js';
export type {
  ActiveHotLoop,
  ActiveReconcile,
  ControllerStatus,
  DelayedReconcile,
  WaitingReconcile,
} from './controller-status.js';
export type { FailureKind } from './failure.js';
export { enqueueObject, enqueueOwner, requestFor } from './handlers.js';
export type { EnqueueOwnerOptions, MapContext, Mapped, Mapper } from './handlers.js';
export type { HotLoop, HotLoopOptions } from './hot-loop-detector.js';
export type { KeyOwnership, KeyOwnershipListener } from './key-ownership.js';
export { initialListPriority, kindSource } from './kind-source.js';
export type { KindSourceOptions } from './kind-source.js';
export {
  and,
  annotationChanged,
  generationChanged,
  ignoreAnnotated,
  ignoreNamespaces,
  labelChanged,
  labelSelector,
  not,
  onEvents,
  or,
  resourceVersionChanged,
} from './predicates.js';
export type { EventPredicates, Predicate } from './predicates.js';
export type { LastError } from './last-errors.js';
export type { ReconcileKey } from './reconcile-key.js';
export type { ReconcileClient } from './reconcile-client.js';
export type { SingleReconcile } from './reconcile-once.js';
export type { ReconcileContext, Reconciler } from './reconciler.js';
export { done, requeueAfter } from './result.js';
export type { Done, RequeueAfter, Result } from './result.js';
export type { ClusterStatus, ControllerCluster, SourceStatus } from './running-cluster.js';
export type { RunningController } from './running-controller.js';
export type {
  EnqueueOptions,
  Source,
  SourceContext,
  StartedSource,
  StartedSourceStatus,
} from './source.js';
export { callbackSource, emitterSource, streamSource, timerSource } from './sources.js';
export type {
  CallbackSource,
  CallbackSourceOptions,
  Emitter,
  EmitterSourceOptions,
  ItemMapper,
  StreamSourceOptions,
  TimerSourceOptions,
} from './sources.js';
export { TerminalError } from './terminal-error.js';
export type { TerminalErrorOptions } from './terminal-error.js';
export type {
  AcquiredTrigger,
  EventTrigger,
  RequeueTrigger,
  RetryTrigger,
  SourceTrigger,
  Trigger,
  TriggerList,
} from './trigger.js';
export { WorkQueue } from './work-queue.js';
export type {
  AddOptions,
  ReadyKeyStatus,
  WaitingKey,
  WorkItem,
  WorkQueueOptions,
} from './work-queue.js';
