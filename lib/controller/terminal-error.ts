import { OperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/**
 * Thrown by a reconcile that can't succeed until something changes: it is counted and logged, but
 * not retried.
 */
export class TerminalError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('Terminal', message, options);
  }
}
