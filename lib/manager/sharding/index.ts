/*
 * Sharding: each replica reconciles its own share of the keys, and each key has one replica at a time.
 *
 *   Leases ──► shard-store.ts ──► events ──► shard-machine.ts ──► commands ──► sharding.ts ──► owned keys
 *
 * Read `assignment.ts` (slots of keys and who owns them), `member-lease.ts` (Leases and messages), then the
 * protocol without input or output: `shard-machine.ts`, with `possession.ts` (own slots) and
 * `shard-leader.ts` (assigns slots).
 */
export type { ShardsOptions, ShardingStatus } from './sharding.js';
export { Sharding } from './sharding.js';
export type { ShardingOptions } from './sharding-options.js';
