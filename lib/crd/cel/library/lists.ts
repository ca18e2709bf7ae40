import {
  celEqual,
  celOrder,
  CelDuration,
  CelError,
  CelList,
  CelOptional,
  CelUint,
  typeOf,
} from '../values.js';
import { checkedInt, checkedUint } from '../operators.js';
import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { checkedDuration } from '../times.js';
import type { CelValue } from '../values.js';

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

/** Returns whether the type of a value has an order. */
function isComparable(value: CelValue): boolean {
  return comparable.includes(typeOf(value).kind);
}

/** Returns the items of a list. @throws CelError an item has a type without an order, such as a map. */
function comparables(name: string, { items }: CelList): readonly CelValue[] {
  if (items.every(isComparable)) return items;
  throw new CelError(`no such overload: ${name}(list)`);
}

function isSorted(list: CelList): boolean {
  return comparables('isSorted', list).every((item, index, items) => {
    const before = items[index - 1];
    return before === undefined || celOrder(before, item) <= 0;
  });
}

function extreme(name: string, better: 1 | -1): (list: CelList) => CelValue {
  return (list) => {
    const [first, ...rest] = comparables(name, list);
    if (first === undefined) throw new CelError(`${name} called on empty list`);
    return rest.reduce((best, item) => (celOrder(item, best) === better ? item : best), first);
  };
}

function sort({ items }: CelList): CelList {
  return sortedByKeys(items.map((item) => [item, item]));
}

export function sortedByKeys(keyed: readonly (readonly [key: CelValue, value: CelValue])[]) {
  const [first] = keyed;
  if (first !== undefined && !isComparable(first[0])) {
    throw new CelError('list elements must be comparable');
  }
  const types = new Set(keyed.map(([key]) => typeOf(key).kind));
  if (types.size > 1) throw new CelError('list elements must have the same type');
  const sorted = keyed.toSorted(([one], [other]) => celOrder(one, other));
  return new CelList(sorted.map(([, value]) => value));
}

function distinct({ items }: CelList): CelList {
  const kept: CelValue[] = [];
  for (const item of items) if (!kept.some((one) => celEqual(one, item))) kept.push(item);
  return new CelList(kept);
}

function slice({ items }: CelList, start: bigint, end: bigint): CelList {
  const refuse = (why: string): never => {
    throw new CelError(`cannot slice(${start}, ${end}), ${why}`);
  };
  if (start < 0n || end < 0n) refuse('negative indexes not supported');
  if (start > end) refuse('start index must be less than or equal to end index');
  if (end > BigInt(items.length)) refuse(`list is length ${items.length}`);
  return new CelList(items.slice(Number(start), Number(end)));
}

function flatten(list: CelList, depth = 1n): CelList {
  if (depth < 0n) throw new CelError('level must be non-negative');
  const items = list.items.flatMap((item) =>
    item instanceof CelList && depth > 0n ? flatten(item, depth - 1n).items : [item],
  );
  return new CelList(items);
}

const contains = (list: CelList, other: CelList): boolean =>
  other.items.every((item) => list.items.some((own) => celEqual(own, item)));

type Numbers = CelList & { readonly items: readonly never[] };

function sum<T>(list: CelList, start: T, add: (total: T, item: never) => T): T {
  return (list as Numbers).items.reduce(add, start);
}

function range(count: bigint): CelList {
  if (count > 1_000_000n) throw new CelError('operation cancelled: actual cost limit exceeded');
  return new CelList(Array.from({ length: Math.max(0, Number(count)) }, (_, n) => BigInt(n)));
}

/** List functions of Kubernetes, of CEL's lists and sets extensions, and of optionals. */
export const listFunctions: readonly Declaration[] = [
  ...comparable.flatMap((type) => [
    declare(`list<${type}>.isSorted(): bool`, isSorted),
    declare(`list<${type}>.max(): ${type}`, extreme('max', 1)),
    declare(`list<${type}>.min(): ${type}`, extreme('min', -1)),
    declare(`list<${type}>.sort(): list<${type}>`, sort),
  ]),
  declare('list<int>.sum(): int', (list: CelList) =>
    sum(list, 0n, (total, item: bigint) => checkedInt(total + item)),
  ),
  declare('list<uint>.sum(): uint', (list: CelList) =>
    sum(list, new CelUint(0n), (total, item: CelUint) => checkedUint(total.value + item.value)),
  ),
  declare('list<double>.sum(): double', (list: CelList) =>
    sum(list, 0, (total, item: number) => total + item),
  ),
  declare('list<duration>.sum(): duration', (list: CelList) =>
    sum(list, new CelDuration(0n), (total, item: CelDuration) =>
      checkedDuration(total.nanos + item.nanos),
    ),
  ),
  declare('list<A>.indexOf(A): int', ({ items }: CelList, wanted: CelValue) =>
    BigInt(items.findIndex((item) => celEqual(item, wanted))),
  ),
  declare('list<A>.lastIndexOf(A): int', ({ items }: CelList, wanted: CelValue) =>
    BigInt(items.findLastIndex((item) => celEqual(item, wanted))),
  ),
  declare('list<A>.slice(int,int): list<A>', slice),
  declare('list<list<A>>.flatten(): list<A>', flatten),
  declare('list<dyn>.flatten(int): list<dyn>', flatten),
  declare('list<A>.reverse(): list<A>', (list: CelList) => new CelList(list.items.toReversed())),
  declare('list<A>.distinct(): list<A>', distinct),
  declare('lists::range(int): list<int>', range),
  declare('list<A>.first(): optional<A>', (list: CelList) => new CelOptional(list.items[0])),
  declare('list<A>.last(): optional<A>', (list: CelList) => new CelOptional(list.items.at(-1))),
  declare('sets::contains(list<A>,list<A>): bool', contains),
  declare('sets::equivalent(list<A>,list<A>): bool', (list: CelList, other: CelList) => {
    return contains(list, other) && contains(other, list);
  }),
  declare('sets::intersects(list<A>,list<A>): bool', (list: CelList, other: CelList) =>
    list.items.some((item) => other.items.some((one) => celEqual(item, one))),
  ),
];
