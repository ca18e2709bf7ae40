export type { ShardsOptions, ShardingStatus } from './sharding.js';
export type { ShardBy, ShardRange } from './assignment.js';
export type { MemberPhase } from './shard-machine.js';
export { shardSelector } from './assignment.js';
export { Sharding } from './sharding.js';
export type { ShardingOptions } from './sharding-options.js';
