import type { FieldChange } from '../object/diff-by-path.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { OperatorError } from '../system/operator-error.js';

/** What `reconcile()` would do to one object. */
export interface PlannedObject {
  /**
   * `violate`: the change is refused, for the field is immutable and `onImmutable` is `fail`.
   * `wait`: nothing yet; `reason` says for what. `fail`: `error` says why.
   */
  readonly action:
    'create' | 'configure' | 'recreate' | 'unchanged' | 'prune' | 'violate' | 'wait' | 'fail';
  readonly ref: ObjectReference;
  /** For `create`: every field that is set. */
  readonly changes: readonly FieldChange[];
  /** The change was computed here, not by a dry run: defaults and admission are not in it. */
  readonly approximate: boolean;
  /** Why, for example why the dry run was not possible. */
  readonly reason?: string;
  /** The immutable fields, for `violate` and `recreate`. */
  readonly immutable?: readonly string[];
  readonly error?: OperatorError;
}

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
