import { OperatorError } from '../system/operator-error.js';

/** A command line that can't be carried out: options that are missing, or that contradict each other. */
export class UsageError extends OperatorError {
  constructor(message: string) {
    super('InvalidOption', message);
  }
}
