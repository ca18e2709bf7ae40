import type { CelType } from './types.js';

/**
 * A CEL value: `int` is a bigint, `double` a number, `bytes` a Uint8Array. Types without a JavaScript
 * equivalent are classes.
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

/** An evaluation fails: division by zero, a missing key, no such overload. */
export class CelError extends Error {
  override readonly name = 'CelError';
}

/** A `uint`: an unsigned 64-bit integer. */
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

/** A duration, in nanoseconds. */
export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** An optional: a value or nothing. */
export class CelOptional {
  static readonly none = new CelOptional(undefined);
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** A type as a value: the result of `type(x)`, and of names such as `int`. */
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

  /** @param isSame - compares the value with that of another object of the same type */
  constructor(typeName: string, value: T, isSame: (other: T) => boolean) {
    this.typeName = typeName;
    this.value = value;
    this.#isSame = isSame;
  }

  /** Returns whether another value of the same type is equal. */
  equals(other: CelOpaque): boolean {
    return this.#isSame(other.value as never);
  }
}

/** A list; `correlation` defines how lists of API objects are compared and concatenated. */
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

/** A map, or an API object. */
export interface CelMap {
  /** Distinguishes maps from other values. */
  readonly isMap: true;
  /** Returns undefined for a missing key. */
  get(key: CelValue): CelValue | undefined;
  keys(): readonly CelValue[];
  readonly size: number;
}

/** Returns whether a value is a map or an object. */
export function isMap(value: CelValue): value is CelMap {
  return typeof value === 'object' && value !== null && 'isMap' in value;
}

/** Returns the lookup key of a map entry: equal numbers of any type have the same one. */
export function keyId(key: CelValue): string {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (key instanceof CelUint) return `n${key.value}`;
  if (typeof key === 'number') return Number.isInteger(key) ? `n${BigInt(key)}` : `n${key}`;
  throw new CelError(`unsupported key type`);
}

/** A map created by an expression. */
export class CelDictionary implements CelMap {
  readonly isMap = true;
  readonly #entries = new Map<string, readonly [CelValue, CelValue]>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: CelValue): CelValue | undefined {
    return this.#entries.get(keyId(key))?.[1];
  }

  /** Sets an entry; the last one with a key wins. */
  set(key: CelValue, value: CelValue): void {
    this.#entries.set(keyId(key), [key, value]);
  }

  /** @throws CelError the key exists */
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
