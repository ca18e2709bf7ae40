import { OperatorError } from '../system/operator-error.js';

/**
 * `InvalidOption`: a reconciler's return value is not a result, or its delay is invalid. Unlike other invalid
 * options it is retried: a delay computed up to a moment just past will be valid next time.
 */
export class InvalidResultError extends OperatorError {
  constructor(message: string) {
    super('InvalidOption', message);
  }
}
