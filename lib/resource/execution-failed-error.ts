import { OperatorError, isOperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/** A chain can't be carried out: it has no resources, several sets handle one object, a value was never set. */
export class ExecutionFailedError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('ExecutionFailed', message, options);
  }
}

/** Whether `error` is a {@link ExecutionFailedError}. */
export function isExecutionFailed(error: unknown): error is ExecutionFailedError {
  return isOperatorError(error, 'ExecutionFailed');
}
