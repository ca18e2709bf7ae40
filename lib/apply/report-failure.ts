import type { ObjectReference } from '../object/object-reference.js';
import type { ErrorCode } from '../system/error-codes.js';
import type { OperatorError } from '../system/operator-error.js';
import type { ApplyContext } from './context.js';

// Failures of calls are recorded where the calls are made, and those of dependencies with what they
// depend on. These are found without a call, or say more than the server did.
const reported: ReadonlySet<ErrorCode> = new Set([
  ...(['NotOurs', 'AlreadyOwned', 'InvalidOwner', 'InvalidObject'] as const),
  ...(['ImmutableField', 'UnknownKind', 'TooManyDeletions'] as const),
  ...(['DuplicateObject', 'UnknownReference', 'InvalidOption'] as const),
]);

/** Records a failure that no call has recorded. */
export function reportFailure(
  { report }: ApplyContext,
  related: ObjectReference,
  error: OperatorError,
): void {
  const { code: reason, message: note } = error;
  if (reported.has(reason)) {
    report({ type: 'Warning', reason, action: 'Reconcile', note, related, error });
  }
}
