import {
  describeObject,
  isApiError,
  isDenied,
  isInvalid,
  isNamespaceTerminating,
} from '../object/index.js';
import type {
  ApiError,
  FieldChange,
  UnstructuredObject,
  ObjectReference,
} from '../object/index.js';
import { isOperatorError, OperatorError } from '../system/index.js';

/** The rollout progress of a workload. */
export interface RolloutState {
  /**
   * `complete`: every pod runs the newest template and is available. `stuck`: no progress for longer than
   * `progressDeadlineSeconds`, or a pod of a broken revision blocks the rollout. `unwatched`: there is no
   * rollout to wait for (`OnDelete`, a paused Deployment).
   */
  readonly state: 'complete' | 'progressing' | 'stuck' | 'unwatched';
  /** A description of the state, such as the cause of the wait. */
  readonly message: string;
}

/** The run of a Job. */
export interface JobRun {
  /** `running`: the Job has not finished. `succeeded` and `failed` stay after Kubernetes has deleted the Job. */
  readonly state: 'running' | 'succeeded' | 'failed';
  /** A description of the state, such as the reason of a failure. */
  readonly message: string;
}

/** The operation on an object. */
export type Operation =
  'created' | 'configured' | 'unchanged' | 'recreated' | 'deleted' | 'pending';

/** The result of a reconcile for one object. */
export interface ObjectResult {
  /**
   * `created`: it did not exist. `configured`: it was changed, or drift was repaired. `recreated`: deleted
   * and created again, because an immutable field changed. `deleted`: pruned. `pending`: work remains;
   * `reason` names the cause of the wait, and a watch on the builder's kinds triggers the next reconcile.
   */
  readonly operation: Operation;
  readonly ref: ObjectReference;
  /**
   * The fields that changed, for `configured` and `recreated`. For `pending`, the fields that did not have to
   * wait: if the pod template of a workload waits, its other fields are applied. `manager` names the manager
   * that had taken a field from the operator (drift). Values of a Secret are not shown.
   */
  readonly changes: readonly FieldChange[];
  /** The reason; always present for `pending`. */
  readonly reason?: string;
  /** The rollout of a workload that exists. */
  readonly rollout?: RolloutState;
  /** The run of a Job. */
  readonly run?: JobRun;
  /** The ConfigMaps and Secrets whose changed data rolls the pods of the workload. */
  readonly causes?: readonly ObjectReference[];
  /** Milliseconds until the next reconcile, if no watch reports the awaited change. */
  readonly requeueAfterMs?: number;
}

/** Returns the shortest `requeueAfterMs` of `results`, or undefined. */
export function requeueAfterOf(results: readonly ObjectResult[]): number | undefined {
  const delays = results.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []);
  return delays.length === 0 ? undefined : Math.min(...delays);
}

/** The outcome for one object. */
export type Outcome =
  | {
      readonly state: 'done';
      readonly result: ObjectResult;
      /** The current object; undefined if it does not exist. */
      readonly live?: UnstructuredObject;
      /** True if the next reconcile would find `live` as desired. */
      readonly isSettled: boolean;
    }
  | {
      readonly state: 'pending';
      readonly result: ObjectResult;
      readonly live?: UnstructuredObject;
      /** True if dependents of the object have to wait too. */
      readonly blocks: boolean;
    }
  | { readonly state: 'failed'; readonly ref: ObjectReference; readonly error: OperatorError };

/** Optional details of a finished outcome. */
export interface DoneDetails extends Partial<ObjectResult> {
  readonly live?: UnstructuredObject;
  /**
   * Whether a next reconcile would find nothing to change.
   * @defaultValue true for `unchanged`, else false
   */
  readonly isSettled?: boolean;
}

/** Returns the outcome of an object that is as desired now. */
export function done(
  operation: Exclude<Operation, 'pending'>,
  ref: ObjectReference,
  details: DoneDetails = {},
): Outcome {
  const { live, isSettled = operation === 'unchanged', ...rest } = details;
  const result = { operation, ref: refWithUid(ref, live), changes: [], ...rest };
  return { state: 'done', result, isSettled, ...(live !== undefined && { live }) };
}

/** Optional details of a pending outcome. */
export interface PendingDetails {
  readonly live?: UnstructuredObject | undefined;
  /**
   * Whether dependents of the object have to wait too.
   * @defaultValue true
   */
  readonly blocks?: boolean;
  readonly requeueAfterMs?: number;
  /** The changes that were made nevertheless. @defaultValue none */
  readonly changes?: readonly FieldChange[];
}

