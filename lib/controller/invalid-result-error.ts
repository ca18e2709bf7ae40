import { OperatorError } from '../system/operator-error.js';

/**
 * `InvalidOption`: a reconciler's result is none, or asks for a wait that is none. Unlike other
 * invalid options it is worth a retry: a wait until a moment that has just passed is right next time.
 */
export class InvalidResultError extends OperatorError {
  constructor(message: string) {
    super('InvalidOption', message);
  }
}
