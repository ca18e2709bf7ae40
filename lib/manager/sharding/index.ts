export type { ShardsOptions } from './manager-shards.js';
export type { ShardBy } from './shard-hash.js';
export type { MemberPhase } from './shard-machine.js';
export { shardSelector } from './shard-range.js';
export type { ShardRange } from './shard-range.js';
export { Sharding } from './sharding.js';
export type { ShardingStatus } from './sharding.js';
export type { ShardingOptions } from './sharding-options.js';
