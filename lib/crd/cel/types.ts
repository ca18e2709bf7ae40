export interface CelType {
  readonly kind: TypeKind;
  /** The name in messages. */
  readonly name: string;
  /** The element type of a list, key and value types of a map, or the type that an optional or a type wraps. */
  readonly parameters: readonly CelType[];
  /** The fields of an object, by their escaped names. */
  readonly fields?: ReadonlyMap<string, CelType>;
}

/** The kind of a type; `param` is a type parameter to infer. */
type TypeKind =
  | 'dyn'
  | 'error'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'type'
  | 'param';

function simple(kind: TypeKind, name: string = kind): CelType {
  return { kind, name, parameters: [] };
}

export const dynType = simple('dyn');
export const errorType = simple('error', '!error!');
export const boolType = simple('bool');
export const intType = simple('int');
export const uintType = simple('uint');
export const doubleType = simple('double');
export const stringType = simple('string');
export const bytesType = simple('bytes');
export const nullType = simple('null');
export const timestampType = simple('timestamp');
export const durationType = simple('duration');

/** Types with the same name in rules and in signatures. */
export const plainTypes: Readonly<Record<string, CelType>> = {
  bool: boolType,
  bytes: bytesType,
  double: doubleType,
  dyn: dynType,
  int: intType,
  string: stringType,
  uint: uintType,
};

export function listType(element: CelType): CelType {
  return { kind: 'list', name: 'list', parameters: [element] };
}

export function mapType(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', parameters: [key, value] };
}

/** Returns a type of a library, such as `kubernetes.Quantity`. */
export function opaqueType(name: string, ...parameters: readonly CelType[]): CelType {
  return { kind: 'opaque', name, parameters };
}

export function optionalType(value: CelType): CelType {
  return opaqueType('optional_type', value);
}

export function typeType(parameter: CelType): CelType {
  return { kind: 'type', name: 'type', parameters: [parameter] };
}

export function paramType(name: string): CelType {
  return { kind: 'param', name, parameters: [] };
}

/** Returns an object type with declared fields. Two object types are the same if they have the same name. */
export function structType(name: string, fields: ReadonlyMap<string, CelType>): CelType {
  return { kind: 'struct', name, parameters: [], fields };
}

/** Returns the type that an optional wraps; undefined for other types. */
export function optionalValue(type: CelType): CelType | undefined {
  if (type.kind !== 'opaque' || type.name !== 'optional_type') return undefined;
  return type.parameters[0] ?? dynType;
}

/** Formats a type for messages: `list(int)`, `map(string, dyn)`. */
export function typeText(type: CelType): string {
  if (type.parameters.length === 0) return type.name;
  return `${type.name}(${type.parameters.map(typeText).join(', ')})`;
}

/** Returns whether two types are identical. */
export function sameType(one: CelType, other: CelType): boolean {
  if (one === other) return true;
  if (one.kind !== other.kind || one.name !== other.name) return false;
  return one.parameters.every((parameter, index) => {
    const counterpart = other.parameters[index];
    return counterpart !== undefined && sameType(parameter, counterpart);
  });
}

/**
 * Infers type parameters and checks assignability, like the unification of the API server's type checker.
 * `dyn` is assignable to and from every type; null to objects, times, durations and library types,
 * including optionals.
 */
export class Unification {
  readonly #known = new Map<string, CelType>();
  /** Entries that the current attempt has overwritten, oldest first. To copy all entries would take quadratic time. */
  readonly #undo: (readonly [name: string, before: CelType | undefined])[] = [];
  #fresh = 0;

  /** Returns a new, unbound type parameter. */
  freshType(): CelType {
    return paramType(`_var${this.#fresh++}`);
  }

  /** Returns whether the types `given` are assignable to `wanted`, and records the inferred types if so. */
  assign(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    this.#undo.length = 0;
    if (this.#allFit(given, wanted)) return true;
    for (const [name, before] of this.#undo.toReversed()) {
      if (before === undefined) this.#known.delete(name);
      else this.#known.set(name, before);
    }
    return false;
  }

  #learn(param: CelType, type: CelType): void {
    const { name } = param;
    this.#undo.push([name, this.#known.get(name)]);
    this.#known.set(name, type);
  }

  /** Substitutes the inferred types. @param open - the result for unbound type parameters */
  resolve(type: CelType, open: 'keep' | 'dyn' = 'keep'): CelType {
    const known = this.#known.get(type.name);
    if (known !== undefined && type.kind === 'param') return this.resolve(known, open);
    if (type.kind === 'param') return open === 'dyn' ? dynType : type;
    if (type.parameters.length === 0) return type;
    return { ...type, parameters: type.parameters.map((one) => this.resolve(one, open)) };
  }

  #allFit(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    if (given.length !== wanted.length) return false;
    return given.every((one, index) => {
      const other = wanted[index];
      return other !== undefined && this.#fits(one, other);
    });
  }

  #fits(one: CelType, other: CelType): boolean {
    if (other.kind === 'param') {
      const isValid = this.#substitutes(one, other);
      if (isValid !== undefined) return isValid;
    }
    if (one.kind === 'param') return this.#substitutes(other, one) === true;
    if (isOpen(one) || isOpen(other)) return true;
    if (one.kind === 'null') return isNullable(other);
    if (other.kind === 'null') return isNullable(one);
    if (one.kind === 'type') return other.kind === 'type';
    if (one.parameters.length === 0) return sameType(one, other);
    return (
      one.kind === other.kind &&
      one.name === other.name &&
      this.#allFit(one.parameters, other.parameters)
    );
  }

  /** Returns whether the type parameter `param` may stand for `type`; undefined if it occurs in that type. */
  #substitutes(type: CelType, param: CelType): boolean | undefined {
    if (type.kind === 'param' && sameType(type, param)) return true;
    const known = this.#known.get(param.name);
    if (known === undefined) {
      if (!this.#isFree(param, type)) return undefined;
      this.#learn(param, type);
      return true;
    }
    if (!this.#fits(type, known)) return false;
    const general = moreGeneral(type, known);
    if (this.#isFree(param, general)) this.#learn(param, general);
    return true;
  }

  /** Returns whether `param` does not occur in `within`. */
  #isFree(param: CelType, within: CelType): boolean {
    if (sameType(param, within)) return false;
    if (within.kind === 'param') {
      const known = this.#known.get(within.name);
      return known === undefined || this.#isFree(param, known);
    }
    return within.parameters.every((one) => this.#isFree(param, one));
  }
}

function isOpen({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'error';
}

function isNullable({ kind }: CelType): boolean {
  return ['null', 'opaque', 'struct', 'duration', 'timestamp'].includes(kind);
}

/** Returns the more general of two compatible types. */
export function moreGeneral(one: CelType, other: CelType): CelType {
  return saysNoMore(one, other) ? one : other;
}

function saysNoMore(one: CelType, other: CelType): boolean {
  if (one.kind === 'dyn' || one.kind === 'param') return true;
  if (other.kind === 'dyn' || other.kind === 'param') return false;
  if (one.kind !== other.kind) return false;
  if (one.kind === 'type') return true;
  return one.parameters.every((parameter, index) =>
    saysNoMore(parameter, other.parameters[index] ?? dynType),
  );
}
