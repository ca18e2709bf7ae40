import type { Recorder } from '../events/recorder.js';
import type { ObjectKey } from '../object/kubernetes-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Span } from '../system/tracer.js';
import type { ReconcileClient } from './reconcile-client.js';
import type { Result } from './result.js';
import type { Trigger } from './trigger.js';

/** The argument of a {@link Reconciler}. */
export interface ReconcileContext {
  /** The key of the object to reconcile. The object may be gone. */
  readonly key: ObjectKey;
  /** The cluster of the object and of `client`; `''` for the only one. */
  readonly cluster: string;
  /** Aborted on time-out or when the controller stops; pass it to every long call. */
  readonly signal: AbortSignal;
  /** Adds `controller`, `kind`, `namespace`, `name` and `reconcileID` to each line. */
  readonly logger: Logger;
  /** Reads cached objects from the cache. Its calls end with `signal`; after that it refuses to write. */
  readonly client: ReconcileClient;
  /**
   * Records events about objects of `cluster`, reported by the controller; see
   * `ControllerOptions.reportingController`. Silent while planning.
   */
  readonly recorder: Recorder;
  /** The controller's clock: in tests a virtual one. */
  readonly clock: Clock;
  /** The first of `triggers`. */
  readonly trigger: Trigger;
  /** The triggers of this reconcile: at least one, at most ten. */
  readonly triggers: readonly Trigger[];
  /** The number of further triggers. */
  readonly moreTriggers: number;
  readonly reconcileID: string;
  /** The span of this reconcile; start child spans for slow steps. Without a tracer it records nothing. */
  readonly span: Span;
  /**
   * True if this reconcile must have no lasting effect: writes to the cluster are dry runs, and the
   * reconciler must not change external systems.
   */
  readonly planning: boolean;
}

/**
 * Brings the object of `key` to its desired state. It is called repeatedly, never concurrently for one key,
 * and must not depend on the trigger.
 *
 * ## Outcomes
 * - returns `done()`: reconciles again when something changes.
 * - returns `requeueAfter(ms)`: reconciles again after that time, or sooner if something changes.
 * - throws a conflict (409): retries soon, without an error log.
 * - throws `TerminalError`: logged and counted; reconciles again when something changes.
 * - throws any other error: logged and counted; retries after 5 ms, doubling to 1,000 s with each failure.
 */
export type Reconciler = (context: ReconcileContext) => Promise<Result>;
