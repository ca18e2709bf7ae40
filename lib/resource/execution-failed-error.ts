import { OperatorError, isOperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/** A chain cannot run: it has no resources, several sets handle one object, or a value was never set. */
export class ExecutionFailedError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('ExecutionFailed', message, options);
  }
}

/** Whether `error` is a {@link ExecutionFailedError}. */
export function isExecutionFailed(error: unknown): error is ExecutionFailedError {
  return isOperatorError(error, 'ExecutionFailed');
}
