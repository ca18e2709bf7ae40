import { isOperatorError, OperatorError } from '../system/operator-error.js';
import { requeueAfterOf } from './results.js';
import type { ObjectResult } from './results.js';

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
    return this.errors.every(isTerminal) && requeueAfterOf(this.results) === undefined;
  }
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

function isTerminal(error: OperatorError): boolean {
  return terminalCodes.has(error.code);
}

function reconcileFailedMessage(errors: readonly OperatorError[]): string {
  const messages = errors.map((error) => error.message);
  if (messages.length === 1) return messages[0] ?? '';
  return [`${messages.length} objects could not be reconciled:`, ...messages].join('\n- ');
}
