import type { ReconcileKey } from '../../controller/index.js';
import { keyString } from '../../object/object-key.js';

/**
 * Number of equal slots of the 64-bit hash space; a power of two. Slots, not free ranges, move between
 * replicas: with up to 200 replicas, no share exceeds 1.2 times another.
 */
export const slotCount = 1024;

/** Hashes from `start` (inclusive) to `end` (exclusive): `0x` and 16 digits; the last range ends at 2^64. */
export interface ShardRange {
  readonly start: string;
  readonly end: string;
}

/** Returns the slot of a hash: its upper ten bits. */
export function slotOf({ high }: Hash64): number {
  return Math.floor(high / (2 ** 32 / slotCount));
}

/** Returns the ranges that `slots` (ascending) cover, with adjacent slots merged. */
export function rangesOf(slots: readonly number[]): readonly ShardRange[] {
  const ranges: { first: number; last: number }[] = [];
  for (const slot of slots) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === slot - 1) range.last = slot;
    else ranges.push({ first: slot, last: slot });
  }
  return ranges.map(({ first, last }) => ({ start: boundary(first), end: boundary(last + 1) }));
}

/**
 * Formats `ranges` for a server with KEP-5866 (`shardSelector` of a list or a watch; alpha in Kubernetes
 * 1.36, feature gate `ShardedListAndWatch`).
 */
export function shardSelector(
  ranges: readonly ShardRange[],
  field: 'object.metadata.namespace' | 'object.metadata.uid' = 'object.metadata.namespace',
): string {
  return ranges.map(({ start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(' || ');
}

function boundary(slot: number): string {
  const bits = 64n - BigInt(Math.log2(slotCount));
  return `0x${(BigInt(slot) << bits).toString(16).padStart(16, '0')}`;
}

/** A 64-bit hash as two unsigned halves; `bigint` would be fifty times slower. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/**
 * The part of a key that is hashed.
 *
 * `key`: cluster, namespace and name, mixed well: shares are even for any names.
 *
 * `namespace`: the namespace, hashed like `object.metadata.namespace` by a server with KEP-5866. All keys of
 * a namespace, and the objects that belong to them, fall to one replica, and a filtered watch would deliver
 * just those. Its FNV-1a hardly spreads names that differ at their end: with `tenant-0` to `tenant-999`, one
 * of three replicas gets no key. Cluster-scoped keys are hashed by `key`.
 *
 * The UID, KEP-5866's other choice, is not offered. A key has no UID before its object is known or after it
 * is deleted. A recreated object would move to another replica while the old one still cleans up. The UIDs of
 * children do not identify their owner.
 */
export type ShardBy = 'key' | 'namespace';

/** Returns the hash of `key`. The owner of the range that contains it owns the key. */
export function hashOfKey(key: ReconcileKey, by: ShardBy): Hash64 {
  const { namespace = '', cluster = '' } = key;
  if (by === 'namespace' && namespace !== '') return fnv1a64(namespace);
  const text = keyString(key);
  return mixed(fnv1a64(cluster === '' ? text : `${cluster}//${text}`));
}

const utf8 = new TextEncoder();

/** Returns the 64-bit FNV-1a hash of the UTF-8 of `text`, as in KEP-5866. */
export function fnv1a64(text: string): Hash64 {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of utf8.encode(text)) {
    low = (low ^ byte) >>> 0;
    // Multiplies by 2^40 + 0x1b3; each product stays below 2^53.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + low * 2 ** 8) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return { high, low };
}

/** Mixes all bits of the hash into the upper ones, which select the range. */
function mixed({ high, low }: Hash64): Hash64 {
  // Applies the 32-bit finisher of MurmurHash3 to each half, so that each depends on the other.
  const lower = finished(low ^ finished(high));
  return { high: finished(high ^ lower), low: lower };
}

function finished(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
