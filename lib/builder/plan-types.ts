import type { PlannedObject } from '../apply/index.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { ObjectReference } from '../object/object-reference.js';

/** A workload whose pods would be replaced. */
export interface PlannedRollout {
  readonly ref: ObjectReference;
  /** The changes of the pod template that cause it. */
  readonly changes: readonly FieldChange[];
  /** The ConfigMaps and Secrets whose data cause it. */
  readonly causes: readonly ObjectReference[];
  /** The workload that has to be rolled out before, if any. */
  readonly after?: ObjectReference;
}

/** What `reconcile()` would do now. Nothing was written to find out. */
export interface Plan {
  readonly owner: ObjectReference;
  readonly objects: readonly PlannedObject[];
  readonly rollouts: readonly PlannedRollout[];
  /** Whether any object is not `unchanged`. */
  readonly changed: boolean;
}
