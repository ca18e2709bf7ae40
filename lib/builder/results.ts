import type { ObjectReference } from '../object/object-reference.js';

/** A field that was, or would be, changed. Values of a Secret's data are replaced by `***`. */
export interface FieldChange {
  /** For example `spec.template.spec.containers[name=web].image`. */
  readonly path: string;
  /** The live value; absent: the field was not set. */
  readonly from?: unknown;
  /** The value afterwards; absent: the field is gone. */
  readonly to?: unknown;
  /** Who had taken the field from us. Absent where it was ours: the desired state changed. */
  readonly manager?: string;
}

/** How far the rollout of a workload is. */
export interface RolloutState {
  /**
   * `complete`: every pod runs the newest template and is available. `stuck`: no progress for
   * longer than `progressDeadlineSeconds`, or a pod of a broken revision is in the way.
   * `unwatched`: nobody can wait for it (`OnDelete`, a Job, a CronJob).
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
   * deleted and made again because of an immutable field. `deleted`: pruned. `pending`: nothing was
   * done yet; `reason` says what it waits for, and a watch on the builder's kinds wakes it.
   */
  readonly operation: Operation;
  readonly ref: ObjectReference;
  /** The fields that changed, most of them for `configured`. */
  readonly changes: readonly FieldChange[];
  /** Why; always there for `pending`. */
  readonly reason?: string;
  /** For workloads that exist. */
  readonly rollout?: RolloutState;
  /** Reconcile again after so many milliseconds: no watch tells of what it waits for. */
  readonly requeueAfterMs?: number;
}

/** The shortest `requeueAfterMs` of `results`, or undefined. */
export function requeueAfterOf(results: readonly ObjectResult[]): number | undefined {
  const delays = results.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []);
  return delays.length === 0 ? undefined : Math.min(...delays);
}
