import { OperatorError } from '../system/operator-error.js';

/** An invalid command line: missing or contradictory options. */
export class UsageError extends OperatorError {
  constructor(message: string) {
    super('InvalidOption', message);
  }
}
