import type { HotLoop } from './hot-loop.js';
import { parseWorkKey } from './keys.js';
import { shownKey } from './outcome.js';
import type { LastError } from './outcome.js';
import type { ReconcileRun } from './reconcile.js';
import type { ClusterStatus } from './running-cluster.js';
import type { ControllerParts } from './running-controller.js';
import type { Trigger } from './trigger.js';

/** A reconcile in progress. */
export interface ActiveReconcile {
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly reconcileID: string;
  /** The time since the start, in milliseconds. */
  readonly lastedMs: number;
  /** True if the reconcile has timed out; its key is held until it ends. */
  readonly isTimedOut: boolean;
  /** The time since the time-out, in milliseconds; 0 if not timed out. */
  readonly heldMs: number;
  /** The first ten triggers. */
  readonly triggers: readonly Trigger[];
}

/** A key that waits for a worker. */
export interface WaitingReconcile {
  readonly cluster: string;
  readonly key: string;
  readonly priority: number;
  /** The waiting time so far, in milliseconds. */
  readonly waitedMs: number;
}

/** A key that waits for its delay to pass. */
export interface DelayedReconcile {
  readonly cluster: string;
  readonly key: string;
  readonly priority: number;
  /** The remaining delay, in milliseconds. */
  readonly inMs: number;
}

/** A key that repeatedly writes one object and is currently slowed down. */
export interface ActiveHotLoop extends HotLoop {
  readonly cluster: string;
}

/** The state of a controller. */
export interface ControllerStatus {
  readonly name: string;
  readonly kind: string;
  /**
   * True if the controller reconciles: it was activated, and the sources of at least one cluster are synced.
   */
  readonly isActive: boolean;
  /** The number of keys that wait for a worker. */
  readonly depth: number;
  /** The keys that have waited longest for a worker, at most 20. */
  readonly longestWaiting: readonly WaitingReconcile[];
  /** The number of keys that wait for their delay to pass. */
  readonly delayed: number;
  /** The delayed keys that are due soonest, at most 20. */
  readonly nextDelayed: readonly DelayedReconcile[];
  readonly active: readonly ActiveReconcile[];
  /** The timed-out reconciles of `active`: their keys are not reconciled until they end. */
  readonly held: readonly ActiveReconcile[];
  /** Each cluster and its sources. A source with a `problem`, parked or not synced, needs attention. */
  readonly clusters: readonly ClusterStatus[];
  readonly hotLoops: readonly ActiveHotLoop[];
  /** The last error of each key without a later success, the latest first, at most 100. */
  readonly lastErrors: readonly LastError[];
}

/** The parts of a controller's status that change over time and are not in {@link ControllerParts}. */
export interface StatusFacts {
  readonly isActive: boolean;
  readonly runs: readonly ReconcileRun[];
  readonly clusters: readonly ClusterStatus[];
}

/** The maximum number of waiting keys, and of delayed keys, in the status. */
const shownKeys = 20;

export function statusOf(parts: ControllerParts, facts: StatusFacts): ControllerStatus {
  const { name, kind, queue, hotLoops, lastErrors } = parts;
  const { isActive, runs, clusters } = facts;
  const active = runs.map(activeReconcile);
  return {
    ...{ name, kind, isActive, clusters, active },
    depth: queue.depth,
    longestWaiting: queue
      .longestWaiting(shownKeys)
      .map(({ key, ...facts }) => ({ ...shownKey(parseWorkKey(key)), ...facts })),
    delayed: queue.delayed,
    nextDelayed: queue
      .soonest(shownKeys)
      .map(({ key, priority, inMs }) => ({ ...shownKey(parseWorkKey(key)), priority, inMs })),
    held: active.filter(({ isTimedOut }) => isTimedOut),
    hotLoops: (hotLoops?.all() ?? []).map((loop) => ({
      ...loop,
      ...shownKey(parseWorkKey(loop.key)),
    })),
    lastErrors: lastErrors.all(),
  };
}

function activeReconcile(run: ReconcileRun): ActiveReconcile {
  const { work, reconcileID, lastedMs, isTimedOut, heldMs, triggers } = run;
  const facts = { reconcileID, lastedMs, isTimedOut, heldMs };
  return { ...shownKey(work), ...facts, triggers: triggers.triggers };
}
