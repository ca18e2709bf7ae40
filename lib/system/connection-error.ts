import { OperatorError } from './operator-error.js';
import type { OperatorErrorOptions } from './operator-error.js';

/** Options of {@link ConnectionError}. */
export interface ConnectionErrorOptions extends OperatorErrorOptions {
  /** Whether any byte of the request may have reached the server. */
  readonly requestSent: boolean;
}

/** `ConnectionFailed`: no answer came, or it broke off. */
export class ConnectionError extends OperatorError {
  /**
   * False: the connection was never made, so that nothing can have happened at the server. True: a
   * write may have been done, and whether it may be sent again depends on what it says.
   */
  readonly requestSent: boolean;

  constructor(message: string, options: ConnectionErrorOptions) {
    super('ConnectionFailed', message, options);
    this.requestSent = options.requestSent;
  }
}
