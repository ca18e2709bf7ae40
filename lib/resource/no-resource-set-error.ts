import { OperatorError, isOperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/** No set of a router handles the object. This is not a fault: another framework may handle it. */
export class NoResourceSetError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('NoResourceSet', message, options);
  }
}

/** Whether `error` is a {@link NoResourceSetError}. */
export function isNoResourceSet(error: unknown): error is NoResourceSetError {
  return isOperatorError(error, 'NoResourceSet');
}
