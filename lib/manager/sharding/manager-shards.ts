import type { Client } from '../../client/client.js';
import { Lease } from '../../object/kinds.js';
import { OperatorError } from '../../system/operator-error.js';
import type { RequiredAccess } from '../access/required-access.js';
import type { LeaderElectionOptions, Leadership } from '../leader-election.js';
import { Sharding } from './sharding.js';
import type { ShardingOptions } from './sharding-options.js';

/** Options that a manager sets itself. */
type OwnParts = 'client' | 'clock' | 'random' | 'logger' | 'metrics';

/** Options for sharing the keys of controllers over the replicas of a manager. */
export interface ShardsOptions extends Omit<ShardingOptions, OwnParts | 'name' | 'namespace'> {
  /**
   * Reads and writes the Leases. Use a separate client if the manager's has a rate limit.
   * @defaultValue that of the first cluster
   */
  readonly client?: Client | undefined;
  /** Name of the group; the same for all replicas. @defaultValue that of `leaderElection` */
  readonly name?: string | undefined;
  /** Namespace of the Leases. @defaultValue that of `leaderElection` */
  readonly namespace?: string | undefined;
}

/** The options of a manager that configure its shards. */
export interface ShardsWanted {
  readonly shards: ShardsOptions | undefined;
  readonly leaderElection: LeaderElectionOptions | Leadership | undefined;
}

/**
 * Returns the membership of a manager, not started yet. Durations default to those of the election.
 * @throws OperatorError `InvalidOption`: the name or namespace of the Leases is unknown, or an option is out
 * of its range.
 */
export function shardingOf(
  { shards = {}, leaderElection }: ShardsWanted,
  parts: Pick<ShardingOptions, OwnParts>,
): Sharding {
  const isElection = leaderElection !== undefined && !('run' in leaderElection);
  const election: Partial<LeaderElectionOptions> = isElection ? leaderElection : {};
  const { name = election.name, namespace = election.namespace } = shards;
  if (name === undefined || namespace === undefined) {
    const remedy = "give the manager's shards a name and a namespace";
    throw new OperatorError('InvalidOption', `where are the Leases of the shards? ${remedy}`);
  }
  const { client = election.client ?? parts.client, identity = election.identity } = shards;
  const {
    leaseDurationMs = election.leaseDurationMs,
    renewDeadlineMs = election.renewDeadlineMs,
    retryPeriodMs = election.retryPeriodMs,
    ...rest
  } = shards;
  const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  return new Sharding({ ...rest, ...parts, ...times, client, identity, name, namespace });
}

/** Returns the access that sharding needs. */
export function shardingAccess(namespace: string): readonly RequiredAccess[] {
  return [{ type: Lease, verbs: ['list', 'create', 'patch', 'delete'], namespace }];
}
