import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../hash/index.js';
import {
  deepEqual,
  isJsonObject,
  memberOf,
  labelRequirementsOf,
  matchesLabels,
  formatTime,
  htmlSafeJson,
} from '../../../object/index.js';
import type { LabelRequirement, LabelSelector } from '../../../object/index.js';
import { isOperatorError } from '../../../system/index.js';
import { compileLiteral, dynamic, failed } from '../compiled.js';
import type { Compiled, Expression, OperatorDefinition, Site, ValueType } from '../compiled.js';
import { readPath } from '../json-path/find.js';
import { compilePlaceSetter, unsettable } from '../json-path/set-at-path.js';
import {
  DataError,
  anything,
  compareValues,
  condition,
  integer,
  list,
  map,
  mapOrNull,
  ordered,
  text,
} from '../operands.js';
import type { Operand } from '../operands.js';
import {
  binary,
  checkOperands,
  compileOperands,
  evaluationsOf,
  fold,
  onList,
  partsOf,
  unary,
} from './define.js';
import {
  arithmeticOperators,
  comparisonOperators,
  conversionOperators,
  logicOperators,
  rangeOperator,
  textOperators,
} from './scalars.js';

/** Operators for names that other languages use. A suggestion by similar spelling would name another operator. */
export const namesElsewhere: ReadonlyMap<string, string> = new Map([
  ['@neq', '@ne'],
  ['@if', '@cond'],
  ['@length', '@len'],
  ['@default', '@definedOr'],
  ['@coalesce', '@definedOr'],
  ['@nil', '@isnil'],
]);

const listOrText: Operand<readonly unknown[] | string> = {
  want: 'a list or a string',
  accepts: ['list', 'string'],
  read: (value, operation) => {
    if (Array.isArray(value) || typeof value === 'string') return value;
    throw new DataError(operation, 'want a list or a string', value ?? null);
  },
};

const listOperators: readonly OperatorDefinition[] = [
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

type Map = Readonly<Record<string, unknown>>;

/** `@hash`, `@selector`, `@rnd`, `@now` and `@literal`. */
const otherOperators: readonly OperatorDefinition[] = [
  { name: '@hash', compile: compileHash },
  { name: '@selector', compile: compileSelector },
  { name: '@rnd', compile: compileRandom },
  { name: '@now', compile: compileNow },
  { name: '@literal', compile: (argument, { context }) => compileLiteral(argument, context) },
];

/** `"@now"`, or `{"@now": null}`: the time of the evaluation, whole seconds, in UTC. */
export function compileNow(argument: unknown, site: Site): Compiled {
  if (argument !== null && argument !== undefined) {
    site.context.report({ message: `${site.name}: want no operand` });
    return failed;
  }
  const { clock } = site.compiler;
  return dynamic(() => formatTime(clock.now()), 'string');
}

function compileHash(argument: unknown, site: Site): Compiled {
  const compiled = site.compiler.compile(argument, site.context);
  const { evaluate } = compiled;
  const alone = Array.isArray(argument) && argument.length === 1;
  const run: Expression = (document, element) => {
    const value = evaluate(document, element);
    // As for other operators, the argument `["$.list"]` means the list at `$.list`.
    const [only] = alone && Array.isArray(value) ? (value as unknown[]) : [];
    return shortHash(Array.isArray(only) ? only : value);
  };
  return fold(run, [compiled], { site, type: 'string' });
}

function compileRandom(argument: unknown, site: Site): Compiled {
  const { random } = site.compiler;
  // The bounds may be constant; the random result is not.
  const bounds = binary(
    site.name,
    { operands: [integer, integer], type: 'list' },
    (least, beyond, operation) => {
      if (least < beyond) return [least, beyond];
      throw new DataError(operation, 'want [first, end] with end above first', [least, beyond]);
    },
  ).compile(argument, site);
  if (bounds.failed) return failed;
  return dynamic((document, element) => {
    const [least, beyond] = bounds.evaluate(document, element) as [number, number];
    return least + Math.floor(random.next() * (beyond - least));
  }, 'number');
}

function compileSelector(argument: unknown, site: Site): Compiled {
  // Selectors come from documents, which are shared and never change: each is read once.
  const read = new WeakMap<Map, readonly LabelRequirement[]>();
  const requirementsOf = (selector: Map, operation: string): readonly LabelRequirement[] => {
    const known = read.get(selector);
    if (known !== undefined) return known;
    const requirements = readSelector(selector, operation);
    read.set(selector, requirements);
    return requirements;
  };
  const selectorOperand = {
    ...mapOrNull,
    read: (value: unknown, operation: string): Map | null => {
      const selector = mapOrNull.read(value, operation);
      if (selector !== null) requirementsOf(selector, operation);
      return selector;
    },
  };
  return binary(
    site.name,
    { operands: [selectorOperand, mapOrNull], type: 'boolean' },
    (selector, labels, operation) =>
      selector !== null &&
      labels !== null &&
      matchesLabels(requirementsOf(selector, operation), texts(labels)),
  ).compile(argument, site);
}

function readSelector(selector: Map, operation: string): readonly LabelRequirement[] {
  try {
    return labelRequirementsOf(selectorOf(selector));
  } catch (error) {
    if (!isOperatorError(error, 'InvalidSelector')) throw error;
    const refused = new DataError(operation, 'want a label selector', selector);
    refused.cause = error;
    throw refused;
  }
}

/**
 * The long form has `matchLabels` or `matchExpressions`; any other map is the labels themselves. Null counts as
 * absent, as on the API server: `@project` yields null for a missing field.
 */
function selectorOf(selector: Map): LabelSelector {
  const { matchLabels, matchExpressions } = selector;
  const isLong =
    isJsonObject(matchLabels) ||
    matchLabels === null ||
    Array.isArray(matchExpressions) ||
    matchExpressions === null;
  if (!isLong) return { matchLabels: texts(selector) };
  return {
    matchLabels: isJsonObject(matchLabels) ? texts(matchLabels) : {},
    matchExpressions: Array.isArray(matchExpressions) ? matchExpressions.map(expressionOf) : [],
  };
}

function expressionOf(expression: unknown): { key: string; operator: string; values: string[] } {
  const { key, operator, values } = isJsonObject(expression) ? expression : {};
  return {
    key: String(key),
    operator: String(operator),
    values: Array.isArray(values) ? values.map(String) : [],
  };
}

/** Labels are strings; a YAML file may have numbers or booleans for some. */
function texts(labels: Map): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}

