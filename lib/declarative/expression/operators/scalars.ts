import { GoPattern, goPattern } from '../../../crd/internal.js';
import { deepEqual } from '../../../object/index.js';
import { failed } from '../compiled.js';
import type { Compiled, Expression, OperatorDefinition, Site } from '../compiled.js';
import {
  DataError,
  anything,
  compareValues,
  condition,
  integer,
  list,
  map,
  number,
  ordered,
  printable,
  text,
} from '../operands.js';
import type { Operand } from '../operands.js';
import {
  binary,
  checkOperands,
  compileOperands,
  evaluationsOf,
  fold,
  nary,
  onList,
  partsOf,
  unary,
} from './define.js';

/** `@and`, `@or`, `@not`, and conditional values. All but `@not` and `@isnil` are lazy. */
export const logicOperators: readonly OperatorDefinition[] = [
  { name: '@and', compile: (argument, site) => compileJunction(argument, site, false) },
  { name: '@or', compile: (argument, site) => compileJunction(argument, site, true) },
  unary('@not', { operand: condition, type: 'boolean' }, (value) => !value),
  unary('@isnil', { operand: anything, type: 'boolean' }, isNil),
  unary('@exists', { operand: anything, type: 'boolean' }, (value) => !isNil(value)),
  unary('@has', { operand: anything, type: 'boolean' }, (value) => !isNil(value)),
  { name: '@cond', compile: compileCond },
  { name: '@switch', compile: compileSwitch },
  { name: '@definedOr', compile: compileDefinedOr },
  unary('@noop', { operand: anything }, (value) => value),
];

function isNil(value: unknown): boolean {
  return value === null || value === undefined;
}

/** @param decisive - the value that ends the evaluation: false for `@and`, true for `@or` */
function compileJunction(argument: unknown, site: Site, decisive: boolean): Compiled {
  const placed = compileOperands(argument, { least: 1, most: Infinity }, site);
  if (placed === undefined || !checkOperands(placed, () => condition, site)) return failed;
  const evaluations = evaluationsOf(placed);
  const run: Expression = (document, element) => {
    for (const evaluate of evaluations) {
      const value = condition.read(evaluate(document, element), site.name);
      if (value === decisive) return decisive;
    }
    return !decisive;
  };
  return fold(run, partsOf(placed), { site, type: 'boolean' });
}

function compileCond(argument: unknown, site: Site): Compiled {
  const placed = compileOperands(argument, { least: 2, most: 3 }, site);
  if (placed === undefined) return failed;
  const operandAt = (index: number): Operand<unknown> => (index === 0 ? condition : anything);
  if (!checkOperands(placed, operandAt, site)) return failed;
  const [test, then, otherwise] = evaluationsOf(placed);
  const run: Expression = (document, element) => {
    const chosen = condition.read(test?.(document, element), site.name) ? then : otherwise;
    return chosen?.(document, element) ?? null;
  };
  return fold(run, partsOf(placed), { site });
}

function compileSwitch(argument: unknown, site: Site): Compiled {
  const { name, context, compiler } = site;
  if (!Array.isArray(argument) || argument.length === 0) {
    context.report({ message: `${name}: want a list of [case, value]` });
    return failed;
  }
  const cases = argument.map((pair: unknown, index) => {
    if (Array.isArray(pair) && pair.length === 2) {
      const within = { name, compiler, context: context.at(index) };
      return compileOperands(pair, { least: 2, most: 2 }, within);
    }
    context.report({ message: `${name}: want a list of [case, value]` }, index);
    return undefined;
  });
  if (!cases.every((pair) => pair !== undefined)) return failed;
  const checked = cases.map((pair, index) =>
    checkOperands(pair, (at) => (at === 0 ? condition : anything), {
      ...site,
      context: context.at(index),
    }),
  );
  if (!checked.every(Boolean)) return failed;
  const pairs = cases.map(evaluationsOf);
  const run: Expression = (document, element) => {
    for (const [test, value] of pairs) {
      if (condition.read(test?.(document, element), name))
        return value?.(document, element) ?? null;
    }
    return null;
  };
  return fold(run, cases.flatMap(partsOf), { site });
}

function compileDefinedOr(argument: unknown, site: Site): Compiled {
  const placed = compileOperands(argument, { least: 2, most: Infinity }, site);
  if (placed === undefined || !checkOperands(placed, () => anything, site)) return failed;
  const evaluations = evaluationsOf(placed);
  const run: Expression = (document, element) => {
    for (const evaluate of evaluations) {
      const value = evaluate(document, element);
      if (!isNil(value)) return value;
    }
    return null;
  };
  return fold(run, partsOf(placed), { site });
}

