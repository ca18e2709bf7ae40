import {
  isOfType,
  runtimeTypeName,
  typeOf,
  CelDictionary,
  CelError,
  CelList,
  CelObject,
  CelOptional,
  CelTypeValue,
  isMap,
} from './values.js';
import { checkExpression } from './checker.js';
import type { CelExtension, Checked } from './checker.js';
import type {
  CallExpression,
  ComprehensionExpression,
  Expression,
  OptionalMapExpression,
  SelectExpression,
} from './expression.js';
import { CelConstantError, checkDepth, qualifiedName } from './expression.js';
import { CelCostError, CostMeter, spentOn } from './cost/cost-meter.js';
import { estimateCost } from './cost/estimate-cost.js';
import type { SizesByPath } from './cost/estimate-cost.js';
import { sortedByKeys } from './library/lists.js';
import { patternOf } from './library/strings.js';
import { memberOf, optionalMember } from './operators.js';
import type { Overload } from './overload.js';
import { parseExpression } from './parser.js';
import type { CelType } from './types.js';
import type { CelValue } from './values.js';

/** A compiled expression. */
export interface CelProgram {
  /** The type of its value. */
  readonly type: CelType;
  /** The variables that the expression uses. */
  readonly variables: ReadonlySet<string>;
  /**
   * @param meter - measures the cost; supports one evaluation at a time
   * @throws CelError
   * @throws CelCostError the evaluation exceeds its cost limit
   */
  evaluate(variables: Readonly<Record<string, CelValue>>, meter?: CostMeter): CelValue;
  /** Estimates the maximum cost of an evaluation, as API servers do before they accept a rule. */
  estimate(sizes: SizesByPath): number;
}

/**
 * Compiles an expression.
 * @param extension - functions and types in addition to those of all expressions
 * @throws CelCompileError or CelConstantError
 */
export function compileCel(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  extension?: CelExtension,
): CelProgram {
  const parsed = parseExpression(source);
  checkDepth(source, parsed);
  const checked = checkExpression(source, parsed, variables, extension);
  const names = [...variables.keys()];
  const compiler = new Compiler(checked, names);
  const run = compiler.compile(checked.expression);
  evaluateConstants(checked);
  return {
    type: checked.type,
    variables: checked.variables,
    evaluate: (values, meter = new CostMeter()) => {
      compiler.meter = meter;
      return run(names.map((name) => values[name] ?? null));
    },
    estimate: (sizes) => estimateCost(checked, sizes),
  };
}

const folded = new Set([
  ...['bool', 'bytes', 'double', 'duration', 'int', 'string', 'timestamp', 'uint'],
  ...['find', 'findAll'],
]);

/**
 * Evaluates conversions of literals at compile time: the API server rejects rules that can only fail.
 * @throws CelConstantError
 */
function evaluateConstants({ overloads }: Checked): void {
  for (const [{ name, target, args }, candidates] of overloads) {
    if (!folded.has(name)) continue;
    const isPattern = name.startsWith('find');
    const value = args[0] === undefined ? undefined : constantOf(args[0]);
    if (value === undefined || (target !== undefined) !== isPattern) continue;
    try {
      if (isPattern) patternOf(typeof value === 'string' ? value : '');
      else dispatch({ name, overloads: candidates }, [() => value], () => new CostMeter())([]);
    } catch (error) {
      if (error instanceof CelError) throw new CelConstantError(error.message);
      throw error;
    }
  }
}

/** Returns the value of a literal; undefined for other expressions. */
function constantOf(expression: Expression): CelValue | undefined {
  if (expression.type === 'literal') return expression.value;
  if (expression.type === 'list' && expression.elements.length === 0) return new CelList([]);
  if (expression.type !== 'call' || expression.name !== 'dyn') return undefined;
  const [inner] = expression.args;
  return inner === undefined ? undefined : constantOf(inner);
}

/** Evaluates an expression with the variables in their slots. */
type Run = (frame: CelValue[]) => CelValue;

class Compiler {
  readonly #checked: Checked;
  /** The meter of the current evaluation; evaluation is synchronous, so only one runs at a time. */
  meter = new CostMeter();
  /** The names of the slots, innermost last. */
  readonly #places: string[];

  constructor(checked: Checked, places: readonly string[]) {
    this.#checked = checked;
    this.#places = [...places];
  }

  compile(expression: Expression): Run {
    const type = this.#checked.types.get(expression);
    if (type !== undefined) {
      const value = new CelTypeValue(type);
      return () => value;
    }
    switch (expression.type) {
      case 'literal': {
        const { value } = expression;
        return () => value;
      }
      case 'identifier': {
        const place = this.#places.lastIndexOf(expression.name);
        return (frame) => frame[place] ?? null;
      }
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'comprehension':
        return this.#comprehension(expression);
      case 'optionalMap':
        return this.#optionalMap(expression);
      case 'struct':
        return this.#struct(expression);
    }
  }

