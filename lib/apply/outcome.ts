import { isApiError, isInvalid, isNamespaceTerminating } from '../object/api-error.js';
import type { ApiError } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { isOperatorError, OperatorError } from '../system/operator-error.js';
import type { ObjectResult, Operation } from './results.js';

/** What became of one object of a chain. */
export type Outcome =
  | {
      readonly state: 'done';
      readonly result: ObjectResult;
      /** The object as it is now; absent where it is not there. */
      readonly live?: UnstructuredObject;
    }
  | {
      readonly state: 'pending';
      readonly result: ObjectResult;
      readonly live?: UnstructuredObject;
      /** Whether what depends on the object has to wait too. */
      readonly blocks: boolean;
    }
  | { readonly state: 'failed'; readonly ref: ObjectReference; readonly error: OperatorError };

/** The outcome of an object that is as desired, or was brought there. */
export function done(
  operation: Exclude<Operation, 'pending'>,
  ref: ObjectReference,
  details: Partial<ObjectResult> & { readonly live?: UnstructuredObject } = {},
): Outcome {
  const { live, ...rest } = details;
  const result = { operation, ref: refWithUid(ref, live), changes: [], ...rest };
  return { state: 'done', result, ...(live !== undefined && { live }) };
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

function refWithUid(ref: ObjectReference, live: UnstructuredObject | undefined): ObjectReference {
  const uid = live?.metadata.uid;
  return uid === undefined ? ref : { ...ref, uid };
}
