import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { dateIn, isZeroTimestamp } from '../times.js';
import {
  CelDuration,
  CelError,
  CelList,
  CelOptional,
  CelTimestamp,
  CelUint,
  isMap,
} from '../values.js';
import type { CelValue } from '../values.js';
import { memberOf, optionalMember } from '../operators.js';

const parts: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDayOfYear: dayOfYear,
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDate: (date) => date.getUTCDate(),
  getDayOfWeek: (date) => date.getUTCDay(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

/** Returns the day of the year, from 0 to 365. */
function dayOfYear(date: Date): number {
  const newYear = new Date(0);
  newYear.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - newYear.getTime()) / 86_400_000);
}

const units: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

export const timeFunctions: readonly Declaration[] = [
  ...Object.entries(parts).flatMap(([name, part]) => [
    declare(`timestamp.${name}(): int`, (time: CelTimestamp) => BigInt(part(dateIn(time)))),
    declare(`timestamp.${name}(string): int`, (time: CelTimestamp, zone: string) =>
      BigInt(part(dateIn(time, zone))),
    ),
  ]),
  ...Object.entries(units).map(([name, unit]) =>
    declare(`duration.${name}(): int`, ({ nanos }: CelDuration) => nanos / unit),
  ),
];

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelTimestamp) return isZeroTimestamp(value);
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelList) return value.items.length === 0;
  return typeof value === 'object' && isMap(value) && value.size === 0;
}

function valueOf({ value }: CelOptional): CelValue {
  if (value === undefined) throw new CelError('optional.none() dereference');
  return value;
}

/** Functions on optionals. Programs evaluate the argument of `or` and `orValue` only if there is no value. */
export const optionalFunctions: readonly Declaration[] = [
  declare('optional::of(V): optional<V>', (value: CelValue) => new CelOptional(value)),
  declare('optional::ofNonZeroValue(V): optional<V>', (value: CelValue) =>
    isZero(value) ? CelOptional.none : new CelOptional(value),
  ),
  declare('optional::none(): optional<V>', () => CelOptional.none),
  declare('optional::unwrap(list<optional<V>>): list<V>', unwrap),
  declare('list<optional<V>>.unwrapOpt(): list<V>', unwrap),
  declare('optional<V>.value(): V', valueOf),
  declare('optional<V>.hasValue(): bool', ({ hasValue }: CelOptional) => hasValue),
  declare('optional<V>.or(optional<V>): optional<V>', (one: CelOptional) => one),
  declare('optional<V>.orValue(V): V', valueOf),
  declare('_[?_](list<V>,int): optional<V>', optionalMember),
  declare('_[?_](optional<list<V>>,int): optional<V>', optionalMember),
  declare('_[?_](map<K,V>,K): optional<V>', optionalMember),
  declare('_[?_](optional<map<K,V>>,K): optional<V>', optionalMember),
  declare('_[_](optional<list<V>>,int): optional<V>', memberOf),
  declare('_[_](optional<map<K,V>>,K): optional<V>', memberOf),
];

function unwrap({ items }: CelList): CelList {
  return new CelList(
    items.flatMap((one) =>
      one instanceof CelOptional && one.value !== undefined ? [one.value] : [],
    ),
  );
}
