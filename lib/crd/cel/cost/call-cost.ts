import type { Expression } from '../expression.js';
import type { Overload } from '../overload.js';
import { sameType } from '../types.js';
import type { CelType } from '../types.js';
import {
  boundless,
  fixedSize,
  plus,
  productOf,
  scaled,
  sumOf,
  times,
  replacedSize,
} from './size-range.js';
import type { SizeRange } from './size-range.js';

/** A call to estimate, with one of its possible overloads. */
export interface CostedCall {
  /** The name with its namespace: `sets.contains`. */
  readonly name: string;
  /** The target of a method call. */
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  readonly overload: Overload;
}

/** The known sizes of an expression's parts. */
export interface KnownSizes {
  size(expression: Expression): SizeRange;
  /** Returns undefined if nothing bounds the size. */
  knownSize(expression: Expression): SizeRange | undefined;
  /** Returns the size of a list's items. */
  itemSize(list: Expression): SizeRange;
  type(expression: Expression): CelType;
}

/** The maximum cost of a call without its arguments, and the size of its result. */
export interface CallCost {
  readonly cost: number;
  readonly size?: SizeRange;
}

type Estimate = (call: CostedCall, known: KnownSizes) => CallCost | undefined;

/** Traversing text costs a tenth per character. */
const perCharacter = 0.1;
/** A pattern costs a quarter per character of its expression. */
const perPatternCharacter = 0.25;
export const listCost = 10;
export const mapCost = 30;

/** Estimates the cost of a call without its arguments; 1 by default. */
export function callCost(call: CostedCall, known: KnownSizes): CallCost {
  const estimate = Object.hasOwn(estimates, call.name) ? estimates[call.name] : undefined;
  return estimate?.(call, known) ?? { cost: 1 };
}

/** Returns the expression that a function or method operates on. */
function subject({ target, args }: CostedCall): Expression | undefined {
  return target ?? args[0];
}

/** Estimates a traversal of the call's subject. */
function traversal(factor: number, keepsSize: boolean): Estimate {
  return (call, known) => {
    const text = subject(call);
    if (text === undefined) return undefined;
    const size = known.size(text);
    const cost = scaled(size.max, factor);
    return keepsSize ? { cost, size } : { cost };
  };
}

/** Estimates a traversal of the argument, as in `startsWith`. */
const overArgument: Estimate = ({ args: [arg] }, known) => {
  return arg && { cost: scaled(known.size(arg).max, perCharacter) };
};

const overItems: Estimate = ({ target }, known) => {
  if (target === undefined) return undefined;
  const { max } = known.size(target);
  const [item] = known.type(target).parameters;
  if (item === undefined) return { cost: scaled(max, perCharacter) };
  const isText = item.kind === 'string' || item.kind === 'bytes';
  const each = isText ? plus(1, scaled(known.itemSize(target).max, perCharacter)) : 1;
  return { cost: times(max, each) };
};

const replace: Estimate = ({ target, args: [old, next] }, known) => {
  if (target === undefined || old === undefined || next === undefined) return undefined;
  const size = known.size(target);
  const cost = scaled(size.max, 2 * perCharacter);
  return { cost, size: replacedSize(size, known.size(old), known.size(next)) };
};

const split: Estimate = ({ target, args: [, limit] }, known) => {
  if (target === undefined) return undefined;
  const { max } = known.size(target);
  const written = limit?.type === 'literal' ? limit.value : undefined;
  // Negative values count as no limit.
  const most =
    typeof written === 'bigint' ? (written < 0n ? boundless : Number(written)) : undefined;
  return { cost: scaled(max, 2 * perCharacter), size: { min: 0, max: most ?? max } };
};

const join: Estimate = ({ target, args: [separator] }, known) => {
  if (target === undefined) return undefined;
  const count = known.size(target);
  const hasItems = known.type(target).parameters.length > 0;
  const items = hasItems ? productOf(count, known.itemSize(target)) : fixedSize(0);
  const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const between = separator === undefined ? fixedSize(0) : productOf(known.size(separator), gaps);
  const size = sumOf(items, between);
  return { cost: scaled(size.max, perCharacter), size };
};

