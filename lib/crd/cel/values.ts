import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  sameType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from './types.js';
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
  readonly #value: CelValue | CelError | undefined;

  /** @param value - undefined for an empty optional; an error if the value does not fit its schema */
  constructor(value: CelValue | CelError | undefined) {
    this.#value = value;
  }

  get hasValue(): boolean {
    return this.#value !== undefined;
  }

  /** @throws CelError: the value does not fit its schema. */
  get value(): CelValue | undefined {
    if (this.#value instanceof CelError) throw this.#value;
    return this.#value;
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

/** A list; `correlation` defines how lists of API objects are compared and concatenated. Other lists lack it. */
export class CelList {
  readonly items: readonly CelValue[];
  readonly correlation: ListCorrelation | undefined;

  constructor(items: readonly CelValue[], correlation?: ListCorrelation) {
    this.items = items;
    this.correlation = correlation;
  }
}

/** The entries of a `set` or a `map` list have no order; those of a map list have keys. */
type ListCorrelation = 'atomic' | 'set' | { readonly keys: readonly string[] };

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

/** An object created by `Name{…}`. */
export class CelObject extends CelDictionary {
  readonly typeName: string;

  constructor(typeName: string) {
    super();
    this.typeName = typeName;
  }
}

const anyList = listType(dynType);
const anyMap = mapType(dynType, dynType);
const anyOptional = optionalType(dynType);

/** Returns the type of a value as `type(x)` does: lists and maps without type parameters. */
export function typeOf(value: CelValue): CelType {
  if (value === null) return nullType;
  if (typeof value === 'bigint') return intType;
  if (typeof value === 'number') return doubleType;
  if (typeof value === 'string') return stringType;
  if (typeof value === 'boolean') return boolType;
  if (value instanceof Uint8Array) return bytesType;
  if (value instanceof CelUint) return uintType;
  if (value instanceof CelTimestamp) return timestampType;
  if (value instanceof CelDuration) return durationType;
  if (value instanceof CelList) return anyList;
  if (value instanceof CelOptional) return anyOptional;
  if (value instanceof CelTypeValue) return typeType(dynType);
  if (value instanceof CelOpaque) return opaqueType(value.typeName);
  return anyMap;
}

/** Type names in messages. */
const runtimeNames: Readonly<Partial<Record<string, string>>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** Returns the text of `type(x)`. */
export function runtimeTypeName(value: CelValue): string {
  const { name } = typeOf(value);
  return runtimeNames[name] ?? name;
}

/** Returns whether a value can be an argument of a type. The elements of lists and maps are not checked. */
export function isOfType(value: CelValue, type: CelType): boolean {
  if (type.kind === 'dyn' || type.kind === 'param') return true;
  const own = typeOf(value);
  return own.kind === type.kind && own.name === type.name;
}

/** Returns whether two values are equal. Values of different types differ, except numbers. */
export function celEqual(one: CelValue, other: CelValue): boolean {
  const [left, right] = [numberOf(one), numberOf(other)];
  if (left !== undefined && right !== undefined) return left == right;
  if (one instanceof Uint8Array) return other instanceof Uint8Array && equalBytes(one, other);
  if (one instanceof CelTimestamp) {
    return other instanceof CelTimestamp && one.nanos === other.nanos;
  }
  if (one instanceof CelDuration) return other instanceof CelDuration && one.nanos === other.nanos;
  if (one instanceof CelList) return other instanceof CelList && equalLists(one, other);
  if (one instanceof CelOptional) return other instanceof CelOptional && equalOptionals(one, other);
  if (one instanceof CelTypeValue) {
    return other instanceof CelTypeValue && sameOuterType(one, other);
  }
  if (one instanceof CelOpaque) {
    return other instanceof CelOpaque && one.typeName === other.typeName && one.equals(other);
  }
  if (isMap(one)) return isMap(other) && equalMaps(one, other);
  return one === other;
}

function sameOuterType({ type: one }: CelTypeValue, { type: other }: CelTypeValue): boolean {
  if (one.kind === 'list' || one.kind === 'map') return one.kind === other.kind;
  return sameType(one, other);
}

/** Returns the number for an exact comparison: JavaScript compares a bigint and a number by value. */
function numberOf(value: CelValue): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof CelUint ? value.value : undefined;
}

function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function equalLists(one: CelList, other: CelList): boolean {
  if (one.items.length !== other.items.length) return false;
  const { correlation } = one;
  if (correlation === undefined || correlation === 'atomic') {
    return one.items.every((item, index) => celEqual(item, other.items[index] ?? null));
  }
  if (correlation === 'set') {
    return other.items.every((item) => one.items.some((own) => celEqual(own, item)));
  }
  return other.items.every((item) => {
    const own = one.items.find((candidate) => sameKeys(candidate, item, correlation.keys));
    return own !== undefined && celEqual(own, item);
  });
}

/** Returns whether two entries of a map list have the same keys. */
export function sameKeys(one: CelValue, other: CelValue, keys: readonly string[]): boolean {
  if (one === null || other === null || !isMap(one) || !isMap(other)) return false;
  return keys.every((key) => celEqual(one.get(key) ?? null, other.get(key) ?? null));
}

function equalMaps(one: CelMap, other: CelMap): boolean {
  if (one.size !== other.size) return false;
  return one.keys().every((key) => {
    const [left, right] = [one.get(key), other.get(key)];
    if (left === undefined || right === undefined) return left === right;
    return celEqual(left, right);
  });
}

function equalOptionals(one: CelOptional, other: CelOptional): boolean {
  if (!one.hasValue || !other.hasValue) return one.hasValue === other.hasValue;
  return celEqual(one.value ?? null, other.value ?? null);
}

/**
 * Compares two values of one type, or two numbers: negative, 0 or positive.
 * @throws CelError a value is NaN
 */
export function celCompare(one: CelValue, other: CelValue): number {
  if (Number.isNaN(one) || Number.isNaN(other)) throw new CelError('NaN values cannot be ordered');
  return celOrder(one, other);
}

/** Compares two values: negative, 0 or positive; 0 for NaN and for values that have no order. */
export function celOrder(one: CelValue, other: CelValue): number {
  const [left, right] = [numberOf(one), numberOf(other)];
  if (left !== undefined && right !== undefined) return order(left, right);
  if (typeof one === 'string' && typeof other === 'string') return compareText(one, other);
  if (typeof one === 'boolean' && typeof other === 'boolean') {
    return order(Number(one), Number(other));
  }
  if (one instanceof CelTimestamp && other instanceof CelTimestamp) {
    return order(one.nanos, other.nanos);
  }
  if (one instanceof CelDuration && other instanceof CelDuration) {
    return order(one.nanos, other.nanos);
  }
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other);
  return 0;
}

function order(one: bigint | number, other: bigint | number): number {
  if (one < other) return -1;
  return one > other ? 1 : 0;
}

/** Compares by code points: code units order emoji before some letters. */
function compareText(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
