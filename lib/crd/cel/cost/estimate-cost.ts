import type { Checked } from '../checker.js';
import { qualifiedName } from '../expression.js';
import type {
  CallExpression,
  ComprehensionExpression,
  ComprehensionMacro,
  Expression,
  OptionalMapExpression,
  SelectExpression,
} from '../expression.js';
import { optionalValue } from '../types.js';
import type { CelType } from '../types.js';
import type { CelValue } from '../values.js';
import { callCost, listCost, mapCost, sortByCost } from './call-cost.js';
import type { CostedCall, KnownSizes } from './call-cost.js';
import { fixedSize, plus, times, unionOf, unknownSize } from './size-range.js';
import type { SizeRange } from './size-range.js';

/**
 * Returns the maximum size of the value at a path; undefined if the path does not exist. The path starts at
 * the value with the rule and contains field names, `@items`, `@keys` and `@values`.
 */
export type SizesByPath = (path: readonly string[]) => SizeRange | undefined;

/**
 * Estimates the maximum cost of an expression, at most 2⁶⁴, as API servers do before they accept a rule. The
 * estimate assumes values of maximum size, and the worst case of each branch and loop.
 */
export function estimateCost(checked: Checked, sizes: SizesByPath): number {
  return new Estimator(checked, sizes).cost(checked.expression);
}

/** The sizes of a list's items, or of a map's keys and values. */
interface Entries {
  readonly isList: boolean;
  readonly key: SizeRange;
  readonly value: SizeRange;
}

interface Local {
  readonly path: readonly string[];
  readonly size: SizeRange | undefined;
  readonly entries: Entries | undefined;
}

const noPath: readonly string[] = [];

class Estimator implements KnownSizes {
  readonly #checked: Checked;
  readonly #sizesByPath: SizesByPath;
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, SizeRange>();
  readonly #entries = new Map<Expression, Entries>();
  readonly #locals = new Map<string, readonly Local[]>();

  constructor(checked: Checked, sizes: SizesByPath) {
    this.#checked = checked;
    this.#sizesByPath = sizes;
  }

  type(expression: Expression): CelType {
    return this.#checked.typeOf(expression);
  }

  size(expression: Expression): SizeRange {
    return this.knownSize(expression) ?? unknownSize;
  }

  knownSize(expression: Expression): SizeRange | undefined {
    const known =
      this.#sizes.get(expression) ?? writtenSize(expression) ?? this.#declared(expression);
    if (known !== undefined) return known;
    if (isScalar(this.type(expression))) return fixedSize(1);
    return expression.type === 'identifier' ? this.#local(expression.name)?.size : undefined;
  }

  itemSize(list: Expression): SizeRange {
    const path = this.#path(list);
    if (path.length === 0) return unknownSize;
    return this.#sizesByPath([...path.slice(1), '@items']) ?? unknownSize;
  }

