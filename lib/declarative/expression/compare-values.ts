import { DataError } from './data-error.js';
import { numberOf } from './operands.js';

/**
 * Compares two values; returns a number below, equal to or above 0. Numbers and numeric texts compare as
 * numbers. Other texts compare by code units, which is the order of RFC 3339 times in UTC. A number and a
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
  throw new DataError(operation, 'wants two numbers or two strings', [left, right]);
}

function numeric(value: number | string): number | undefined {
  return typeof value === 'number' ? value : numberOf(value);
}

/** Compares integer texts beyond the precision of a double, such as resource versions. */
function exactly(left: number | string, right: number | string): number | undefined {
  const [one, other] = [wholeNumber(left), wholeNumber(right)];
  if (one === undefined || other === undefined) return undefined;
  return one < other ? -1 : one > other ? 1 : 0;
}

function wholeNumber(value: number | string): bigint | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  const digits = value.replace(/^\+/, '');
  // Longer texts are not counters of any kind, and expensive to parse.
  return /^-?\d{1,400}$/.test(digits) ? BigInt(digits) : undefined;
}
