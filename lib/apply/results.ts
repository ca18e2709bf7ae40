import type { FieldChange } from '../object/diff-by-path.js';
import type { ObjectReference } from '../object/object-reference.js';

/** How far the rollout of a workload is. */
export interface RolloutState {
  /**
   * `complete`: every pod runs the newest template and is available. `stuck`: no progress for
   * longer than `progressDeadlineSeconds`, or a pod of a broken revision is in the way.
   * `unwatched`: there is nothing to wait for (`OnDelete`, a paused Deployment).
   */
  readonly state: 'complete' | 'progressing' | 'stuck' | 'unwatched';
  /** What it waits for, in words. */
  readonly message: string;
}

/** What was done to an object. */
export type Operation =
  'created' | 'configured' | 'unchanged' | 'recreated' | 'deleted' | 'pending';

/** What a reconcile did to one object. */
export interface ObjectResult {
  /**
   * `created`: it was not there. `configured`: changed, drift repaired included. `recreated`:
   * deleted and made again because of an immutable field. `deleted`: pruned. `pending`: something is
   * still to be done; `reason` says what it waits for, and a watch on the builder's kinds wakes it.
   */
  readonly operation: Operation;
  readonly ref: ObjectReference;
  /**
   * The fields that changed, for `configured` and `recreated`; for `pending` those that did not have
   * to wait: of a workload whose pod template waits, the rest is applied. `manager` says who had taken a field
   * from us: drift. Values of a Secret are not shown.
   */
  readonly changes: readonly FieldChange[];
  /** Why; always there for `pending`. */
  readonly reason?: string;
  /** For workloads that exist. */
  readonly rollout?: RolloutState;
  /** The ConfigMaps and Secrets whose changed data rolls the pods of the workload. */
  readonly causes?: readonly ObjectReference[];
  /** Reconcile again after so many milliseconds: no watch tells of what it waits for. */
  readonly requeueAfterMs?: number;
}

/** The shortest `requeueAfterMs` of `results`, or undefined. */
export function requeueAfterOf(results: readonly ObjectResult[]): number | undefined {
  const delays = results.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []);
  return delays.length === 0 ? undefined : Math.min(...delays);
}
