import { OperatorError } from '../../system/operator-error.js';

/** A malformed request that no API server would send. */
export class BadRequestError extends OperatorError {
  /** HTTP status of the response. */
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super('InvalidObject', message, { cause });
    this.status = status;
  }
}