/** The comparison operators: deep equality of any values, and order of numbers or strings. */
export const comparisonOperators: readonly OperatorDefinition[] = [
  equality('@eq', true),
  equality('@ne', false),
  order('@lt', (difference) => difference < 0),
  order('@lte', (difference) => difference <= 0),
  order('@gt', (difference) => difference > 0),
  order('@gte', (difference) => difference >= 0),
];

/** Null equals nothing, not even null: two objects that both lack a label have no label in common. */
function equality(name: string, equal: boolean): OperatorDefinition {
  const { compile } = binary(
    name,
    { operands: [anything, anything], type: 'boolean' },
    (left, right) => (!isNil(left) && !isNil(right) && deepEqual(left, right)) === equal,
  );
  return {
    name,
    compile: (argument, site) => {
      if (!Array.isArray(argument) || !argument.includes(null)) return compile(argument, site);
      const message = `${name}: comparison with null has a constant result; use @isnil`;
      site.context.report({ message, suggestion: '@isnil' }, argument.indexOf(null));
      return failed;
    },
  };
}

function order(name: string, holds: (difference: number) => boolean): OperatorDefinition {
  return binary(name, { operands: [ordered, ordered], type: 'boolean' }, (left, right, operation) =>
    holds(compareValues(left, right, operation)),
  );
}

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
  throw new DataError(operation, `want a whole number from 0 to ${longestRange}`, last);
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
    throw new DataError(operation, 'the result is not a finite number', operands);
  }
  return result + 0;
}

const truth: Operand<boolean> = {
  want: 'true, false, or one of them as a string',
  accepts: ['boolean', 'string'],
  read: (value, operation) => {
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw new DataError(operation, `want ${truth.want}`, value ?? null);
  },
};

/** The operators that convert a value to a type, or require a type. */
export const conversionOperators: readonly OperatorDefinition[] = [
  unary('@bool', { operand: truth, type: 'boolean' }, (value) => value),
  unary('@int', { operand: integer, type: 'number' }, (value) => value),
  unary('@float', { operand: number, type: 'number' }, (value) => value + 0),
  unary('@string', { operand: printable, type: 'string' }, (value) => value),
  whole('@list', list),
  whole('@dict', map),
];

/** Defines an operator whose argument is one value, even if it is a literal list or map. */
function whole<T>(name: string, operand: Operand<T>): OperatorDefinition {
  const compile = (argument: unknown, site: Site): Compiled => {
    const compiled = site.compiler.compile(argument, site.context);
    if (!checkOperands([{ compiled, below: [] }], () => operand, site)) return failed;
    const { evaluate } = compiled;
    return fold(
      (document, element) => operand.read(evaluate(document, element), site.name),
      [compiled],
      { site, type: operand.accepts[0] },
    );
  };
  return { name, compile };
}

export const textOperators: readonly OperatorDefinition[] = [
  onList('@concat', { item: printable, type: 'string' }, (items, operation) =>
    items.map((item) => printable.read(item, operation)).join(''),
  ),
  binary('@split', { operands: [text, text], type: 'list' }, (value, separator) =>
    // Without a separator, split into characters, and keep surrogate pairs whole.
    separator === '' ? Array.from(value) : value.split(separator),
  ),
  nary('@replace', { operands: [text, text, text], type: 'string' }, ([value, wanted, by]) =>
    // A function, because `$&` and the like are special in a replacement text.
    (value ?? '').replaceAll(wanted ?? '', () => by ?? ''),
  ),
  { name: '@regex', compile: compileRegex },
  unary('@lower', { operand: text, type: 'string' }, (value) => value.toLowerCase()),
  unary('@upper', { operand: text, type: 'string' }, (value) => value.toUpperCase()),
];

/** Compiles `[pattern, text]`; a literal pattern is compiled once, at load. */
function compileRegex(argument: unknown, site: Site): Compiled {
  // Keep the last pattern: documents usually have the same one.
  let last: { readonly source: string; readonly pattern: GoPattern } | undefined;
  const patternFor = (source: string, operation: string): GoPattern => {
    if (last?.source !== source) last = { source, pattern: patternOf(source, operation) };
    return last.pattern;
  };
  const pattern: Operand<GoPattern> = {
    ...text,
    read: (value, operation) => patternFor(text.read(value, operation), operation),
  };
  const definition = binary(
    site.name,
    { operands: [pattern, text], type: 'boolean' },
    (wanted, value) => wanted.test(value),
  );
  return definition.compile(argument, site);
}

/** Reads a pattern with Go's syntax: matching takes linear time for every pattern. */
function patternOf(source: string, operation: string): GoPattern {
  const pattern = goPattern(source);
  if (pattern instanceof GoPattern) return pattern;
  const refused = new DataError(operation, 'want a regular expression', source);
  refused.cause = pattern;
  throw refused;
}
