import { OperatorError } from '../system/operator-error.js';
import type { OperatorErrorOptions } from '../system/operator-error.js';

/** Options of {@link TerminalError}. */
export interface TerminalErrorOptions extends OperatorErrorOptions {
  /**
   * The reason in the conditions and the Event of an `Operator`, in CamelCase, for example `InvalidSpec`.
   * @defaultValue the reason of the cause, else `ReconcileFailed`
   */
  readonly reason?: string | undefined;
}

/**
 * Thrown by a reconciler that can't succeed until something changes. It is counted and logged, but not
 * retried.
 */
export class TerminalError extends OperatorError {
  readonly reason: string | undefined;

  /** @throws OperatorError `InvalidOption`: the reason is invalid for a condition. */
  constructor(message: string, options: TerminalErrorOptions = {}) {
    const { reason, ...others } = options;
    super('Terminal', message, others);
    // The API server's pattern for the reasons of conditions.
    if (reason !== undefined && !/^[A-Za-z]([\w,:]{0,1022}\w)?$/.test(reason)) {
      const problem = `TerminalError: reason ${JSON.stringify(reason)}: want CamelCase, such as InvalidSpec`;
      throw new OperatorError('InvalidOption', problem);
    }
    this.reason = reason;
  }
}
