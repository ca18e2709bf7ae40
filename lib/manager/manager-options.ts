import type { Client } from '../client/client.js';
import type { ControllerEventListener } from '../controller/controller-event.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import { soleLeadership } from './leadership.js';
import type { Leadership } from './leadership.js';
import type { ManagerCacheOptions, ManagerCluster } from './managed-cluster.js';

/** Options of `Manager`. */
export interface ManagerOptions {
  /** The cluster that the controllers work on. Give this or `clusters`; it stays the caller's. */
  readonly client?: Client | undefined;
  /** Several clusters, at least one; the first is home: leases, events and reviews go there. */
  readonly clusters?: readonly ManagerCluster[] | undefined;
  /** What of which kinds is cached. @defaultValue everything of the kinds that are watched */
  readonly cacheOptions?: ManagerCacheOptions | undefined;
  /** @defaultValue none: this process leads */
  readonly leaderElection?: Leadership | undefined;
  /**
   * What a lost lease does: `fail`: `run` rejects, and the process should end; `standby`: the
   * controllers end at once, and this process is a candidate again. @defaultValue 'fail'
   */
  readonly whenLeadershipIsLost?: 'fail' | 'standby' | undefined;
  /** Told of every reconcile and hot loop of every controller. @defaultValue nobody */
  readonly onEvent?: ControllerEventListener | undefined;
  /** How long reconciles and runnables may go on after a stop, in milliseconds. @defaultValue 30_000 */
  readonly gracefulShutdownMs?: number | undefined;
  /**
   * How long servers and webhooks have to become ready, in milliseconds; `Infinity`: no limit.
   * @defaultValue 120_000
   */
  readonly startTimeoutMs?: number | undefined;
  /**
   * How long caches have to be filled first, in milliseconds, before `run` rejects.
   * @defaultValue Infinity: readyz says what is missing, and all goes on once it is there
   */
  readonly cacheSyncTimeoutMs?: number | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
}

/** {@link ManagerOptions}, resolved. */
export interface ResolvedManagerOptions {
  readonly clusters: readonly ManagerCluster[];
  readonly cacheOptions: ManagerCacheOptions;
  readonly leadership: Leadership;
  readonly isElected: boolean;
  readonly whenLeadershipIsLost: 'fail' | 'standby';
  readonly onEvent: ControllerEventListener | undefined;
  readonly gracefulShutdownMs: number;
  readonly startTimeoutMs: number;
  readonly cacheSyncTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is missing, out of its range, or contradicts another.
 */
export function resolveManagerOptions(options: ManagerOptions): ResolvedManagerOptions {
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  const { cacheOptions = {}, leaderElection, whenLeadershipIsLost = 'fail', onEvent } = options;
  const { gracefulShutdownMs = 30_000, startTimeoutMs = 120_000 } = options;
  const { cacheSyncTimeoutMs = Infinity } = options;
  const durations = { gracefulShutdownMs, startTimeoutMs, cacheSyncTimeoutMs };
  for (const [name, value] of Object.entries(durations)) {
    if (!(value >= 0)) throw invalid(`${name} ${value}: want 0 or more`);
  }
  return {
    clusters: clustersOf(options),
    leadership: leaderElection ?? soleLeadership(),
    isElected: leaderElection !== undefined,
    ...{ cacheOptions, whenLeadershipIsLost, onEvent, clock, random, logger },
    ...durations,
  };
}

function clustersOf({ client, clusters }: ManagerOptions): readonly ManagerCluster[] {
  if (client !== undefined && clusters !== undefined) throw invalid('give client or clusters');
  if (client !== undefined) return [{ name: '', client }];
  if (clusters === undefined || clusters.length === 0) throw invalid('client is missing');
  const names = new Set<string>();
  for (const { name } of clusters) {
    if (names.has(name)) throw invalid(`two clusters are called ${name}`);
    if (name === '' || name.includes('/')) throw invalid(`cluster name ${JSON.stringify(name)}`);
    names.add(name);
  }
  return clusters;
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `manager: ${what}`);
}
