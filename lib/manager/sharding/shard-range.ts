import type { Hash64 } from './shard-hash.js';

/**
 * Into how many equal slots the 64-bit hashes are divided: a power of two. Slots, not free ranges, go
 * from replica to replica: with up to 200 replicas none has more than 1.2 times what another has.
 */
export const slotCount = 1024;

/** Hashes from `start` up to, and not including, `end`: `0x` and 16 digits; the last ends at 2^64. */
export interface ShardRange {
  readonly start: string;
  readonly end: string;
}

/** The slot that a hash falls into: its upper ten bits. */
export function slotOf({ high }: Hash64): number {
  return Math.floor(high / (2 ** 32 / slotCount));
}

/** The ranges that `slots` (ascending) cover, those that touch made one. */
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
 * `ranges` as a server with KEP-5866 takes them (`shardSelector` of a list or a watch; alpha in
 * Kubernetes 1.36, feature gate `ShardedListAndWatch`).
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
