import { OperatorError, isOperatorError } from '../../system/operator-error.js';

/** A document does not fit what is done with it: found while it runs. */
export class DataError extends OperatorError {
  /** The operator or stage, for example `@add`. */
  readonly operation: string;
  /** What did not fit; a plain value, cut short where it is shown. Never a Secret's data. */
  readonly value: unknown;

  constructor(operation: string, message: string, value: unknown) {
    super('InvalidData', `${operation}: ${message}`);
    this.operation = operation;
    this.value = value;
  }
}

/** Whether `error` is a {@link DataError}. */
export function isDataError(error: unknown): error is DataError {
  return isOperatorError(error, 'InvalidData');
}
