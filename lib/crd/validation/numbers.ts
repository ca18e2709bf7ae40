import type { Schema } from '../../object/index.js';
import { goDouble } from '../cel/go.js';
import type { SchemaCheck } from './validate-schema.js';

const int64End = 2 ** 63;

/** Returns whether the server reads a number as int64; it reads all others as float64, whole or not. */
export function isInt64(value: number): boolean {
  return Number.isInteger(value) && value > -int64End && value < int64End;
}

/** Returns whether a number, such as a limit, fits the Go type of a schema. */
export function fitsRange(value: number, { type, format }: Schema): boolean {
  if (type === 'number') return format !== 'float' || Number.isFinite(Math.fround(value));
  if (type !== 'integer') return true;
  return format === 'int32' ? value === (value | 0) : isInt64(value);
}

/** Checks the range of Go's number types. */
export function validateRange(value: number, { schema, path, errors }: SchemaCheck): void {
  if (!fitsRange(value, schema)) outOfRange('Checked', { schema, path, errors });
}

function outOfRange(what: string, { schema, path, errors }: SchemaCheck): void {
  const { type = '', format = '' } = schema;
  const isSized = ['int32', 'int64', 'float'].includes(format);
  const sized = isSized ? `with format ${format}` : '(default format)';
  errors.invalid('<nil>', '', `${what} value must be of type ${type} ${sized} in ${path}`);
}

/**
 * Checks limits and `multipleOf`. The server uses integer arithmetic for integers, so it truncates limits. A limit that
 * does not fit the type makes it refuse every value.
 */
export function validateNumber(value: number, check: SchemaCheck): void {
  const { schema, path, errors } = check;
  const { exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const limit = (one: number, what: string): number => {
    if (fitsRange(one, schema)) return isInt64(value) ? toInt64(one) : one;
    outOfRange(what, check);
    return one;
  };
  const said = (what: string, one: number): void =>
    errors.invalid(path, value, `${path} in body should be ${what} ${goNumber(one)}`);
  if (schema.maximum !== undefined) {
    const maximum = limit(schema.maximum, 'Maximum boundary');
    if (exclusiveMaximum === true && value >= maximum) said('less than', maximum);
    else if (value > maximum) said('less than or equal to', maximum);
  }
  if (schema.minimum !== undefined) {
    const minimum = limit(schema.minimum, 'Minimum boundary');
    if (exclusiveMinimum === true && value <= minimum) said('greater than', minimum);
    else if (value < minimum) said('greater than or equal to', minimum);
  }
  if (multipleOf === undefined) return;
  const factor = limit(multipleOf, 'MultipleOf');
  if (factor <= 0) {
    const why = `factor MultipleOf declared for ${path} must be positive: ${goNumber(factor)}`;
    errors.invalid(path, factor, why);
  } else if (!isMultiple(value, factor)) said('a multiple of', factor);
}

function toInt64(value: number): number {
  const whole = Math.trunc(value);
  return isInt64(whole) ? whole : -int64End;
}

function isMultiple(value: number, factor: number): boolean {
  if (isInt64(value) && Number.isInteger(factor)) return value % factor === 0;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  if (Math.abs(times) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(times);
  if (whole === times) return true;
  // For positive numbers only, a value just above a whole number counts as whole.
  if (times < 0 || whole === 0) return false;
  return (times - whole) / (times + whole) < 1e-9;
}

/** Formats a number like the server's messages: integers plain, others as Go's `%v`. */
export function goNumber(value: number): string {
  if (isInt64(value)) return BigInt(value).toString();
  return goDouble(value);
}
