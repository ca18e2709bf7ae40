import { OperatorError } from '../system/operator-error.js';

// `Symbol.for`: a module that is loaded by import and by require is there twice.
const brand = Symbol.for('operator-builder.UsageError');

/** A command line that can't be carried out: options that are missing, or that contradict each other. */
export class UsageError extends OperatorError {
  readonly [brand] = true;

  constructor(message: string) {
    super('InvalidOption', message);
  }
}

/** Whether `error` is a {@link UsageError}. */
export function isUsageError(error: unknown): error is UsageError {
  return typeof error === 'object' && error !== null && brand in error;
}
