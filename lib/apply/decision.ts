import type { FieldChange, KubernetesObject, UnstructuredObject } from '../object/index.js';
import type { OperatorError } from '../system/index.js';
import type { DesiredObject, Pair } from './desired-object.js';
import type { Adoption } from './field-ownership.js';
import { reasonToWait } from './ownership.js';
import type { JobRun } from './results.js';

/**
 * The decision about one object of a chain. Chains, declarative operators and lifecycle operators all compare the
 * desired with the live object, make such a decision, and then write. `plan` describes the same decision and does not
 * write. The comparison differs:
 * - Chains compare the hash in an annotation.
 * - Declarative targets compare the fields that `managedFields` lists ({@link FieldDecision}).
 * - Lifecycle operators merge three ways and compare the result ({@link MergeDecision}).
 */
export type ObjectDecision =
  Creating<DesiredObject> | Unchanged | Waiting | Adopting | Applying | Recreating | Refused;

/** The decision about an object of which one field manager applies only certain fields. */
export type FieldDecision<Desired> =
  Creating<Desired> | Unchanged | Waiting | Updating<Desired> | Pruning;

/** The decision about an object that exists and is merged with the desired one. */
export type MergeDecision = Unchanged | Updating<UnstructuredObject>;

/** The object does not exist, and is created. */
export interface Creating<Desired> {
  readonly action: 'create';
  readonly desired: Desired;
}

/** No write is needed, or the operator must not write the object. */
export interface Unchanged {
  readonly action: 'nothing';
  readonly live?: UnstructuredObject | undefined;
  /** The run of a Job that Kubernetes has deleted. */
  readonly run?: JobRun;
}

/** The object has to wait for something else. */
export interface Waiting {
  readonly action: 'wait';
  readonly reason: string;
  readonly live?: UnstructuredObject;
  /** True if dependents of the object have to wait too. */
  readonly blocks: boolean;
  /** The changes that wait. @defaultValue unknown */
  readonly waiting?: readonly FieldChange[];
  readonly requeueAfterMs?: number;
}

/** Field ownership is taken over first; then a new decision follows. */
export interface Adopting extends Pair {
  readonly action: 'adopt';
  readonly adoption: Adoption;
}

export interface Updating<Desired> {
  readonly action: 'apply';
  readonly desired: Desired;
  readonly live: UnstructuredObject;
}

/** An object of a chain is updated. */
export interface Applying extends Updating<DesiredObject> {
  /** Why the object's pods must not be replaced yet, or its claims can't grow; undefined if nothing waits. */
  readonly hold: string | undefined;
  /** True if `desired` lacks the changes that wait for the reason in `hold`. */
  readonly isHeld: boolean;
  /** Delay before the next attempt to make the changes that wait. @defaultValue none */
  readonly requeueAfterMs?: number | undefined;
}

/** The object is deleted and created again, because immutable fields change. */
export interface Recreating extends Pair {
  readonly action: 'recreate';
  /** The immutable fields. */
  readonly changes: readonly FieldChange[];
  /** True if the pods stay and the new object takes them over. */
  readonly orphan: boolean;
  /** True if the claims made from its templates grow before the recreation. */
  readonly grows: boolean;
}

/** The change is refused, because it affects immutable fields. */
export interface Refused {
  readonly action: 'refuse';
  readonly changes: readonly FieldChange[];
  readonly error: OperatorError;
}

/** The object is no longer desired, and is deleted. */
export interface Pruning {
  readonly action: 'prune';
  readonly live: UnstructuredObject;
}

/** Facts, other than the object, that {@link decideByExistence} uses. */
export interface ExistenceFacts {
  /** The owner of the desired object. @defaultValue the object has no owner */
  readonly owner?: KubernetesObject;
  /** The reason why the object must not be created yet. @defaultValue the object may be created */
  readonly hold?: string | undefined;
}

/** The object exists and is kept, so the comparison of its content decides about a write. */
export interface Existing {
  readonly action: 'compare';
  readonly live: UnstructuredObject;
}

/** Decides about an object that does not exist, or that must disappear first. */
export function decideByExistence<Desired>(
  desired: Desired,
  live: UnstructuredObject | undefined,
  { owner, hold }: ExistenceFacts = {},
): Creating<Desired> | Waiting | Existing {
  if (live === undefined) {
    if (hold === undefined) return { action: 'create', desired };
    return { action: 'wait', reason: hold, blocks: true };
  }
  const reason = reasonToWait(live, owner);
  if (reason === undefined) return { action: 'compare', live };
  return { action: 'wait', reason, live, blocks: true };
}