/**
 * Returns the product of text and pattern costs. The text counts one character more, so that an empty string has a
 * cost.
 */
function patternCost(text: SizeRange, pattern: SizeRange): number {
  const once = scaled(plus(text.max, 1), perCharacter);
  return times(once, scaled(pattern.max, perPatternCharacter));
}

const find: Estimate = ({ target, args: [pattern] }, known) => {
  if (target === undefined || pattern === undefined) return undefined;
  const text = known.size(target);
  return { cost: patternCost(text, known.size(pattern)), size: { min: 0, max: text.max } };
};

const matches: Estimate = ({ target, args: [pattern] }, known) => {
  if (target === undefined || pattern === undefined) return undefined;
  return { cost: patternCost(known.size(target), known.size(pattern)) };
};

const contains: Estimate = ({ target, args: [part] }, known) => {
  if (target === undefined || part === undefined) return undefined;
  const [text, wanted] = [known.size(target).max, known.size(part).max];
  return { cost: times(scaled(text, perCharacter), scaled(wanted, perCharacter)) };
};

/**
 * Estimates `containsIP` and `containsCIDR`: `cost` for two addresses of up to 16 bytes, plus the parsing
 * of a string argument.
 */
function addressIn(cost: number): Estimate {
  return ({ overload, args: [other] }, known) => {
    const isText = overload.args[1]?.kind === 'string';
    if (other === undefined || !isText) return { cost };
    return { cost: plus(cost, scaled(known.size(other).max, perCharacter)) };
  };
}

const quote: Estimate = ({ args: [text] }, known) => {
  if (text === undefined) return undefined;
  const { min, max } = known.size(text);
  // Each character may become two. On the API server, doubling an unbounded size overflows to 0.
  const size = { min: min + 2, max: max >= boundless ? 0 : max * 2 + 2 };
  return { cost: scaled(max, perCharacter), size };
};

/** Estimates a call that creates a list, with a cost in proportion to the size. */
function allocated(size: SizeRange, factor = 1): CallCost {
  return { cost: plus(scaled(size.max, factor), 1 + listCost), size };
}

/** Returns the value of an integer literal, at least 0; `otherwise` for other expressions. */
function written(expression: Expression | undefined, otherwise: number): number {
  if (expression?.type !== 'literal' || typeof expression.value !== 'bigint') return otherwise;
  return Math.max(0, Number(expression.value));
}

const slice: Estimate = ({ target, args: [start, end] }, known) => {
  if (target === undefined) return undefined;
  const count = written(end, known.size(target).max) - written(start, 0);
  return allocated(fixedSize(count < 0 ? boundless : count));
};

const flatten: Estimate = ({ target, args: [depth] }, known) => {
  if (target === undefined) return undefined;
  return allocated(known.size(target), depth === undefined ? 1 : written(depth, boundless));
};

function compared(list: SizeRange, item: CelType | undefined): CallCost {
  const isText = item?.kind === 'string' || item?.kind === 'bytes';
  return allocated(productOf(list, list), isText ? 2 + perCharacter : 2);
}

const sort: Estimate = ({ target, overload }, known) => {
  return target && compared(known.size(target), overload.args[0]?.parameters[0]);
};

/** Estimates the key comparisons of a sort by keys. */
export function sortByCost(keys: SizeRange, key: CelType): CallCost {
  const isText = key.kind === 'dyn' || key.kind === 'string' || key.kind === 'bytes';
  return allocated(productOf(keys, keys), isText ? 2 + perCharacter : 2);
}

function sets(factor: number): Estimate {
  return ({ args: [one, other] }, known) => {
    if (one === undefined || other === undefined) return undefined;
    const pairs = productOf(known.size(one), known.size(other));
    return { cost: plus(scaled(pairs.max, factor), 1) };
  };
}

/** A comparison takes as long as its smaller operand. */
const comparison: Estimate = ({ args: [one, other] }, known) => {
  if (one === undefined || other === undefined) return undefined;
  return { cost: scaled(Math.min(known.size(one).max, known.size(other).max), perCharacter) };
};

const ordering: Estimate = (call, known) => {
  const kind = call.overload.args[0]?.kind;
  return kind === 'string' || kind === 'bytes' ? comparison(call, known) : undefined;
};

