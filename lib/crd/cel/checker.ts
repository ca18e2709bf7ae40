import { CelCompileError, qualifiedName } from './expression.js';
import type {
  CelIssue,
  CallExpression,
  ComprehensionExpression,
  Expression,
  OptionalMapExpression,
  SelectExpression,
} from './expression.js';
import { functionNamed, typeNamed } from './functions.js';
import { formatIssues, literalIssues, mixedIssues } from './literal-checks.js';
import type { Overload } from './overload.js';
import {
  boolType,
  dynType,
  errorType,
  intType,
  listType,
  mapType,
  optionalType,
  optionalValue,
  typeText,
  typeType,
  Unification,
  moreGeneral,
} from './types.js';
import type { CelType } from './types.js';
import { typeOf } from './values.js';

/** The result of type checking. */
export interface Checked {
  readonly expression: Expression;
  readonly type: CelType;
  /** The possible overloads of a call; several if an operand's type is unknown. */
  readonly overloads: ReadonlyMap<CallExpression, readonly Overload[]>;
  /** Calls such as `sets.contains(a, b)`, whose target is part of the function's name. */
  readonly qualified: ReadonlySet<CallExpression>;
  /** Expressions that name a type, such as `google.protobuf.Timestamp`. */
  readonly types: ReadonlyMap<Expression, CelType>;
  /** The declared variables that the expression uses. */
  readonly variables: ReadonlySet<string>;
  readonly typeOf: (part: Expression) => CelType;
}

/** Infers the types in an expression. @throws CelCompileError */
export function checkExpression(
  source: string,
  expression: Expression,
  variables: ReadonlyMap<string, CelType>,
  extension: CelExtension = {},
): Checked {
  const checker = new Checker(variables, extension);
  const type = checker.check(expression);
  if (checker.issues.length > 0) throw new CelCompileError(source, checker.issues);
  const { overloads, qualified, types, used } = checker;
  const resolved = checker.unification.resolve(type, 'dyn');
  const typeOf = (part: Expression): CelType => checker.typeOf(part);
  const found = [...literalIssues(expression), ...mixedIssues(expression, typeOf)];
  const issues = found.length > 0 ? found : formatIssues(expression, typeOf);
  if (issues.length > 0) throw new CelCompileError(source, issues);
  return { expression, type: resolved, overloads, qualified, types, variables: used, typeOf };
}

/** Functions and types that only some expressions may use. */
export interface CelExtension {
  readonly functions?: ReadonlyMap<string, readonly Overload[]>;
  /** Returns the type that `name{…}` creates; undefined for unknown names. */
  readonly structNamed?: (name: string) => CelStructType | undefined;
}

/** A type of objects that expressions create. */
export interface CelStructType {
  readonly type: CelType;
  /** Returns the type of a field; undefined for unknown names. */
  readonly fieldNamed: (name: string) => CelType | undefined;
}

class Checker {
  readonly issues: CelIssue[] = [];
  readonly unification = new Unification();
  readonly overloads = new Map<CallExpression, readonly Overload[]>();
  readonly qualified = new Set<CallExpression>();
  readonly types = new Map<Expression, CelType>();
  readonly used = new Set<string>();
  readonly #all = new Map<Expression, CelType>();
  readonly #extension: CelExtension;
  #scope: Scope;

  constructor(variables: ReadonlyMap<string, CelType>, extension: CelExtension) {
    this.#extension = extension;
    this.#scope = { variables, outer: undefined };
  }

  /** Returns the type of a checked part. */
  typeOf(expression: Expression): CelType {
    return this.unification.resolve(this.#all.get(expression) ?? dynType, 'dyn');
  }

  check(expression: Expression): CelType {
    const type = this.#check(expression);
    this.#all.set(expression, type);
    return type;
  }

  #check(expression: Expression): CelType {
    switch (expression.type) {
      case 'literal':
        return typeOf(expression.value);
      case 'identifier':
        return (
          this.#named(expression, expression.name) ??
          this.#undeclared(expression.at, expression.name)
        );
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'struct':
        return this.#struct(expression);
      case 'comprehension':
        return this.#comprehension(expression);
      case 'optionalMap':
        return this.#optionalMap(expression);
    }
  }

