/*
 * The entry `operator-builder/types`: types of values that functions of the entry `operator-builder` return.
 * A program rarely writes these names. The compiler needs them for the declarations of a package that exports
 * such values. `lib/index.ts` refers to this file so that the compiler finds it.
 */
export type { Counter, Gauge, Histogram, Span, Tracer } from '../system/index.js';
export type { ConditionUpdate, ObjectList, ObjectMeta, RolloutStatus } from '../object/index.js';
export type { Applied, CreateOrUpdateResult, Fence } from '../client/index.js';
export type {
  CachedClient,
  CachedType,
  HandlerRegistration,
  Indexer,
  Informer,
  InformerStatus,
} from '../cache/index.js';
export type { BuilderChain, NoNames, Plan, PlannedRollout, WithName } from '../builder/index.js';
export type {
  CallbackSource,
  ControllerBuilder,
  ControllerStatus,
  ReconcileClient,
  RunningController,
  Trigger,
} from '../controller/index.js';
export type { OperatorController } from '../operator/index.js';
export type {
  Added,
  CertificateSource,
  ManagerStatus,
  RequiredAccess,
  WebhookConfiguration,
} from '../manager/index.js';
