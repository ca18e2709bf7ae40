import type { OperatorDefinition } from '../compiled.js';
import { DataError } from '../data-error.js';
import { integer, number } from '../operands.js';
import { binary, onList, unary } from './define.js';

/** Arithmetic with doubles. A result that is not finite is an error; -0 is 0. */
export const arithmeticOperators: readonly OperatorDefinition[] = [
  onNumbers('@add', (numbers) => numbers.reduce((sum, value) => sum + value, 0)),
  onNumbers('@sum', (numbers) => numbers.reduce((sum, value) => sum + value, 0)),
  onNumbers('@mul', (numbers) => numbers.reduce((product, value) => product * value, 1)),
  onTwo('@sub', (left, right) => left - right),
  onTwo('@div', (left, right, operation) => left / divisor(right, operation)),
  onTwo('@mod', (left, right, operation) => left % divisor(right, operation)),
  onOne('@abs', Math.abs),
  onOne('@ceil', Math.ceil),
  onOne('@floor', Math.floor),
];

// Prevents a number in a document from exhausting the memory.
const longestRange = 65_536;

/** The numbers from 1 to a number, inclusive. */
const rangeTo = unary('@range', { operand: integer, type: 'list' }, (last, operation) => {
  if (last >= 0 && last <= longestRange) return numbersFrom(1, last);
  throw new DataError(operation, `wants a whole number from 0 to ${longestRange}`, last);
});

/** The numbers from a start to an end, exclusive; an empty list if the end is not higher. */
const rangeBetween = binary(
  '@range',
  { operands: [integer, integer], type: 'list' },
  (first, end, operation) => {
    if (end - first <= longestRange) return numbersFrom(first, Math.max(0, end - first));
    throw new DataError(operation, `gives ${longestRange} numbers at most`, [first, end]);
  },
);

/** `@range: last`, or `@range: [first, end]`. */
export const rangeOperator: OperatorDefinition = {
  name: '@range',
  compile: (argument, site) => {
    const { compile } = Array.isArray(argument) && argument.length > 1 ? rangeBetween : rangeTo;
    return compile(argument, site);
  },
};

function numbersFrom(first: number, length: number): number[] {
  return Array.from({ length }, (_, index) => first + index);
}

function onNumbers(name: string, calculate: (numbers: number[]) => number): OperatorDefinition {
  return onList(name, { item: number, type: 'number' }, (items, operation) =>
    finite(calculate(items.map((item) => number.read(item, operation))), operation, items),
  );
}

function onTwo(
  name: string,
  calculate: (left: number, right: number, operation: string) => number,
): OperatorDefinition {
  return binary(name, { operands: [number, number], type: 'number' }, (left, right, operation) =>
    finite(calculate(left, right, operation), operation, [left, right]),
  );
}

function onOne(name: string, calculate: (value: number) => number): OperatorDefinition {
  return unary(name, { operand: number, type: 'number' }, (value) => calculate(value) + 0);
}

function divisor(value: number, operation: string): number {
  if (value === 0) throw new DataError(operation, 'division by zero', undefined);
  return value;
}

function finite(result: number, operation: string, operands: readonly unknown[]): number {
  if (!Number.isFinite(result)) {
    throw new DataError(operation, 'the result is beyond all numbers', operands);
  }
  return result + 0;
}
