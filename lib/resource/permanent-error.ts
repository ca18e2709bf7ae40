import { OperatorError, isOperatorError } from '../system/operator-error.js';
import { messageOf } from './message-of.js';

/**
 * Thrown by a step to say that trying it again is of no use. It ends `withRetry`, and its `cause`
 * comes out in its stead. The object is reconciled again all the same: where that is of no use
 * either, throw a `TerminalError`.
 */
export class PermanentError extends OperatorError {
  constructor(cause: unknown) {
    super('Permanent', messageOf(cause), { cause });
  }
}

/** Whether `error` is a {@link PermanentError}. */
export function isPermanent(error: unknown): error is PermanentError {
  return isOperatorError(error, 'Permanent');
}
