import { OperatorError, isOperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/** A part of a resource chain can't be made so: a name is missing, a set has no resources, two have one name. */
export class InvalidConfigError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('InvalidConfig', message, options);
  }
}

/** Whether `error` is a {@link InvalidConfigError}. */
export function isInvalidConfig(error: unknown): error is InvalidConfigError {
  return isOperatorError(error, 'InvalidConfig');
}
