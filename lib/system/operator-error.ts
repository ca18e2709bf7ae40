import type { ErrorCode } from './error-codes.js';

// `Symbol.for`, so that two copies of this package in one process recognize each other's errors.
const brand = Symbol.for('operator-builder.OperatorError');

/** Options of {@link OperatorError}. */
export interface OperatorErrorOptions {
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * The base class of all errors of this package. Its `code` is a literal to switch on; its message names the
 * object, the verb and the remedy. See `docs/errors.md` for every code.
 */
export class OperatorError extends Error {
  readonly code: ErrorCode;
  readonly [brand] = true;

  constructor(code: ErrorCode, message: string, options: OperatorErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Whether `error` is an {@link OperatorError}, with `code` if given. */
export function isOperatorError(error: unknown, code?: ErrorCode): error is OperatorError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false;
  return code === undefined || (error as OperatorError).code === code;
}
