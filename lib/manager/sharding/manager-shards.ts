import type { Client } from '../../client/client.js';
import { Lease } from '../../object/kinds.js';
import { OperatorError } from '../../system/operator-error.js';
import type { RequiredAccess } from '../access/required-access.js';
import type { LeaderElectionOptions, Leadership } from '../leadership.js';
import { Sharding } from './sharding.js';
import type { ShardingOptions } from './sharding-options.js';

/** What a manager fills in by itself. */
type OwnParts = 'client' | 'clock' | 'random' | 'logger' | 'metrics';

/** How the replicas of a manager share the keys of controllers. */
export interface ShardsOptions extends Omit<ShardingOptions, OwnParts | 'name' | 'namespace'> {
  /**
   * Reads and writes the Leases; one of its own, where the manager's has a rate limit.
   * @defaultValue that of the first cluster
   */
  readonly client?: Client | undefined;
  /** The group's name; all replicas have the same. @defaultValue that of `leaderElection` */
  readonly name?: string | undefined;
  /** The namespace of the Leases. @defaultValue that of `leaderElection` */
  readonly namespace?: string | undefined;
}

/** What of a manager's options decides about its shards. */
export interface ShardsWanted {
  readonly shards: ShardsOptions | undefined;
  readonly leaderElection: LeaderElectionOptions | Leadership | undefined;
}

/**
 * The membership of a manager, not begun yet; durations that are not given are those of the election.
 * @throws OperatorError `InvalidOption`: neither says where the Leases are, or an option is out of its
 * range.
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

/** What sharding needs. */
export function shardingAccess(namespace: string): readonly RequiredAccess[] {
  return [{ type: Lease, verbs: ['list', 'create', 'patch', 'delete'], namespace }];
}