  #declared(expression: Expression): SizeRange | undefined {
    const path = this.#path(expression);
    const size = path.length === 0 ? undefined : this.#sizesByPath(path.slice(1));
    if (size !== undefined) this.#sizes.set(expression, size);
    return size;
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  /** Returns the path from a variable; empty if the expression is not part of a variable. */
  #path(expression: Expression): readonly string[] {
    const local = expression.type === 'identifier' ? this.#local(expression.name) : undefined;
    return local?.path ?? this.#paths.get(expression) ?? noPath;
  }

  #entriesOf(expression: Expression): Entries | undefined {
    const known = this.#entries.get(expression);
    if (known !== undefined || expression.type !== 'identifier') return known;
    return this.#local(expression.name)?.entries;
  }

  #setEntries(expression: Expression, entries: Entries | undefined): void {
    if (entries !== undefined) this.#entries.set(expression, entries);
  }

  cost(expression: Expression): number {
    const named = this.#checked.types.has(expression) ? qualifiedName(expression) : undefined;
    if (named !== undefined) return this.#name(expression, named);
    switch (expression.type) {
      // Only mutations of admission policies create objects of named types, and their cost is not estimated.
      case 'struct':
      case 'literal':
        return 0;
      case 'identifier':
        return this.#name(expression, expression.name);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'comprehension':
        return expression.macro === 'sortBy' ? this.#sortBy(expression) : this.#loop(expression);
      case 'optionalMap':
        return this.#optionalMap(expression);
    }
  }

  #name(expression: Expression, name: string): number {
    this.#paths.set(expression, this.#local(name)?.path ?? [name]);
    return 1;
  }

  #select(expression: SelectExpression): number {
    const { operand, field, mode } = expression;
    const cost = this.cost(operand);
    if (mode === 'test') return cost;
    if (mode === 'optional') return plus(cost, 1);
    this.#paths.set(expression, [...this.#path(operand), field]);
    const { kind } = this.type(operand);
    return kind === 'map' || kind === 'struct' ? plus(cost, 1) : cost;
  }

  #call(call: CallExpression): number {
    const { name, args } = call;
    const isQualified = this.#checked.qualified.has(call);
    const costs = args.map((arg) => this.cost(arg));
    if (name === '_?_:_') return this.#conditional(call, costs);
    const target = isQualified ? undefined : call.target;
    const inner = [...costs, target === undefined ? 0 : this.cost(target)].reduce(plus, 0);
    const [first] = args;
    if (name === 'dyn' && target === undefined && first !== undefined) {
      this.#copy(call, first);
      return plus(inner, 1);
    }
    const prefix =
      isQualified && call.target !== undefined ? qualifiedName(call.target) : undefined;
    const full = prefix === undefined ? name : `${prefix}.${name}`;
    return plus(inner, this.#dispatch(call, { name: full, target, args }));
  }

  /** Returns the maximum cost over the overloads. */
  #dispatch(call: CallExpression, given: Omit<CostedCall, 'overload'>): number {
    let most = 0;
    let size: SizeRange | undefined;
    for (const overload of this.#checked.overloads.get(call) ?? []) {
      const estimate = callCost({ ...given, overload }, this);
      most = Math.max(most, estimate.cost);
      if (estimate.size !== undefined) {
        size = size === undefined ? estimate.size : unionOf(size, estimate.size);
        if (given.name === '_+_') this.#joinEntries(call, given.args);
      }
      const kind = given.name === '_[_]' ? overload.args[0]?.kind : undefined;
      if (kind === 'list' || kind === 'map') size = this.#item(call, kind);
      size ??= this.knownSize(call);
    }
    if (size !== undefined) this.#sizes.set(call, size);
    return most;
  }

  #item(call: CallExpression, kind: 'list' | 'map'): SizeRange | undefined {
    const [container] = call.args;
    if (container === undefined) return undefined;
    const step = kind === 'list' ? '@items' : '@values';
    this.#paths.set(call, [...this.#path(container), step]);
    return this.#entriesOf(container)?.value;
  }

  #joinEntries(call: Expression, [one, other]: readonly Expression[]): void {
    if (one === undefined || other === undefined) return;
    this.#setEntries(call, unionOfEntries(this.#entriesOf(one), this.#entriesOf(other)));
  }

  #conditional(call: CallExpression, costs: readonly number[]): number {
    const [, yes, no] = call.args;
    const [condition = 0, ...branches] = costs;
    if (yes !== undefined && no !== undefined) {
      this.#sizes.set(call, unionOf(this.size(yes), this.size(no)));
      this.#joinEntries(call, [yes, no]);
    }
    return plus(condition, Math.max(...branches));
  }

  #copy(to: Expression, from: Expression): void {
    const size = this.knownSize(from);
    if (size !== undefined) this.#sizes.set(to, size);
    this.#setEntries(to, this.#entriesOf(from));
  }

  #list(expression: Extract<Expression, { type: 'list' }>): number {
    const values = expression.elements.map(({ value }) => value);
    const cost = values.map((value) => this.cost(value)).reduce(plus, listCost);
    const value = this.#sizeOfAny(values);
    this.#entries.set(expression, { isList: true, key: fixedSize(1), value });
    return cost;
  }

  #map(expression: Extract<Expression, { type: 'map' }>): number {
    const { entries } = expression;
    const costs = entries.map(({ key, value }) => plus(this.cost(key), this.cost(value)));
    const key = this.#sizeOfAny(entries.map((entry) => entry.key));
    const value = this.#sizeOfAny(entries.map((entry) => entry.value));
    this.#entries.set(expression, { isList: false, key, value });
    return costs.reduce(plus, mapCost);
  }

  #sizeOfAny(expressions: readonly Expression[]): SizeRange {
    const [first, ...rest] = expressions.map((one) => this.size(one));
    return first === undefined ? fixedSize(0) : rest.reduce(unionOf, first);
  }

  #within<T>(locals: ReadonlyMap<string, Local>, run: () => T): T {
    for (const [name, local] of locals) {
      this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
    }
    const result = run();
    for (const name of locals.keys()) {
      this.#locals.set(name, (this.#locals.get(name) ?? []).slice(0, -1));
    }
    return result;
  }

  /** Returns the variables of a loop over a list or a map. */
  #iterated(range: Expression, [first = '', second]: readonly string[]): Map<string, Local> {
    const entries = this.#entriesOf(range);
    const isList = entries === undefined ? this.type(range).kind === 'list' : entries.isList;
    const path = this.#path(range);
    const local = (step: string, size: SizeRange | undefined): Local => ({
      path: [...path, step],
      size,
      entries: undefined,
    });
    const value = local(isList ? '@items' : '@values', entries?.value);
    const key = local(isList ? '@indices' : '@keys', entries?.key);
    if (second === undefined) return new Map([[first, isList ? value : key]]);
    return new Map([
      [first, key],
      [second, value],
    ]);
  }

  #loop(expression: ComprehensionExpression): number {
    const { range, variables, filter, step, macro } = expression;
    const rangeCost = this.cost(range);
    const count = this.size(range);
    const { filterCost, stepCost, size } = this.#within(this.#iterated(range, variables), () => ({
      filterCost: filter === undefined ? undefined : this.cost(filter),
      stepCost: this.cost(step),
      size: macro === 'filter' ? this.#variableSize(variables[0] ?? '') : this.size(step),
    }));
    const { once, each } = loopCost(macro, stepCost, filterCost);
    this.#setResult(expression, count, size);
    return plus(plus(rangeCost, once), times(count.max, each));
  }

  #variableSize(name: string): SizeRange {
    const local = this.#local(name);
    const path = local?.path ?? noPath;
    const declared = path.length === 0 ? undefined : this.#sizesByPath(path.slice(1));
    return declared ?? local?.size ?? unknownSize;
  }

  /** Lists and maps that a macro creates are at most as large as the range. */
  #setResult(expression: ComprehensionExpression, count: SizeRange, item: SizeRange): void {
    const { macro } = expression;
    if (macro === 'all' || macro === 'exists' || macro === 'existsOne') return;
    this.#sizes.set(expression, count);
    if (macro === 'transformMap' || macro === 'transformMapEntry') return;
    const value = { min: 0, max: item.max };
    this.#entries.set(expression, { isList: true, key: fixedSize(1), value });
  }

  /** Estimates a loop that computes the keys, and the sort by these keys. */
  #sortBy(expression: ComprehensionExpression): number {
    const { range, variables, step } = expression;
    const rangeCost = this.cost(range);
    const count = this.size(range);
    const keyCost = this.#within(this.#iterated(range, variables), () => this.cost(step));
    const { once, each } = loopCost('map', keyCost);
    const loop = plus(plus(1, once), times(count.max, each));
    const sorted = sortByCost(count, this.type(step));
    this.#sizes.set(expression, sorted.size ?? count);
    // Includes the initial empty list and the name of the range.
    return [listCost, rangeCost, 1, loop, sorted.cost].reduce(plus, 0);
  }

  /**
   * Estimates `target.hasValue() ? optional.of(body) : optional.none()`, which evaluates the target twice.
   */
  #optionalMap({ target, variable, body, flat }: OptionalMapExpression): number {
    const targetCost = this.cost(target);
    const inner = optionalValue(this.type(target));
    const size = inner !== undefined && isScalar(inner) ? fixedSize(1) : undefined;
    const local = { path: noPath, size, entries: undefined };
    const bodyCost = this.#within(new Map([[variable, local]]), () => this.cost(body));
    const bound = [listCost, targetCost, 1, bodyCost].reduce(plus, 0);
    const chosen = flat ? bound : plus(bound, 1);
    return [targetCost, 1, Math.max(chosen, 1)].reduce(plus, 0);
  }
}

