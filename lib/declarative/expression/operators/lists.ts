import { deepEqual } from '../../../object/deep-equal.js';
import { memberOf } from '../../../object/json.js';
import {
  type Compiled,
  failed,
  type OperatorDefinition,
  type Site,
  type ValueType,
} from '../compiled.js';
import { DataError } from '../data-error.js';
import type { Expression } from '../expression.js';
import { anything, condition, list, map, type Operand, ordered, text } from '../operands.js';
import { compareValues } from '../compare-values.js';
import { checkOperands, compileOperands, evaluationsOf, fold, partsOf } from './arguments.js';
import { rangeOperator } from './arithmetic.js';
import { binary, onList, unary } from './define.js';

const listOrText: Operand<readonly unknown[] | string> = {
  want: 'a list or a string',
  accepts: ['list', 'string'],
  read: (value, operation) => {
    if (Array.isArray(value) || typeof value === 'string') return value;
    throw new DataError(operation, 'wants a list or a string', value ?? null);
  },
};

/** The operators on lists and maps. */
export const listOperators: readonly OperatorDefinition[] = [
  onEach('@map', { expression: anything, type: 'list' }, (items, evaluate) => items.map(evaluate)),
  onEach('@filter', { expression: condition, type: 'list' }, (items, holds) => items.filter(holds)),
  onEach('@any', { expression: condition, type: 'boolean' }, (items, holds) => items.some(holds)),
  onEach('@all', { expression: condition, type: 'boolean' }, (items, holds) => items.every(holds)),
  onEach('@none', { expression: condition, type: 'boolean' }, (items, holds) => !items.some(holds)),
  binary('@in', { operands: [anything, list], type: 'boolean' }, (wanted, items) =>
    includes(items, wanted),
  ),
  binary('@contains', { operands: [listOrText, anything], type: 'boolean' }, contains),
  onList('@len', { item: anything, type: 'number' }, (items) => items.length),
  onList('@first', { item: anything }, (items) => items[0] ?? null),
  onList('@last', { item: anything }, (items) => items.at(-1) ?? null),
  onList('@min', { item: ordered }, (items, operation) => extreme(items, -1, operation)),
  onList('@max', { item: ordered }, (items, operation) => extreme(items, 1, operation)),
  unary('@keys', { operand: map, type: 'list' }, (value) => Object.keys(value).sort()),
  unary('@values', { operand: map, type: 'list' }, (value) =>
    Object.keys(value)
      .sort()
      .map((key) => memberOf(value, key)),
  ),
  rangeOperator,
];

/** Defines an operator `[expression, list]`, whose expression is evaluated with each item as `$$`. */
function onEach<T>(
  name: string,
  settings: { readonly expression: Operand<T>; readonly type: ValueType },
  apply: (items: readonly unknown[], evaluate: (item: unknown) => T) => unknown,
): OperatorDefinition {
  const { expression, type } = settings;
  const compile = (argument: unknown, site: Site): Compiled => {
    const arity = { least: 2, most: 2, firstHasElement: true };
    const placed = compileOperands(argument, arity, site);
    if (placed === undefined) return failed;
    const operandAt = (index: number): Operand<unknown> => (index === 0 ? expression : list);
    if (!checkOperands(placed, operandAt, site)) return failed;
    const [each, items] = evaluationsOf(placed);
    const run: Expression = (document, element) =>
      apply(list.read(items?.(document, element), site.name), (item) =>
        expression.read(each?.(document, item) ?? null, site.name),
      );
    return fold(run, partsOf(placed), { site, type });
  };
  return { name, compile };
}

function includes(items: readonly unknown[], wanted: unknown): boolean {
  return items.some((item) => deepEqual(item ?? null, wanted ?? null));
}

function contains(
  within: readonly unknown[] | string,
  wanted: unknown,
  operation: string,
): boolean {
  return typeof within === 'string'
    ? within.includes(text.read(wanted, operation))
    : includes(within, wanted);
}

/** Returns the least (`sign` -1) or greatest (1) item; null for an empty list. */
function extreme(items: readonly unknown[], sign: 1 | -1, operation: string): unknown {
  const [first, ...others] = items.map((item) => ordered.read(item, operation));
  if (first === undefined) return null;
  return others.reduce(
    (best, item) => (compareValues(item, best, operation) * sign > 0 ? item : best),
    first,
  );
}
