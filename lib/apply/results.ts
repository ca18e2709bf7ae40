import { isApiError, isInvalid, isNamespaceTerminating } from '../object/api-error.js';
import type { ApiError } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { isOperatorError, OperatorError } from '../system/operator-error.js';

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

/** What became of one object. */
export type Outcome =
  | {
      readonly state: 'done';
      readonly result: ObjectResult;
      /** The object as it is now; absent where it is not there. */
      readonly live?: UnstructuredObject;
      /** Whether the next reconcile would find `live` as desired. */
      readonly isSettled: boolean;
    }
  | {
      readonly state: 'pending';
      readonly result: ObjectResult;
      readonly live?: UnstructuredObject;
      /** Whether what depends on the object has to wait too. */
      readonly blocks: boolean;
    }
  | { readonly state: 'failed'; readonly ref: ObjectReference; readonly error: OperatorError };

/** What a finished outcome may say beside its operation. */
export interface DoneDetails extends Partial<ObjectResult> {
  readonly live?: UnstructuredObject;
  /** @defaultValue whether nothing was done */
  readonly isSettled?: boolean;
}

/** The outcome of an object that is as desired, or was brought there. */
export function done(
  operation: Exclude<Operation, 'pending'>,
  ref: ObjectReference,
  details: DoneDetails = {},
): Outcome {
  const { live, isSettled = operation === 'unchanged', ...rest } = details;
  const result = { operation, ref: refWithUid(ref, live), changes: [], ...rest };
  return { state: 'done', result, isSettled, ...(live !== undefined && { live }) };
}

/** What a pending outcome may say beside its reason. */
export interface PendingDetails {
  readonly live?: UnstructuredObject | undefined;
  /** @defaultValue true */
  readonly blocks?: boolean;
  readonly requeueAfterMs?: number;
  /** What was changed all the same. @defaultValue none */
  readonly changes?: readonly FieldChange[];
}

/** The outcome of an object that waits for something. */
export function pending(
  ref: ObjectReference,
  reason: string,
  details: PendingDetails = {},
): Outcome {
  const { live, blocks = true, requeueAfterMs, changes = [] } = details;
  const result: ObjectResult = {
    operation: 'pending',
    ref: refWithUid(ref, live),
    changes,
    reason,
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
  };
  return { state: 'pending', result, blocks, ...(live !== undefined && { live }) };
}

/**
 * The outcome of an object for which `error` was thrown.
 * @throws `error` where it is no failure of the object: the call was aborted, or there is a defect.
 */
export function failed(ref: ObjectReference, error: unknown): Outcome {
  if (!isOperatorError(error) || error.code === 'Aborted') throw error;
  // Not worth an event: the owner is on its way out with its namespace.
  if (isNamespaceTerminating(error)) return pending(ref, 'its namespace is being deleted');
  return { state: 'failed', ref, error: isApiError(error) ? explained(ref, error) : error };
}

function explained(ref: ObjectReference, error: ApiError): OperatorError {
  if (!isTerminal(error)) return error;
  const message = `${describeObject(ref)} can't be applied as it is, correct what is desired: ${error.message}`;
  return new OperatorError('Terminal', message, { cause: error });
}

// An apply that can't be merged (an unknown field, a list key twice), or makes what can't be read (an
// amount that is none), is a 500 without a reason.
const unusable = /failed to (create typed patch object|convert new object)/;

function isTerminal(error: ApiError): boolean {
  if (isInvalid(error) || error.status === 400) return true;
  return error.status === 500 && unusable.test(error.message);
}

/** `ref` with the UID of `live`. */
export function refWithUid(
  ref: ObjectReference,
  live: UnstructuredObject | undefined,
): ObjectReference {
  const uid = live?.metadata.uid;
  return uid === undefined ? ref : { ...ref, uid };
}

/**
 * Some objects of a chain could not be reconciled. The others were; what depends on a failed one was
 * left alone, and nothing was pruned.
 */
export class ReconcileFailedError extends OperatorError {
  /** One error for each object that failed, in the order of the chain. */
  readonly errors: readonly OperatorError[];
  /** What was done to the others. */
  readonly results: readonly ObjectResult[];

  constructor(errors: readonly OperatorError[], results: readonly ObjectResult[]) {
    super('ReconcileFailed', reconcileFailedMessage(errors), { cause: errors[0] });
    this.errors = errors;
    this.results = results;
  }

  /**
   * Whether no retry can help before the desired state changes: every error is of that sort, and none
   * of {@link results} asks to be looked at again (`requeueAfterMs`).
   */
  get terminal(): boolean {
    return this.errors.every(isFinal) && requeueAfterOf(this.results) === undefined;
  }
}

/**
 * The results of `outcomes`.
 * @throws ReconcileFailedError where one failed.
 */
export function resultsOf(outcomes: readonly Outcome[]): readonly ObjectResult[] {
  const results = outcomes.flatMap((each) => (each.state === 'failed' ? [] : [each.result]));
  const errors = outcomes.flatMap((each) => (each.state === 'failed' ? [each.error] : []));
  if (errors.length > 0) throw new ReconcileFailedError(errors, results);
  return results;
}

/** Whether `error` is a {@link ReconcileFailedError}, from whichever copy of this package. */
export function isReconcileFailed(error: unknown): error is ReconcileFailedError {
  return isOperatorError(error, 'ReconcileFailed');
}

// A failed dependency is as final as the failure itself, which stands beside it in the list.
const terminalCodes = new Set([
  ...['Terminal', 'InvalidObject', 'ImmutableField', 'InvalidOwner', 'DependencyFailed'],
  ...['InvalidValue', 'TooManyDeletions'],
]);

function isFinal(error: OperatorError): boolean {
  return terminalCodes.has(error.code);
}

function reconcileFailedMessage(errors: readonly OperatorError[]): string {
  const messages = errors.map((error) => error.message);
  if (messages.length === 1) return messages[0] ?? '';
  return [`${messages.length} objects could not be reconciled:`, ...messages].join('\n- ');
}
