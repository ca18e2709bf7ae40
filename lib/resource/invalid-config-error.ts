import { OperatorError, isOperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/** A part of a resource chain is invalid: a name is missing or used twice, or a set has no resources. */
export class InvalidConfigError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('InvalidConfig', message, options);
  }
}

/** Whether `error` is a {@link InvalidConfigError}. */
export function isInvalidConfig(error: unknown): error is InvalidConfigError {
  return isOperatorError(error, 'InvalidConfig');
}
