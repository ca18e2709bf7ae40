import { OperatorError, isOperatorError } from '../system/operator-error.js';
import { messageOf } from './message-of.js';

/**
 * Thrown by a step to report that retries are useless. Ends `withRetry`, which throws its `cause` instead.
 * The object is still requeued: throw a `TerminalError` to prevent that too.
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
