import type { CelType } from './types.js';

/**
 * A value of CEL: `int` is a bigint, `double` a number, `bytes` a Uint8Array; the types that
 * JavaScript has nothing for are classes.
 */
export type CelValue =
  | bigint
  | number
  | string
  | boolean
  | null
  | Uint8Array
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelOptional
  | CelTypeValue
  | CelOpaque;

/** A failed evaluation: division by zero, a key that is not there, no such overload. */
export class CelError extends Error {
  override readonly name = 'CelError';
}

/** `uint`: 64 bits without a sign. */
export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A point in time, in nanoseconds since 1970. */
export class CelTimestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A time span, in nanoseconds. */
export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A value, or none. */
export class CelOptional {
  static readonly none = new CelOptional(undefined);
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** A type as a value: what `type(x)` is, and what names such as `int` stand for. */
export class CelTypeValue {
  readonly type: CelType;

  constructor(type: CelType) {
    this.type = type;
  }
}

/** A value of a library type: `quantity`, `url`, `ip`, … */
export class CelOpaque<T = unknown> {
  readonly typeName: string;
  readonly value: T;
  readonly #isSame: (other: never) => boolean;

  /** @param isSame - whether the value of another one of the type is the same */
  constructor(typeName: string, value: T, isSame: (other: T) => boolean) {
    this.typeName = typeName;
    this.value = value;
    this.#isSame = isSame;
  }

  /** Whether another one of the same type is the same. */
  equals(other: CelOpaque): boolean {
    return this.#isSame(other.value as never);
  }
}

/** A list; `correlation` tells how lists of objects of the API are compared and added up. */
export class CelList {
  readonly items: readonly CelValue[];
  readonly correlation: ListCorrelation;

  constructor(items: readonly CelValue[], correlation: ListCorrelation = 'atomic') {
    this.items = items;
    this.correlation = correlation;
  }
}

/** The entries of a `set` or a `map` list have no order; those of a map list have keys. */
export type ListCorrelation = 'atomic' | 'set' | { readonly keys: readonly string[] };

/** A map, or an object of the API. */
export interface CelMap {
  /** Tells it from the other values. */
  readonly isMap: true;
  /** undefined: there is no such key. */
  get(key: CelValue): CelValue | undefined;
  keys(): readonly CelValue[];
  readonly size: number;
}

/** Whether a value is a map or an object. */
export function isMap(value: CelValue): value is CelMap {
  return typeof value === 'object' && value !== null && 'isMap' in value;
}

/** The key under which a map finds an entry: equal numbers have equal ones, whatever their type. */
export function keyId(key: CelValue): string {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (key instanceof CelUint) return `n${key.value}`;
  if (typeof key === 'number') return Number.isInteger(key) ? `n${BigInt(key)}` : `n${key}`;
  throw new CelError(`unsupported key type`);
}

/** A map that an expression made. */
export class CelDictionary implements CelMap {
  readonly isMap = true;
  readonly #entries = new Map<string, readonly [CelValue, CelValue]>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: CelValue): CelValue | undefined {
    return this.#entries.get(keyId(key))?.[1];
  }

  /** Sets an entry; of two with one key the last counts. */
  set(key: CelValue, value: CelValue): void {
    this.#entries.set(keyId(key), [key, value]);
  }

  /** @throws CelError the key is there already. */
  insert(key: CelValue, value: CelValue): void {
    const id = keyId(key);
    if (this.#entries.has(id))
      throw new CelError(`insert failed: key ${id.slice(1)} already exists`);
    this.#entries.set(id, [key, value]);
  }

  keys(): readonly CelValue[] {
    return [...this.#entries.values()].map(([key]) => key);
  }
}
