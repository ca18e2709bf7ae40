import { OperatorError, isOperatorError } from '../../system/operator-error.js';

/** Longest excerpt of a value in a message, in characters. */
const longestShown = 80;

/** A run-time error: a document does not fit the operation on it. */
export class DataError extends OperatorError {
  /** The operator or stage, for example `@add`. */
  readonly operation: string;
  /** The value that did not fit, shown truncated. Never data of a Secret. */
  readonly value: unknown;
  readonly #problem: string;

  /**
   * @param problem - the problem, without the value: the message adds it, cut to 80 characters
   * @param value - the value that did not fit; undefined: the message shows no value
   */
  constructor(operation: string, problem: string, value: unknown) {
    const got = value === undefined ? '' : `, got ${shown(value)}`;
    super('InvalidData', `${operation}: ${problem}${got}`);
    this.operation = operation;
    this.value = value;
    this.#problem = problem;
  }

  /** Returns the same error with the type of the value instead of the value, for secret data. */
  withoutValue(): DataError {
    if (this.value === undefined) return this;
    return new DataError(this.operation, `${this.#problem}, got ${kindOf(this.value)}`, undefined);
  }
}

/** Whether `error` is a {@link DataError}. */
export function isDataError(error: unknown): error is DataError {
  return isOperatorError(error, 'InvalidData');
}

function shown(value: unknown): string {
  // Despite its type, `stringify` returns undefined for functions and symbols.
  const text = (JSON.stringify(value) as string | undefined) ?? typeof value;
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