  #select(expression: SelectExpression): Run {
    const { operand, field, mode } = expression;
    // A variable may have a dot in its name, such as `authorizer.requestResource`.
    const place = this.#places.indexOf(qualifiedName(expression) ?? '');
    if (place >= 0) return (frame) => frame[place] ?? null;
    const run = this.compile(operand);
    return (frame) => {
      const container = run(frame);
      this.meter.charge(1);
      if (mode === 'value') return memberOf(container, field);
      const member = optionalMember(container, field);
      return mode === 'test' ? member.hasValue : member;
    };
  }

  #call(call: CallExpression): Run {
    const { name, target, args } = call;
    if (name === '_&&_') return this.#logical(args, false);
    if (name === '_||_') return this.#logical(args, true);
    if (name === '_?_:_') return this.#conditional(args);
    const overloads = this.#checked.overloads.get(call) ?? [];
    const operands =
      target === undefined || this.#checked.qualified.has(call) ? args : [target, ...args];
    if (target !== undefined && (name === 'or' || name === 'orValue')) {
      return this.#alternative(operands, name === 'or');
    }
    return dispatch(
      { name, overloads },
      operands.map((operand) => this.compile(operand)),
      () => this.meter,
    );
  }

  /** Evaluates `&&` or `||`: an error on one side is ignored if the other side determines the result. */
  #logical(args: readonly Expression[], decisive: boolean): Run {
    const [left, right] = args.map((arg) => this.compile(arg));
    return (frame) => {
      const one = attempt(left, frame);
      if (one === decisive) return decisive;
      const other = attempt(right, frame);
      if (other === decisive) return decisive;
      for (const side of [one, other]) if (side instanceof CelError) throw side;
      if (typeof one !== 'boolean' || typeof other !== 'boolean') {
        throw new CelError('no such overload');
      }
      return !decisive;
    };
  }

  #conditional(args: readonly Expression[]): Run {
    const [condition, yes, no] = args.map((arg) => this.compile(arg));
    return (frame) => {
      const holds = condition?.(frame);
      if (typeof holds !== 'boolean') throw new CelError('no such overload');
      return (holds ? yes : no)?.(frame) ?? null;
    };
  }

  #alternative(operands: readonly Expression[], flat: boolean): Run {
    const [run, otherwise] = operands.map((operand) => this.compile(operand));
    return (frame) => {
      const given = run?.(frame) ?? null;
      // A value of type `dyn` need not be an optional.
      if (!(given instanceof CelOptional)) return given;
      if (!given.hasValue) return otherwise?.(frame) ?? null;
      return flat ? given : (given.value ?? null);
    };
  }

  #list({ elements }: Extract<Expression, { type: 'list' }>): Run {
    const runs = elements.map(({ value, optional }) => ({ run: this.compile(value), optional }));
    return (frame) => {
      const items = runs.flatMap(({ run, optional }) => {
        const value = run(frame);
        if (!optional) return [value];
        if (!(value instanceof CelOptional)) {
          throw new CelError('cannot initialize optional list element from non-optional value');
        }
        return value.value === undefined ? [] : [value.value];
      });
      this.meter.charge(items.length);
      return new CelList(items);
    };
  }

  #map({ entries }: Extract<Expression, { type: 'map' }>): Run {
    const runs = entries.map(({ key, value, optional }) => {
      return { key: this.compile(key), value: this.compile(value), optional };
    });
    return (frame) => {
      const map = new CelDictionary();
      this.meter.charge(runs.length);
      for (const { key, value, optional } of runs) {
        const name = key(frame);
        const given = value(frame);
        const inner = optional && given instanceof CelOptional ? given.value : given;
        if (inner !== undefined) map.set(name, inner);
      }
      return map;
    };
  }

  #struct({ name, fields }: Extract<Expression, { type: 'struct' }>): Run {
    const runs = fields.map(({ name: field, value, optional }) => {
      return { field, value: this.compile(value), optional };
    });
    return (frame) => {
      const object = new CelObject(name);
      this.meter.charge(runs.length);
      for (const { field, value, optional } of runs) {
        const given = value(frame);
        const inner = optional && given instanceof CelOptional ? given.value : given;
        if (inner !== undefined) object.set(field, inner);
      }
      return object;
    };
  }

  #comprehension(expression: ComprehensionExpression): Run {
    const { macro, range, variables, filter, step } = expression;
    const source = this.compile(range);
    const place = this.#places.length;
    this.#places.push(...variables);
    const passes = filter === undefined ? undefined : this.compile(filter);
    const run = this.compile(step);
    this.#places.length = place;
    return (frame) => {
      const container = source(frame);
      const elements = elementsOf(container, variables.length === 2);
      const at = ([first, second]: readonly CelValue[]): CelValue[] => {
        this.meter.charge(1);
        const inner = frame.slice(0, place);
        inner.push(first ?? null);
        if (second !== undefined) inner.push(second);
        return inner;
      };
      const kept =
        passes === undefined ? elements : elements.filter((one) => isTrue(passes(at(one))));
      const result = folds[macro](kept, (one) => run(at(one)));
      if (macro === 'sortBy' && !(container instanceof CelList)) {
        throw new CelError('no such overload: @sortByAssociatedKeys');
      }
      return result;
    };
  }

  #optionalMap({ target, variable, body, flat }: OptionalMapExpression): Run {
    const source = this.compile(target);
    const place = this.#places.length;
    this.#places.push(variable);
    const run = this.compile(body);
    this.#places.length = place;
    return (frame) => {
      const optional = source(frame);
      if (!(optional instanceof CelOptional)) throw noSuchOverload('hasValue', [optional]);
      if (optional.value === undefined) return CelOptional.none;
      const result = run([...frame.slice(0, place), optional.value]);
      return flat ? result : new CelOptional(result);
    };
  }
}

