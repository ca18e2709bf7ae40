import { OperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/** Options of {@link TerminalError}. */
export interface TerminalErrorOptions extends OperatorErrorOptions {
  /**
   * The reason that the conditions and the Event of an `Operator` show, in CamelCase, for example
   * `InvalidSpec`. @defaultValue that of the cause, else `ReconcileFailed`
   */
  readonly reason?: string | undefined;
}

/**
 * Thrown by a reconcile that can't succeed until something changes: it is counted and logged, but
 * not retried.
 */
export class TerminalError extends OperatorError {
  readonly reason: string | undefined;

  /** @throws OperatorError `InvalidOption`: no condition can have this reason. */
  constructor(message: string, options: TerminalErrorOptions = {}) {
    const { reason, ...others } = options;
    super('Terminal', message, others);
    // The server's rule for reasons of conditions.
    if (reason !== undefined && !/^[A-Za-z]([\w,:]{0,1022}\w)?$/.test(reason)) {
      const problem = `TerminalError: reason ${JSON.stringify(reason)}: want CamelCase, such as InvalidSpec`;
      throw new OperatorError('InvalidOption', problem);
    }
    this.reason = reason;
  }
}
