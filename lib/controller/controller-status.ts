import type { ControllerParts } from './controller-parts.js';
import type { HotLoop } from './hot-loop-detector.js';
import { shownKey } from './last-errors.js';
import type { LastError } from './last-errors.js';
import { parseWorkKey } from './reconcile-key.js';
import type { ReconcileRun } from './reconcile-run.js';
import type { ClusterStatus } from './running-cluster.js';
import type { Trigger } from './trigger.js';

/** A reconcile that goes on. */
export interface ActiveReconcile {
  /** `''`: the only one. */
  readonly cluster: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly reconcileID: string;
  /** So far, in milliseconds. */
  readonly lastedMs: number;
  /** Its time is over; the key is held until it ends. */
  readonly isTimedOut: boolean;
  /** How long its time has been over, in milliseconds; 0: it is not. */
  readonly heldMs: number;
  /** What caused it, the first ten. */
  readonly triggers: readonly Trigger[];
}

/** A key that waits for a worker. */
export interface WaitingReconcile {
  readonly cluster: string;
  readonly key: string;
  readonly priority: number;
  /** So far, in milliseconds. */
  readonly waitedMs: number;
}

/** A key that waits for its time. */
export interface DelayedReconcile {
  readonly cluster: string;
  readonly key: string;
  readonly priority: number;
  /** How long it has to wait yet, in milliseconds. */
  readonly inMs: number;
}

/** A key that keeps writing one object, and is slowed down now. */
export interface ActiveHotLoop extends HotLoop {
  readonly cluster: string;
}

/** What a controller is doing. */
export interface ControllerStatus {
  readonly name: string;
  readonly kind: string;
  /** Reconciles happen: it was activated, and the sources of one cluster at least are synced. */
  readonly isActive: boolean;
  /** How many keys wait for a worker. */
  readonly depth: number;
  /** Those of them that have waited the longest, at most 20. */
  readonly longestWaiting: readonly WaitingReconcile[];
  /** How many keys wait for their time. */
  readonly delayed: number;
  /** The soonest of those, at most 20. */
  readonly nextDelayed: readonly DelayedReconcile[];
  readonly active: readonly ActiveReconcile[];
  /** Those of `active` whose time is over: their keys are not reconciled until they end. */
  readonly held: readonly ActiveReconcile[];
  /** Each cluster and its sources; what has a `problem`, or is parked or not synced, needs a look. */
  readonly clusters: readonly ClusterStatus[];
  readonly hotLoops: readonly ActiveHotLoop[];
  /** The last error of keys that have not succeeded since, the latest first, at most 100. */
  readonly lastErrors: readonly LastError[];
}

/** What is not kept in the {@link ControllerParts}. */
export interface StatusFacts {
  readonly isActive: boolean;
  readonly runs: readonly ReconcileRun[];
  readonly clusters: readonly ClusterStatus[];
}

/** So many of the keys that wait for a worker, and of those that wait for their time, are shown. */
const shownKeys = 20;

/** What a controller is doing. */
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
