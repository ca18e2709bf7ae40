import {
  celCompare,
  celEqual,
  sameKeys,
  runtimeTypeName,
  CelError,
  CelList,
  CelOptional,
  CelUint,
  isMap,
  keyId,
} from './values.js';
import { goDouble } from './go.js';
import { declare } from './overload.js';
import type { Declaration } from './overload.js';
import { checkedDuration, checkedTimestamp } from './times.js';
import type { CelValue, CelDuration, CelTimestamp } from './values.js';

/** Returns the number if it fits 64 bits. @throws CelError */
export function checkedInt(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError('integer overflow');
  return value;
}

/** Returns the number if it fits 64 unsigned bits. @throws CelError */
export function checkedUint(value: bigint): CelUint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError('unsigned integer overflow');
  return new CelUint(value);
}

/** Evaluates `X + Y`; merges the entries of sets and map lists. */
export function addLists(one: CelList, other: CelList): CelList {
  const { correlation } = one;
  if (correlation === undefined || correlation === 'atomic') {
    return new CelList([...one.items, ...other.items], correlation);
  }
  const items = [...one.items];
  for (const item of other.items) {
    const index = items.findIndex((own) =>
      correlation === 'set' ? celEqual(own, item) : sameKeys(own, item, correlation.keys),
    );
    if (index < 0) items.push(item);
    else if (correlation !== 'set') items[index] = item;
  }
  return new CelList(items, correlation);
}

/** Evaluates `X[key]` and `X.key`; the result of an optional is optional. @throws CelError no such member */
export function memberOf(container: CelValue, key: CelValue): CelValue {
  if (container instanceof CelOptional) return optionalMember(container, key);
  const member = memberAt(container, key);
  if (member instanceof CelError) throw member;
  if (member !== undefined) return member;
  const problem = container instanceof CelList ? 'index out of bounds' : 'no such key';
  throw new CelError(`${problem}: ${keyText(key)}`);
}

/** Evaluates `X[?key]` and `X.?key`. @throws CelError the key has an unsupported type */
export function optionalMember(container: CelValue, key: CelValue): CelOptional {
  const value = container instanceof CelOptional ? container.value : container;
  return value === undefined ? CelOptional.none : new CelOptional(memberAt(value, key));
}

/** Returns an error in place of a member that exists but cannot be read; undefined for a missing member. */
function memberAt(container: CelValue, key: CelValue): CelValue | CelError | undefined {
  if (container instanceof CelList) {
    const item = container.items[indexOf(key)];
    // The lists in an API object accept only an `int` as index.
    const isReadable = container.correlation === undefined || typeof key === 'bigint';
    if (item === undefined || isReadable) return item;
    return new CelError(`unsupported index: ${keyText(key)}`);
  }
  return container !== null && isMap(container) ? container.get(key) : undefined;
}

/** Returns the numeric value of a list index. @throws CelError it is not a whole number of 64 bits */
function indexOf(index: CelValue): number {
  if (typeof index === 'bigint') return Number(index);
  const value = index instanceof CelUint ? Number(index.value) : index;
  if (typeof value !== 'number') {
    throw new CelError(`unsupported index type '${runtimeTypeName(index)}' in list`);
  }
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return value;
  const shown = index instanceof CelUint ? index.value : goDouble(value);
  throw new CelError(`unsupported index value ${shown} in list`);
}

/** Returns a key as messages print it. */
function keyText(key: CelValue): string {
  return keyId(key).slice(1);
}

function isIn(value: CelValue, container: CelValue): boolean {
  if (container instanceof CelList) return container.items.some((item) => celEqual(item, value));
  if (isMap(container)) return container.get(value) !== undefined;
  throw new CelError('no such overload');
}

function divide(one: bigint, other: bigint): bigint {
  if (other === 0n) throw new CelError('division by zero');
  return one / other;
}

function modulo(one: bigint, other: bigint): bigint {
  if (other === 0n) throw new CelError('modulus by zero');
  return one % other;
}

const numbers = ['int', 'uint', 'double'] as const;
const ordered = ['bool', 'string', 'bytes', 'timestamp', 'duration'] as const;

