import type { Recorder } from '../events/recorder.js';
import type { ObjectKey } from '../object/kubernetes-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Span } from '../system/tracer.js';
import type { ReconcileClient } from './reconcile-client.js';
import type { Result } from './result.js';
import type { Trigger } from './trigger.js';

/** What a {@link Reconciler} is given. */
export interface ReconcileContext {
  /** What to reconcile. The object may be gone. */
  readonly key: ObjectKey;
  /** Where: the cluster that `client` writes to. `''`: the only one. */
  readonly cluster: string;
  /** Aborted when the time-out passes or the controller stops; hand it to every long call. */
  readonly signal: AbortSignal;
  /** Adds `controller`, `kind`, `namespace`, `name` and `reconcileID` to each line. */
  readonly logger: Logger;
  /** Reads from the cache what is cached; its calls end with `signal`, then it refuses to write. */
  readonly client: ReconcileClient;
  /**
   * Records events about objects of `cluster`; reported by the controller, see
   * `ControllerOptions.reportingController`. Silent while planning.
   */
  readonly recorder: Recorder;
  /** The clock of the controller: in tests a virtual one. */
  readonly clock: Clock;
  /** The first of `triggers`. */
  readonly trigger: Trigger;
  /** What caused this reconcile: at least one trigger, at most ten. */
  readonly triggers: readonly Trigger[];
  /** How many more triggers there were. */
  readonly moreTriggers: number;
  readonly reconcileID: string;
  /** Of this reconcile; begin children of it for what takes long. It notes nothing where no tracer is. */
  readonly span: Span;
  /**
   * Nothing of this reconcile is to last: writes to the cluster are dry runs, and whoever reaches
   * outside of it should hold back.
   */
  readonly planning: boolean;
}

/**
 * Brings what `key` names to its desired state. It is called again and again, never twice at once
 * for one key, and must not depend on what triggered it.
 *
 * ## Outcomes
 * - `done()`: nothing until something changes.
 * - `requeueAfter(ms)`: again after that time, or sooner if something changes.
 * - a conflict thrown (409): again soon, without a word in the log.
 * - `TerminalError` thrown: logged and counted; nothing until something changes.
 * - anything else thrown: logged and counted; again after 5 ms, doubling to 1,000 s with each failure.
 */
export type Reconciler = (context: ReconcileContext) => Promise<Result>;
