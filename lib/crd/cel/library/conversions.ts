import { goDouble } from '../go.js';
import { checkedInt, checkedUint } from '../operators.js';
import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { durationText, parseDuration, timestampFrom, timestampText } from '../times.js';
import { typeOf, CelDuration, CelError, CelTypeValue, CelUint } from '../values.js';
import type { CelMap, CelValue, CelList, CelTimestamp } from '../values.js';

function unreadable(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

function intOf(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw unreadable('string', 'int');
  const value = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, value) !== value) throw unreadable('string', 'int');
  return value;
}

function uintOf(text: string): CelUint {
  if (!/^\d+$/.test(text) || BigInt(text) >= 2n ** 64n) throw unreadable('string', 'uint');
  return new CelUint(BigInt(text));
}

const doubleForm = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)$/i;

function doubleOf(text: string): number {
  if (!doubleForm.test(text)) throw unreadable('string', 'double');
  if (/nan/i.test(text)) return NaN;
  if (/inf/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const value = Number(text);
  if (!Number.isFinite(value)) throw unreadable('string', 'double');
  return value;
}

function boolOf(text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  throw unreadable('string', 'bool');
}

function truncated(value: number): bigint {
  if (!Number.isFinite(value)) throw new CelError('integer overflow');
  return BigInt(Math.trunc(value));
}

/** Doubles are imprecise near the limits of the range, so the limits themselves are rejected. */
function intOfDouble(value: number): bigint {
  if (value <= -(2 ** 63) || value >= 2 ** 63) throw new CelError('integer overflow');
  return checkedInt(truncated(value));
}

function uintOfDouble(value: number): CelUint {
  if (!(value >= 0) || value >= 2 ** 64) throw new CelError('unsigned integer overflow');
  return checkedUint(truncated(value));
}

function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function durationOf(text: string): CelDuration {
  const duration = parseDuration(text);
  if (duration === undefined) throw unreadable('string', 'google.protobuf.Duration');
  return duration;
}

function timestampOf(text: string): CelTimestamp {
  const time = timestampFrom(text);
  if (time === undefined) throw unreadable('string', 'google.protobuf.Timestamp');
  return time;
}

const same = (value: CelValue): CelValue => value;
const size = (list: CelList): bigint => BigInt(list.items.length);
const mapSize = (map: CelMap): bigint => BigInt(map.size);
const textSize = (text: string): bigint => BigInt(Array.from(text).length);
const byteSize = (bytes: Uint8Array): bigint => BigInt(bytes.length);
const second = 1_000_000_000n;

/** Conversions between types, and `size`. */
export const conversions: readonly Declaration[] = [
  declare('dyn(A): dyn', same),
  declare('type(A): type<A>', (value: CelValue) => new CelTypeValue(typeOf(value))),
  declare('bool(bool): bool', same),
  declare('bool(string): bool', boolOf),
  declare('bytes(bytes): bytes', same),
  declare('bytes(string): bytes', (text: string) => new TextEncoder().encode(text)),
  declare('double(double): double', same),
  declare('double(int): double', Number),
  declare('double(string): double', doubleOf),
  declare('double(uint): double', ({ value }: CelUint) => Number(value)),
  declare('int(int): int', same),
  declare('int(double): int', intOfDouble),
  declare('int(duration): int', ({ nanos }: CelDuration) => nanos),
  declare('int(string): int', intOf),
  declare('int(timestamp): int', ({ nanos }: CelTimestamp) => {
    return (nanos - (((nanos % second) + second) % second)) / second;
  }),
  declare('int(uint): int', ({ value }: CelUint) => checkedInt(value)),
  declare('uint(uint): uint', same),
  declare('uint(double): uint', uintOfDouble),
  declare('uint(int): uint', checkedUint),
  declare('uint(string): uint', uintOf),
  declare('string(string): string', same),
  declare('string(bool): string', String),
  declare('string(bytes): string', textOfBytes),
  declare('string(double): string', goDouble),
  declare('string(int): string', String),
  declare('string(uint): string', ({ value }: CelUint) => String(value)),
  declare('string(duration): string', durationText),
  declare('string(timestamp): string', timestampText),
  declare('duration(duration): duration', same),
  declare('duration(int): duration', (nanos: bigint) => new CelDuration(nanos)),
  declare('duration(string): duration', durationOf),
  declare('timestamp(timestamp): timestamp', same),
  declare('timestamp(int): timestamp', (seconds: bigint) => timestampFrom(seconds) ?? null),
  declare('timestamp(string): timestamp', timestampOf),
  declare('size(bytes): int', byteSize),
  declare('bytes.size(): int', byteSize),
  declare('size(list<A>): int', size),
  declare('list<A>.size(): int', size),
  declare('size(map<A,B>): int', mapSize),
  declare('map<A,B>.size(): int', mapSize),
  declare('size(string): int', textSize),
  declare('string.size(): int', textSize),
];