function comparison(name: string, holds: (order: number) => boolean): Declaration[] {
  const pairs = [
    ...numbers.flatMap((one) => numbers.map((other) => `${one},${other}`)),
    ...ordered.map((one) => `${one},${one}`),
  ];
  return pairs.map((pair) =>
    declare(`${name}(${pair}): bool`, (one: CelValue, other: CelValue) =>
      holds(celCompare(one, other)),
    ),
  );
}

type Int = bigint;

/** The operators of CEL, except those that may skip operands (`&&`, `||`, `?:`). */
export const operators: readonly Declaration[] = [
  declare('_==_(A,A): bool', celEqual),
  declare('_!=_(A,A): bool', (one: CelValue, other: CelValue) => !celEqual(one, other)),
  ...comparison('_<_', (order) => order < 0),
  ...comparison('_<=_', (order) => order <= 0),
  ...comparison('_>_', (order) => order > 0),
  ...comparison('_>=_', (order) => order >= 0),
  declare('_+_(int,int): int', (one: Int, other: Int) => checkedInt(one + other)),
  declare('_+_(uint,uint): uint', (a: CelUint, b: CelUint) => checkedUint(a.value + b.value)),
  declare('_+_(double,double): double', (one: number, other: number) => one + other),
  declare('_+_(string,string): string', (one: string, other: string) => one + other),
  declare('_+_(bytes,bytes): bytes', (one: Uint8Array, other: Uint8Array) =>
    Uint8Array.from([...one, ...other]),
  ),
  declare('_+_(list<A>,list<A>): list<A>', addLists),
  declare('_+_(duration,duration): duration', (one: CelDuration, other: CelDuration) =>
    checkedDuration(one.nanos + other.nanos),
  ),
  declare('_+_(timestamp,duration): timestamp', (one: CelTimestamp, other: CelDuration) =>
    checkedTimestamp(one.nanos + other.nanos),
  ),
  declare('_+_(duration,timestamp): timestamp', (one: CelDuration, other: CelTimestamp) =>
    checkedTimestamp(one.nanos + other.nanos),
  ),
  declare('_-_(int,int): int', (one: Int, other: Int) => checkedInt(one - other)),
  declare('_-_(uint,uint): uint', (a: CelUint, b: CelUint) => checkedUint(a.value - b.value)),
  declare('_-_(double,double): double', (one: number, other: number) => one - other),
  declare('_-_(duration,duration): duration', (one: CelDuration, other: CelDuration) =>
    checkedDuration(one.nanos - other.nanos),
  ),
  declare('_-_(timestamp,duration): timestamp', (one: CelTimestamp, other: CelDuration) =>
    checkedTimestamp(one.nanos - other.nanos),
  ),
  declare('_-_(timestamp,timestamp): duration', (one: CelTimestamp, other: CelTimestamp) =>
    checkedDuration(one.nanos - other.nanos),
  ),
  declare('_*_(int,int): int', (one: Int, other: Int) => checkedInt(one * other)),
  declare('_*_(uint,uint): uint', (a: CelUint, b: CelUint) => checkedUint(a.value * b.value)),
  declare('_*_(double,double): double', (one: number, other: number) => one * other),
  declare('_/_(int,int): int', (one: Int, other: Int) => checkedInt(divide(one, other))),
  declare('_/_(uint,uint): uint', (a: CelUint, b: CelUint) =>
    checkedUint(divide(a.value, b.value)),
  ),
  declare('_/_(double,double): double', (one: number, other: number) => one / other),
  declare('_%_(int,int): int', (one: Int, other: Int) => {
    // cel-go reports an overflow for the lowest int modulo -1, although the remainder is 0.
    if (other === -1n) checkedInt(-one);
    return modulo(one, other);
  }),
  declare('_%_(uint,uint): uint', (a: CelUint, b: CelUint) =>
    checkedUint(modulo(a.value, b.value)),
  ),
  declare('!_(bool): bool', (value: boolean) => !value),
  declare('-_(int): int', (value: Int) => checkedInt(-value)),
  declare('-_(double): double', (value: number) => -value),
  declare('@in(A,list<A>): bool', isIn),
  declare('@in(A,map<A,B>): bool', isIn),
  declare('_[_](list<A>,int): A', memberOf),
  declare('_[_](map<A,B>,A): B', memberOf),
];
