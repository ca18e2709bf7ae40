import { OperatorError } from '../../system/operator-error.js';

/** A request that no API server would send. */
export class BadRequestError extends OperatorError {
  /** The HTTP status that it is answered with. */
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super('InvalidObject', message, { cause });
    this.status = status;
  }
}