function attempt(run: Run | undefined, frame: CelValue[]): CelValue | CelError {
  try {
    return run?.(frame) ?? null;
  } catch (error) {
    if (error instanceof CelError && !(error instanceof CelCostError)) return error;
    throw error;
  }
}

function isTrue(value: CelValue): boolean {
  if (typeof value !== 'boolean') throw new CelError('no such overload');
  return value;
}

/** Returns the values of a comprehension's variables for each iteration. */
function elementsOf(container: CelValue, two: boolean): readonly (readonly CelValue[])[] {
  if (container instanceof CelList) {
    return container.items.map((item, index) => (two ? [BigInt(index), item] : [item]));
  }
  if (container === null || !isMap(container)) {
    const { name } = typeOf(container);
    const type = `types.${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    throw new CelError(`got '${type}', expected iterable type`);
  }
  return container.keys().map((key) => (two ? [key, container.get(key) ?? null] : [key]));
}

type Fold = (
  elements: readonly (readonly CelValue[])[],
  run: (element: readonly CelValue[]) => CelValue,
) => CelValue;

/** Evaluates `all` or `exists`: an error counts only if no element determines the result. */
function quantifier(decisive: boolean): Fold {
  return (elements, run) => {
    let failure: CelError | undefined;
    for (const element of elements) {
      try {
        if (isTrue(run(element)) === decisive) return decisive;
      } catch (error) {
        if (!(error instanceof CelError) || error instanceof CelCostError) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  };
}

const toList: Fold = (elements, run) => new CelList(elements.map(run));

const folds: Readonly<Record<ComprehensionExpression['macro'], Fold>> = {
  all: quantifier(false),
  exists: quantifier(true),
  existsOne: (elements, run) => elements.filter((one) => isTrue(run(one))).length === 1,
  filter: (elements, run) =>
    new CelList(elements.filter((one) => isTrue(run(one))).map(([value]) => value ?? null)),
  map: toList,
  transformList: toList,
  transformMap: (elements, run) => {
    const map = new CelDictionary();
    for (const one of elements) map.insert(one[0] ?? null, run(one));
    return map;
  },
  transformMapEntry: (elements, run) => {
    const map = new CelDictionary();
    for (const one of elements) {
      const entries = run(one);
      if (entries === null || !isMap(entries)) throw new CelError('no such overload');
      for (const key of entries.keys()) map.insert(key, entries.get(key) ?? null);
    }
    return map;
  },
  sortBy: (elements, run) =>
    sortedByKeys(elements.map((one) => [run(one), one[0] ?? null] as const)),
};

/** Selects the overload by the operands' values if their types leave several. */
function dispatch(
  { name, overloads }: { readonly name: string; readonly overloads: readonly Overload[] },
  operands: readonly Run[],
  meter: () => CostMeter,
): Run {
  // All overloads of an index have the same implementation, which checks the types of the values.
  const isIndex = name === '_[_]' || name === '_[?_]';
  return (frame) => {
    const values = operands.map((operand) => operand(frame));
    meter().charge(spentOn(name, values));
    const overload = overloads.find(
      ({ args }) => isIndex || args.every((type, index) => isOfType(values[index] ?? null, type)),
    );
    if (overload === undefined) throw noSuchOverload(name, values);
    return overload.run(...values);
  };
}

const nameless = new Set(['contains', 'endsWith', 'matches', 'startsWith']);

function noSuchOverload(name: string, values: readonly CelValue[]): CelError {
  if (/^[_@!-]/.test(name) || nameless.has(name)) return new CelError('no such overload');
  if (name === 'size') return new CelError('no such overload: size');
  return new CelError(`no such overload: ${name}(${values.map(runtimeTypeName).join(', ')})`);
}
