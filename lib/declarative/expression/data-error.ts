import { OperatorError, isOperatorError } from '../../system/operator-error.js';

/** The most characters of a value that a message shows. */
const longestShown = 80;

/** A document does not fit what is done with it: found while it runs. */
export class DataError extends OperatorError {
  /** The operator or stage, for example `@add`. */
  readonly operation: string;
  /** What did not fit; a plain value, cut short where it is shown. Never a Secret's data. */
  readonly value: unknown;
  readonly #problem: string;

  /**
   * @param problem - what is wrong, without the value: the message adds it, cut to 80 characters
   * @param value - what did not fit; undefined: nothing is shown
   */
  constructor(operation: string, problem: string, value: unknown) {
    const got = value === undefined ? '' : `, got ${shown(value)}`;
    super('InvalidData', `${operation}: ${problem}${got}`);
    this.operation = operation;
    this.value = value;
    this.#problem = problem;
  }

  /** The same error with the kind of the value in its place: for data that nobody may read. */
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
  // `stringify` has no text for functions and symbols, whatever its type says.
  const text = (JSON.stringify(value) as string | undefined) ?? typeof value;
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