function unionOfEntries(one: Entries | undefined, other: Entries | undefined): Entries | undefined {
  if (one === undefined || other === undefined) return undefined;
  const key = unionOf(one.key, other.key);
  return { isList: one.isList, key, value: unionOf(one.value, other.value) };
}

/** Returns the size of a literal. */
function writtenSize(expression: Expression): SizeRange | undefined {
  if (expression.type === 'literal') return fixedSize(literalSize(expression.value));
  if (expression.type === 'list') return fixedSize(expression.elements.length);
  return expression.type === 'map' ? fixedSize(expression.entries.length) : undefined;
}

function literalSize(value: CelValue): number {
  if (typeof value === 'string') return Array.from(value).length;
  return value instanceof Uint8Array ? value.length : 1;
}

const scalars = ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'];

function isScalar(type: CelType): boolean {
  const inner = optionalValue(type);
  return inner === undefined ? scalars.includes(type.kind) : isScalar(inner);
}

/**
 * Returns the costs of a loop without its range: once, and per element. The numbers count the steps that a
 * macro expands to, including reads and writes of the accumulator.
 */
function loopCost(
  macro: ComprehensionMacro,
  step: number,
  filter?: number,
): { readonly once: number; readonly each: number } {
  const passing = (cost: number): number => {
    return filter === undefined ? cost : plus(filter, Math.max(cost, 1));
  };
  switch (macro) {
    case 'all':
      return { once: 1, each: plus(step, 3) };
    case 'exists':
      return { once: 1, each: plus(step, 4) };
    case 'existsOne':
      return { once: 2, each: plus(step, 2) };
    case 'filter':
      // The element becomes a one-item list that is appended to the accumulator.
      return { once: listCost + 1, each: plus(step, listCost + 3) };
    case 'map':
    case 'transformList':
    case 'sortBy':
      return { once: listCost + 1, each: passing(plus(step, listCost + 2)) };
    case 'transformMap':
      return { once: mapCost + 1, each: passing(plus(step, 3)) };
    case 'transformMapEntry':
      return { once: mapCost + 1, each: passing(plus(step, 2)) };
  }
}
