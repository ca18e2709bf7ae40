import { hostname } from 'node:os';
import type { Client } from '../../client/index.js';
import { dns1123LabelProblem } from '../../object/index.js';
import {
  systemClock,
  silentLogger,
  noMetrics,
  refuseNonNumbers,
  refuseUnknownOptions,
  OperatorError,
  systemRandom,
} from '../../system/index.js';
import type { Clock, Logger, Metrics, Random, Resolved } from '../../system/index.js';
import { refuseTimes } from '../leader-election-options.js';
import type { ShardBy } from './assignment.js';

/** Options of {@link Sharding}. */
export interface ShardingOptions {
  /**
   * Reads and writes the Leases; it needs `list`, `create`, `patch` and `delete` on `leases`. Do not pass a
   * fenced client, or one with a shared rate limit: renewals must not wait behind other requests.
   */
  readonly client: Client;
  /** Name of the group; the same for all replicas. A DNS label of at most 50 characters. */
  readonly name: string;
  /** Namespace of the Leases; the same for all replicas. */
  readonly namespace: string;
  /** The part of a key that selects its owner; the same for all replicas. @defaultValue 'key' */
  readonly by?: ShardBy | undefined;
  /** Identity of this process in its Lease; informational. @defaultValue host name */
  readonly identity?: string | undefined;
  /**
   * Time without a renewal after which other replicas take over the slots of a replica, in milliseconds. More
   * than `renewDeadlineMs`, and at most 2,147,483,647,000. @defaultValue 15_000
   */
  readonly leaseDurationMs?: number | undefined;
  /**
   * Time for which a replica may write after the start of its last successful renewal, in milliseconds. More than 1.2
   * times `retryPeriodMs`. @defaultValue 10_000
   */
  readonly renewDeadlineMs?: number | undefined;
  /**
   * Interval at which a replica renews its Lease and lists the others, in milliseconds, more than 0.
   * @defaultValue 2_000
   */
  readonly retryPeriodMs?: number | undefined;
  /**
   * Time for reconciles of keys that move to another replica before they are aborted, in milliseconds, 0 or
   * more. @defaultValue 10_000
   */
  readonly drainMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Generates the random end of the name of this member's Lease. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** Registers `operator_builder_shards_owned_share`, `_members` and `_epoch`. @defaultValue none */
  readonly metrics?: Metrics | undefined;
}

/** {@link ShardingOptions} with every default filled in. */
export type ResolvedShardingOptions = Resolved<ShardingOptions>;

/** @throws OperatorError `InvalidOption`: an option is missing, out of its range, or contradicts another. */
export function resolveShardingOptions(options: ShardingOptions): ResolvedShardingOptions {
  const { client, name, namespace, by = 'key', identity = hostname() } = options;
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const { drainMs = 10_000, clock = systemClock, random = systemRandom } = options;
  const { logger = silentLogger, metrics = noMetrics } = options;
  const names = { name, namespace };
  for (const [option, text] of Object.entries(names)) {
    const problem = dns1123LabelProblem(text);
    if (problem !== undefined) throw invalid(`${option}: ${problem}`);
  }
  if (name.length > 50) throw invalid(`name ${name}: want 50 characters at most`);
  if (!['key', 'namespace'].includes(by)) throw invalid(`by ${by}: want key or namespace`);
  if (identity === '') throw invalid('identity must not be empty');
  const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs, drainMs };
  refuseNonNumbers('sharding', { drainMs });
  // The negated comparison also rejects NaN.
  if (!(drainMs >= 0)) throw invalid(`drainMs ${drainMs}: want 0 or more`);
  refuseTimes('sharding', times);
  const resolved = {
    ...{ client, name, namespace, by, identity, ...times },
    ...{ clock, random, logger, metrics },
  };
  refuseUnknownOptions<ShardingOptions>('sharding', options, resolved);
  return resolved;
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `sharding: ${what}`);
}
