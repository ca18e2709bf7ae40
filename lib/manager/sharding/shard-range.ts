import type { Hash64 } from './shard-hash.js';

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
