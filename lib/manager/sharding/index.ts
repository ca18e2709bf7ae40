export type { ShardsOptions, ShardingStatus } from './sharding.js';
export type { ShardBy, ShardRange } from './shard-range.js';
export type { MemberPhase } from './shard-machine.js';
export { shardSelector } from './shard-range.js';
export { Sharding } from './sharding.js';
export type { ShardingOptions } from './sharding-options.js';