/** `@set`: returns a value with another value set at a literal path. */
const setOperator: OperatorDefinition = { name: '@set', compile: compileSet };

function compileSet(argument: unknown, site: Site): Compiled {
  const { name, context, compiler } = site;
  if (!Array.isArray(argument) || argument.length !== 3) {
    const count = Array.isArray(argument) ? argument.length : 1;
    context.report({ message: `${name}: want 3 operands, got ${count}` });
    return failed;
  }
  const [source, path, value] = argument as readonly unknown[];
  const changed = compiler.compile(source, context.at(0));
  const put = compiler.compile(value, context.at(2));
  const set = compilePath(path, site);
  if (set === undefined) return failed;
  const run: Expression = (document, element) => {
    const whole = changed.evaluate(document, element) ?? null;
    return set(whole, put.evaluate(document, element) ?? null, whole);
  };
  return fold(run, [changed, put], { site });
}

function compilePath(
  path: unknown,
  { name, context }: Site,
): ReturnType<typeof compilePlaceSetter> | undefined {
  const at = context.at(1);
  if (typeof path !== 'string' || !path.startsWith('$')) {
    at.report({ message: `${name}: want a JSONPath within the value, for example "$.port"` });
    return undefined;
  }
  const read = readPath(path, at);
  if (read === undefined) return undefined;
  const problem = read.root === '$$' ? 'within the value it begins with $' : unsettable(read);
  if (problem === undefined) return compilePlaceSetter(read, name);
  at.report({ message: `invalid setter ${JSON.stringify(path)}: ${problem}` });
  return undefined;
}

export const operators: ReadonlyMap<string, OperatorDefinition> = new Map(
  [
    ...conversionOperators,
    ...logicOperators,
    ...comparisonOperators,
    ...listOperators,
    ...arithmeticOperators,
    ...textOperators,
    setOperator,
    ...otherOperators,
  ].map((definition) => [definition.name, definition]),
);

/** Number of base-36 digits of 128 bits. */
const digits = 25;

/**
 * Returns a short hash of a JSON value: the first six of 25 base-36 digits of the MD5 of its compact JSON
 * with sorted members. Compatible with dcontroller, so that names made from it stay the same. Not for
 * security.
 */
function shortHash(value: unknown): string {
  const sum = createHash('md5')
    .update(htmlSafeJson(canonicalJson(value)))
    .digest('hex');
  return BigInt(`0x${sum}`).toString(36).padStart(digits, '0').slice(0, 6);
}