/** The length of the longest format name. */
const longestFormat = 64;

const equality: Estimate = (call, known) => {
  const [one, other] = call.args;
  if (one === undefined || other === undefined) return undefined;
  const [type, second] = [known.type(one), known.type(other)];
  if (type.kind !== 'opaque' || !sameType(type, second)) return comparison(call, known);
  switch (type.name) {
    case 'net.IP':
    case 'net.CIDR':
    case 'kubernetes.Quantity':
    case 'kubernetes.Semver':
      return { cost: 1 };
    case 'kubernetes.NamedFormat':
      return { cost: scaled(longestFormat, perCharacter) };
    case 'kubernetes.URL':
      // Only the right operand counts, as on the API server.
      return { cost: scaled(known.knownSize(other)?.max ?? 1, perCharacter) };
    default:
      return comparison(call, known);
  }
};

const add: Estimate = ({ args: [one, other], overload }, known) => {
  const kind = overload.args[0]?.kind;
  if (one === undefined || other === undefined) return undefined;
  if (kind !== 'string' && kind !== 'bytes' && kind !== 'list') return undefined;
  const size = sumOf(known.size(one), known.size(other));
  return { cost: kind === 'list' ? 1 : scaled(size.max, perCharacter), size };
};

const isIn: Estimate = ({ args: [, list], overload }, known) => {
  if (list === undefined || overload.args[1]?.kind !== 'list') return undefined;
  return { cost: known.size(list).max };
};

/** Estimates `string(bytes)` and `bytes(string)`: a character has at most four bytes. */
function conversion(from: 'string' | 'bytes'): Estimate {
  return ({ args: [given], overload }, known) => {
    if (given === undefined || overload.args[0]?.kind !== from) return undefined;
    const { min, max } = known.size(given);
    const cost = scaled(max, perCharacter);
    const size = from === 'bytes' ? { min: Math.floor(min / 4), max } : { min, max: times(max, 4) };
    return { cost, size };
  };
}

const once = traversal(perCharacter, false);
const sameSize = traversal(perCharacter, true);
const longestFormatPattern = 128;

const validate: Estimate = ({ args: [text] }, known) => {
  if (text === undefined) return undefined;
  const cost = scaled(known.size(text).max, perCharacter);
  return { cost: scaled(cost, longestFormatPattern * perPatternCharacter) };
};

const addressOf: Estimate = (call, known) => {
  return call.overload.args[0]?.kind === 'string' ? once(call, known) : undefined;
};

function forAll(names: string, estimate: Estimate): Readonly<Record<string, Estimate>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, estimate]));
}

const stringMethods: Readonly<Record<string, Estimate>> = {
  ...forAll('lowerAscii upperAscii substring trim url', sameSize),
  ...forAll('cidr isIP isCIDR quantity isQuantity semver isSemver format', once),
  ...forAll('startsWith endsWith', overArgument),
  ip: addressOf,
  'ip.isCanonical': traversal(2 * perCharacter, false),
  replace,
  split,
  find,
  findAll: find,
  matches,
  contains,
  validate,
  'strings.quote': quote,
  string: conversion('bytes'),
  bytes: conversion('string'),
  containsIP: addressIn(4),
  containsCIDR: addressIn(4 + 2 + 1),
};

const listMethods: Readonly<Record<string, Estimate>> = {
  ...forAll('isSorted sum max min indexOf lastIndexOf', overItems),
  join,
  slice,
  flatten,
  sort,
  distinct: ({ target }, known) => target && compared(known.size(target), undefined),
  reverse: ({ target }, known) => target && allocated(known.size(target)),
  'lists.range': ({ args: [count] }) => allocated(fixedSize(written(count, boundless))),
  'sets.contains': sets(1),
  'sets.intersects': sets(1),
  'sets.equivalent': sets(2),
};

const estimates: Readonly<Partial<Record<string, Estimate>>> = {
  ...stringMethods,
  ...listMethods,
  ...forAll('_<_ _<=_ _>_ _>=_', ordering),
  '_==_': equality,
  '_!=_': comparison,
  '_+_': add,
  '@in': isIn,
};