/** Returns the outcome of an object that waits. */
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

/** Delay before the next attempt to apply an object whose namespace is being deleted, in milliseconds. */
const namespaceRetryMs = 30_000;

/**
 * Returns the outcome of an object for which `error` was thrown.
 * @throws `error` if it is not a failure of the object: the call was aborted, or the error is a defect.
 */
export function failed(ref: ObjectReference, error: unknown): Outcome {
  if (!isOperatorError(error) || error.code === 'Aborted') throw error;
  // Records no event: usually the owner is being deleted with its namespace. An owner outside of the namespace
  // retries, because no watch shows when the namespace is created again.
  if (isNamespaceTerminating(error)) {
    return pending(ref, 'waits, because its namespace is being deleted', {
      requeueAfterMs: namespaceRetryMs,
    });
  }
  return { state: 'failed', ref, error: isApiError(error) ? explained(ref, error) : error };
}

function explained(ref: ObjectReference, error: ApiError): OperatorError {
  if (!isTerminal(error)) return error;
  const message = `${describeObject(ref)} can't be applied; correct the desired object: ${error.message}`;
  return new OperatorError('Terminal', message, { cause: error });
}

// The server answers 500 without a reason if it can't merge an apply (an unknown field, a duplicate list key)
// or can't read the result (an invalid quantity).
const unusable = /failed to (create typed patch object|convert new object)/;

// The server answers 422 if another Service has the address or the node port.
const taken = /provided (IP|port) is already allocated/;

function isTerminal(error: ApiError): boolean {
  // No watch reports a change of the webhook or policy, or of the Service that has the address.
  if (isDenied(error) || taken.test(error.message)) return false;
  if (isInvalid(error) || error.status === 400) return true;
  return error.status === 500 && unusable.test(error.message);
}

/** Returns `ref` with the UID of `live`. */
export function refWithUid(
  ref: ObjectReference,
  live: UnstructuredObject | undefined,
): ObjectReference {
  const uid = live?.metadata.uid;
  return uid === undefined ? ref : { ...ref, uid };
}

/**
 * Some objects of a chain could not be reconciled; all others were. Dependents of a failed object were left
 * unchanged, and nothing was pruned.
 */
export class ReconcileFailedError extends OperatorError {
  /** One error per failed object, in the order of the chain. */
  readonly errors: readonly OperatorError[];
  /** The results of the other objects. */
  readonly results: readonly ObjectResult[];

  constructor(errors: readonly OperatorError[], results: readonly ObjectResult[]) {
    super('ReconcileFailed', reconcileFailedMessage(errors), { cause: errors[0] });
    this.errors = errors;
    this.results = results;
  }

  /**
   * True if no retry can help before the desired state changes: every error is terminal, and none of
   * {@link results} requests a requeue (`requeueAfterMs`).
   */
  get terminal(): boolean {
    return this.errors.every(isFinal) && requeueAfterOf(this.results) === undefined;
  }
}

/**
 * Returns the results of `outcomes`.
 * @throws ReconcileFailedError if an object failed.
 */
export function resultsOf(outcomes: readonly Outcome[]): readonly ObjectResult[] {
  const results = outcomes.flatMap((each) => (each.state === 'failed' ? [] : [each.result]));
  const errors = outcomes.flatMap((each) => (each.state === 'failed' ? [each.error] : []));
  if (errors.length > 0) throw new ReconcileFailedError(errors, results);
  return results;
}

/** Returns true if `error` is a {@link ReconcileFailedError}, from any copy of this package. */
export function isReconcileFailed(error: unknown): error is ReconcileFailedError {
  return isOperatorError(error, 'ReconcileFailed');
}

const terminalCodes = new Set([
  ...['Terminal', 'InvalidObject', 'ImmutableField', 'InvalidOwner'],
  ...['InvalidValue', 'TooManyDeletions'],
]);

function isFinal(error: unknown): boolean {
  if (!isOperatorError(error)) return false;
  // Whether a retry can help depends on the failure of the dependency.
  return error.code === 'DependencyFailed' ? isFinal(error.cause) : terminalCodes.has(error.code);
}

function reconcileFailedMessage(errors: readonly OperatorError[]): string {
  const messages = errors.map((error) => error.message);
  if (messages.length === 1) return messages[0] ?? '';
  return [`${messages.length} objects could not be reconciled:`, ...messages].join('\n- ');
}