  #issue(at: number, message: string): CelType {
    this.issues.push({ at, message });
    return errorType;
  }

  #undeclared(at: number, name: string): CelType {
    return this.#issue(at, `undeclared reference to '${name}' (in container '')`);
  }

  #mismatch(at: number, wanted: CelType, found: CelType): CelType {
    const resolved = this.unification.resolve(found);
    const message = `expected type '${typeText(wanted)}' but found '${typeText(resolved)}'`;
    return this.#issue(at, message);
  }

  /** Returns the type of the variable or type that a name denotes. */
  #named(expression: Expression, name: string): CelType | undefined {
    for (let scope: Scope | undefined = this.#scope; scope !== undefined; scope = scope.outer) {
      const variable = scope.variables.get(name);
      if (variable === undefined) continue;
      if (scope.outer === undefined) this.used.add(name);
      return variable;
    }
    const type = typeNamed(name);
    if (type === undefined) return undefined;
    this.types.set(expression, type);
    return typeType(type);
  }

  #select(expression: SelectExpression): CelType {
    const name = qualifiedName(expression);
    const named = name === undefined ? undefined : this.#named(expression, name);
    if (named !== undefined) return named;
    const { operand, field, mode, at } = expression;
    const given = this.unification.resolve(this.check(operand));
    const inner = optionalValue(given);
    const type = this.#fieldOf(inner ?? given, field, at);
    if (mode === 'test') return boolType;
    const resolved = this.unification.resolve(type);
    return inner !== undefined || mode === 'optional' ? optionalType(resolved) : resolved;
  }

  #fieldOf(type: CelType, field: string, at: number): CelType {
    if (type.kind === 'map') return type.parameters[1] ?? dynType;
    if (type.kind === 'struct') {
      return type.fields?.get(field) ?? this.#issue(at, `undefined field '${field}'`);
    }
    if (type.kind === 'param') {
      this.unification.assign([dynType], [type]);
      return dynType;
    }
    if (type.kind !== 'dyn' && type.kind !== 'error') {
      this.#issue(at, `type '${typeText(type)}' does not support field selection`);
    }
    return dynType;
  }

  #call(call: CallExpression): CelType {
    const { name, target, args, at } = call;
    const argTypes = args.map((arg) => this.check(arg));
    if (name === '_&&_' || name === '_||_') return this.#logical(call, argTypes);
    if (name === '_?_:_') return this.#conditional(at, argTypes);
    if (target === undefined) {
      const overloads = this.#function(name);
      if (overloads === undefined) return this.#undeclared(at, name);
      return this.#resolve(call, overloads, argTypes);
    }
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : this.#function(`${prefix}.${name}`);
    if (qualified !== undefined) {
      this.qualified.add(call);
      return this.#resolve(
        { ...call, name: `${prefix ?? ''}.${name}`, target: undefined },
        qualified,
        argTypes,
        call,
      );
    }
    const targetType = this.check(target);
    const overloads = this.#function(name);
    if (overloads === undefined) return this.#undeclared(at, name);
    return this.#resolve(call, overloads, [targetType, ...argTypes]);
  }

  #logical({ args }: CallExpression, types: readonly CelType[]): CelType {
    let result = boolType;
    for (const [index, type] of types.entries()) {
      if (this.unification.assign([type], [boolType])) continue;
      result = this.#mismatch(args[index]?.at ?? 0, boolType, type);
    }
    return result;
  }

  #conditional(at: number, types: readonly CelType[]): CelType {
    const result = this.unification.freshType();
    if (this.unification.assign(types, [boolType, result, result])) {
      return this.unification.resolve(result);
    }
    return this.#noOverload({ at, name: '_?_:_', target: undefined }, types);
  }

  #noOverload({ name, target, at }: Callee, types: readonly CelType[]): CelType {
    const texts = types.map((type) => typeText(this.unification.resolve(type, 'dyn')));
    const [first = '', ...rest] = texts;
    const signature =
      target === undefined ? `(${texts.join(', ')})` : `${first}.(${rest.join(', ')})`;
    return this.#issue(at, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  #resolve(
    call: CallExpression,
    overloads: readonly Overload[],
    types: readonly CelType[],
    key: CallExpression = call,
  ): CelType {
    const isMethod = call.target !== undefined;
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMethod !== isMethod) continue;
      const fresh = this.#instance(overload);
      if (!this.unification.assign(types, fresh.args)) continue;
      matching.push(overload);
      const type = this.unification.resolve(fresh.result);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && typeText(result) !== typeText(type)) result = dynType;
    }
    if (result === undefined) return this.#noOverload(call, types);
    this.overloads.set(key, matching);
    return result;
  }

  /** Returns the overload with fresh types for its type parameters. */
  #instance({ args, result }: Overload): { args: readonly CelType[]; result: CelType } {
    const own = new Map<string, CelType>();
    const fresh = (type: CelType): CelType => {
      if (type.kind === 'param') {
        const known = own.get(type.name) ?? this.unification.freshType();
        own.set(type.name, known);
        return known;
      }
      if (type.parameters.length === 0) return type;
      return { ...type, parameters: type.parameters.map(fresh) };
    };
    return { args: args.map(fresh), result: fresh(result) };
  }

  #join(before: CelType | undefined, next: CelType): CelType {
    if (before === undefined) return next;
    return this.unification.assign([before], [next]) ? moreGeneral(before, next) : dynType;
  }

  #element(expression: Expression, optional: boolean): CelType {
    const type = this.check(expression);
    if (!optional) return type;
    const inner = optionalValue(this.unification.resolve(type));
    if (inner !== undefined || type.kind === 'dyn') return inner ?? type;
    this.#mismatch(expression.at, optionalType(type), type);
    return type;
  }

  #list({ elements }: Extract<Expression, { type: 'list' }>): CelType {
    let joined: CelType | undefined;
    for (const { value, optional } of elements) {
      joined = this.#join(joined, this.#element(value, optional));
    }
    return listType(joined ?? this.unification.freshType());
  }

  #map({ entries }: Extract<Expression, { type: 'map' }>): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const { key, value, optional } of entries) {
      keys = this.#join(keys, this.check(key));
      values = this.#join(values, this.#element(value, optional));
    }
    const { unification } = this;
    return mapType(keys ?? unification.freshType(), values ?? unification.freshType());
  }

  #function(name: string): readonly Overload[] | undefined {
    return this.#extension.functions?.get(name) ?? functionNamed(name);
  }

  #struct({ at, name, fields }: Extract<Expression, { type: 'struct' }>): CelType {
    const type = this.#extension.structNamed?.(name);
    if (type === undefined) return this.#undeclared(at, name);
    for (const field of fields) {
      const found = this.#element(field.value, field.optional);
      const wanted = type.fieldNamed(field.name);
      if (wanted !== undefined && this.unification.assign([found], [wanted])) continue;
      const given = typeText(this.unification.resolve(found));
      // As on the real server, an unknown field has an empty type.
      const expected = wanted === undefined ? '' : typeText(wanted);
      const problem = `expected type of field '${field.name}' is '${expected}'`;
      this.#issue(field.at, `${problem} but provided type is '${given}'`);
    }
    return type.type;
  }

  #within<T>(variables: ReadonlyMap<string, CelType>, run: () => T): T {
    const outer = this.#scope;
    this.#scope = { variables, outer };
    const result = run();
    this.#scope = outer;
    return result;
  }

  #comprehension(expression: ComprehensionExpression): CelType {
    const { macro, range, variables, filter, step, at } = expression;
    const type = this.unification.resolve(this.check(range));
    const [key, value] = this.#iterated(type, macro === 'sortBy' ? at : range.at);
    const [first = '', second] = variables;
    const item = second === undefined && type.kind === 'list' ? value : key;
    const scope = new Map([[first, item]]);
    if (second !== undefined) scope.set(second, value);
    return this.#within(scope, () => {
      const passes = filter === undefined ? boolType : this.check(filter);
      const result = this.check(step);
      const whole = this.#resultOf(expression, this.unification.resolve(type), [item, result]);
      return this.#chosen(at, passes, whole);
    });
  }

  /** Returns the types of the index and the items of a list, or of the keys and the values of a map. */
  #iterated(type: CelType, at: number): readonly [CelType, CelType] {
    const [first = dynType, second = dynType] = type.parameters;
    if (type.kind === 'list') return [intType, first];
    if (type.kind === 'map') return [first, second];
    if (['dyn', 'error', 'param'].includes(type.kind)) {
      this.unification.assign([dynType], [type]);
      return [dynType, dynType];
    }
    const text = typeText(type);
    this.#issue(
      at,
      `expression of type '${text}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
    return [errorType, errorType];
  }

  /**
   * Returns `result`. Reports an error about `?:` if `condition` is not a bool, because a macro with a condition
   * expands to a conditional expression.
   */
  #chosen(at: number, condition: CelType, result: CelType): CelType {
    this.#conditional(at, [condition, result, result]);
    return result;
  }

  #resultOf(
    { macro, step, at }: ComprehensionExpression,
    range: CelType,
    [item, result]: readonly [CelType, CelType],
  ): CelType {
    switch (macro) {
      case 'all':
      case 'exists':
        if (!this.unification.assign([result], [boolType])) {
          this.#mismatch(step.at, boolType, result);
        }
        return boolType;
      case 'existsOne':
        this.#chosen(at, result, intType);
        return boolType;
      case 'filter':
        return this.#chosen(at, result, listType(item));
      case 'map':
      case 'transformList':
        return listType(result);
      case 'transformMap':
        return mapType(item, result);
      case 'transformMapEntry': {
        const map = mapType(this.unification.freshType(), this.unification.freshType());
        if (!this.unification.assign([result], [map])) {
          this.#noOverload({ at, name: 'cel.@mapInsert', target: undefined }, [map, result]);
        }
        return this.unification.resolve(map);
      }
      case 'sortBy': {
        const key = this.unification.resolve(result);
        if (!lists.includes(range.kind) || !sortable.includes(key.kind)) {
          const callee = { at, name: '@sortByAssociatedKeys', target: step };
          return this.#noOverload(callee, [range, listType(key)]);
        }
        // If the type of the key is unknown, it becomes int: the real checker tries numbers first.
        this.unification.assign([key], [intType]);
        return this.unification.resolve(range);
      }
    }
  }

  #optionalMap({ target, variable, body, flat, at }: OptionalMapExpression): CelType {
    const before = this.issues.length;
    const type = this.unification.resolve(this.check(target));
    // Copy at most the issues that a message shows: in a chain of macros, each macro doubles them.
    const ofTarget = this.issues.slice(before, before + mostRepeated);
    const value = this.unification.freshType();
    const isOptional = this.unification.assign([type], [optionalType(value)]);
    const failed = (name: string): CelType => this.#noOverload({ at, name, target }, [type]);
    const tested = isOptional ? boolType : failed('hasValue');
    // The macro expands to an expression that contains the target twice, so its issues are repeated.
    this.issues.push(...ofTarget);
    const inner = isOptional ? value : failed('value');
    const result = this.#within(new Map([[variable, inner]]), () => this.check(body));
    if (!flat) return optionalType(result);
    const none = optionalType(this.unification.freshType());
    return this.#conditional(at, [tested, result, none]);
  }
}

/** As many issues as a message shows. */
const mostRepeated = 100;

/** The parts of a call that a message names. */
type Callee = Pick<CallExpression, 'at' | 'name' | 'target'>;

const lists: readonly CelType['kind'][] = ['dyn', 'error', 'list'];

const sortable: readonly CelType['kind'][] = [
  ...(['dyn', 'error', 'null', 'param', 'bool', 'int', 'uint', 'double'] as const),
  ...(['string', 'bytes', 'timestamp', 'duration'] as const),
];

interface Scope {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly outer: Scope | undefined;
}
