import { OperatorError } from './operator-error.js';
import type { OperatorErrorOptions } from './operator-error.js';

/** Options of {@link ConnectionError}. */
export interface ConnectionErrorOptions extends OperatorErrorOptions {
  /** Whether any byte of the request may have reached the server. */
  readonly requestSent: boolean;
}

/** `ConnectionFailed`: no response arrived, or it broke off. */
export class ConnectionError extends OperatorError {
  /**
   * False: no connection was made, so the server did nothing. True: the server may have carried out a write,
   * so only a repeatable request may be sent again.
   */
  readonly requestSent: boolean;

  constructor(message: string, options: ConnectionErrorOptions) {
    super('ConnectionFailed', message, options);
    this.requestSent = options.requestSent;
  }
}
