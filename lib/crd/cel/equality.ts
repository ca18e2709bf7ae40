import {
  CelDuration,
  CelError,
  CelList,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  isMap,
} from './values.js';
import type { CelMap, CelValue } from './values.js';
import { sameType } from './types.js';

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
  if (correlation === 'atomic') {
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
  if (one.value === undefined || other.value === undefined) return one.value === other.value;
  return celEqual(one.value, other.value);
}

/**
 * Compares two values: negative, 0 or positive.
 * @throws CelError the values have no order
 */
export function celCompare(one: CelValue, other: CelValue): number {
  const [left, right] = [numberOf(one), numberOf(other)];
  if (left !== undefined && right !== undefined) {
    if (Number.isNaN(left) || Number.isNaN(right)) {
      throw new CelError('NaN values cannot be ordered');
    }
    return order(left, right);
  }
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
  throw new CelError('no such overload');
}

function order(one: bigint | number, other: bigint | number): number {
  if (one < other) return -1;
  return one > other ? 1 : 0;
}

/** Compares by code points: code units order emoji before some letters. */
function compareText(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
