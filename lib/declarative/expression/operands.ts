import { isJsonObject } from '../../object/index.js';
import { OperatorError, isOperatorError, shortened } from '../../system/index.js';
import type { ValueType } from './compiled.js';

/** The requirements for one operand of an operator. */
export interface Operand<T> {
  /** Description for messages, for example `a number`. */
  readonly want: string;
  /** The types of values that may fit. */
  readonly accepts: readonly ValueType[];
  /** @throws DataError `value` does not fit */
  readonly read: (value: unknown, operation: string) => T;
}

const allTypes: readonly ValueType[] = ['null', 'boolean', 'number', 'string', 'list', 'map'];

// A number in JSON syntax or that of Go's parser: with a sign, or without digits on one side.
const numberText = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Any value, including null. */
export const anything: Operand<unknown> = {
  want: 'a value',
  accepts: allTypes,
  read: (value) => value,
};

/** `true` or `false`; no other value counts as a boolean. */
export const condition: Operand<boolean> = {
  want: 'true or false',
  accepts: ['boolean'],
  read: (value, operation) =>
    typeof value === 'boolean' ? value : misfit(operation, condition, value),
};

/** A number, or a numeric text. */
export const number: Operand<number> = {
  want: 'a number',
  accepts: ['number', 'string'],
  read: (value, operation) => {
    const read = typeof value === 'number' ? value : numberOf(value);
    return read ?? misfit(operation, number, value);
  },
};

/** An integer that a double represents exactly, or a string with such an integer. */
export const integer: Operand<number> = {
  want: `a whole number up to ${Number.MAX_SAFE_INTEGER}`,
  accepts: ['number', 'string'],
  read: (value, operation) => {
    const read = typeof value === 'number' ? value : numberOf(value);
    return Number.isSafeInteger(read) ? (read as number) + 0 : misfit(operation, integer, value);
  },
};

export const text: Operand<string> = {
  want: 'a string',
  accepts: ['string'],
  read: (value, operation) => (typeof value === 'string' ? value : misfit(operation, text, value)),
};

/** A value with an obvious text form: a string, a number, a boolean. */
export const printable: Operand<string> = {
  want: 'a string, a number or a boolean',
  accepts: ['string', 'number', 'boolean'],
  read: (value, operation) => {
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : misfit(operation, printable, value);
  },
};

export const ordered: Operand<number | string> = {
  want: 'a number or a string',
  accepts: ['number', 'string'],
  read: (value, operation) =>
    typeof value === 'number' || typeof value === 'string'
      ? value
      : misfit(operation, ordered, value),
};

export const list: Operand<readonly unknown[]> = {
  want: 'a list',
  accepts: ['list'],
  read: (value, operation) =>
    Array.isArray(value) ? (value as unknown[]) : misfit(operation, list, value),
};

export const map: Operand<Readonly<Record<string, unknown>>> = {
  want: 'a map',
  accepts: ['map'],
  read: (value, operation) => (isJsonObject(value) ? value : misfit(operation, map, value)),
};

/** A map, or null. */
export const mapOrNull: Operand<Readonly<Record<string, unknown>> | null> = {
  want: 'a map or null',
  accepts: ['map', 'null'],
  read: (value, operation) => {
    if (value === null || value === undefined) return null;
    return isJsonObject(value) ? value : misfit(operation, mapOrNull, value);
  },
};

/** Returns the number of a numeric text; undefined for any other value. */
function numberOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !numberText.test(value)) return undefined;
  const read = Number(value);
  return Number.isFinite(read) ? read : undefined;
}

function misfit(operation: string, { want }: Operand<unknown>, value: unknown): never {
  throw new DataError(operation, `want ${want}`, value ?? null);
}

/**
 * Compares two values; returns a number below, equal to or above 0. Numbers and numeric strings compare as
 * numbers. Other strings compare by code units, which is the order of RFC 3339 times in UTC. A number and a
 * non-numeric text have no order.
 * @throws DataError they have no order
 */
export function compareValues(
  left: number | string,
  right: number | string,
  operation: string,
): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [leftNumber, rightNumber] = [numeric(left), numeric(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) {
    return exactly(left, right) ?? leftNumber - rightNumber;
  }
  if (typeof left === 'string' && typeof right === 'string') {
    if (leftNumber === undefined && rightNumber === undefined) {
      return left < right ? -1 : left > right ? 1 : 0;
    }
  }
  throw new DataError(operation, 'want two numbers or two strings', [left, right]);
}

function numeric(value: number | string): number | undefined {
  return typeof value === 'number' ? value : numberOf(value);
}

/** Compares integer strings beyond the precision of a double, such as resource versions. */
function exactly(left: number | string, right: number | string): number | undefined {
  const [one, other] = [wholeNumber(left), wholeNumber(right)];
  if (one === undefined || other === undefined) return undefined;
  return one < other ? -1 : one > other ? 1 : 0;
}

function wholeNumber(value: number | string): bigint | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  const digits = value.replace(/^\+/, '');
  // Longer strings are not counters of any kind, and expensive to parse.
  return /^-?\d{1,400}$/.test(digits) ? BigInt(digits) : undefined;
}

/** Longest excerpt of a value in a message, in characters. */
const longestShown = 80;

/** A run-time error: the data of a document does not fit an operator or a stage. */
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
  return shortened(text, longestShown);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

const mark = ' … ';

/**
 * Returns `text` with at most `most` characters (UTF-16 units). A longer text keeps its beginning and its
 * end, which usually name the subject and the problem. Surrogate pairs stay whole.
 * @param most - at least 5
 * @defaultValue 1_000
 */
export function trimMiddle(text: string, most = 1_000): string {
  if (text.length <= most) return text;
  const kept = most - mark.length;
  const head = text.slice(0, Math.ceil(kept / 2)).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - Math.floor(kept / 2)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}${mark}${tail}`;
}
