import type { Metrics } from '../../system/metrics.js';

/** Values of {@link ShardMetrics}. */
export interface ShardFigures {
  /** Share of all hashes that this process owns, from 0 to 1. */
  readonly share: number;
  readonly members: readonly string[];
  readonly epoch: number;
}

/** The metrics of one group. */
export interface ShardMetrics {
  update(figures: ShardFigures): void;
  /** Resets the values when this process is no longer a member. */
  forget(): void;
}

/** Registers the metrics of the group `name`. */
export function shardMetrics(metrics: Metrics, name: string): ShardMetrics {
  const gauge = (metric: string, help: string) => {
    const made = metrics.gauge({
      name: `operator_builder_shards_${metric}`,
      help,
      labelNames: ['name'],
    });
    return (value: number): void => made.set(value, { name });
  };
  const share = gauge('owned_share', 'Share of all keys that this replica owns, from 0 to 1.');
  const members = gauge('members', 'Replicas that share the keys, as this one sees it.');
  const epoch = gauge('epoch', 'Epoch of the assignment that this replica saw last.');
  const update = (figures: ShardFigures): void => {
    share(figures.share);
    members(figures.members.length);
    epoch(figures.epoch);
  };
  return { update, forget: () => update({ share: 0, members: [], epoch: 0 }) };
}
