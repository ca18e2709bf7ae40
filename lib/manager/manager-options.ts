import type { Client } from '../client/client.js';
import type { ControllerEventListener } from '../controller/controller-event.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { Tracer } from '../system/tracer.js';
import type { PreflightMode } from './access/preflight.js';
import type { RequiredAccess } from './access/required-access.js';
import { resolveHealthOptions } from './health/health-options.js';
import type { HealthOptions, ResolvedHealthOptions } from './health/health-options.js';
import { resolveInspectorOptions } from './inspector/index.js';
import type { InspectorOptions, ResolvedInspectorOptions } from './inspector/index.js';
import type { LeaderElectionOptions, Leadership } from './leadership.js';
import type { ManagerCacheOptions, ManagerCluster } from './managed-cluster.js';
import { resolveMetricsOptions } from './metrics/metrics-options.js';
import type { MetricsOptions, ResolvedMetricsOptions } from './metrics/metrics-options.js';
import type { ShardsOptions } from './sharding/index.js';
import type { WebhookServerOptions } from './webhooks/webhook-server.js';
import type { OptionNames } from '../system/known-options.js';

/** Options of `Manager`. */
export interface ManagerOptions {
  /** The cluster that the controllers work on. Give this or `clusters`; it stays the caller's. */
  readonly client?: Client | undefined;
  /** Reporter of the events of `manager.recorder`: a qualified name. @defaultValue 'operator-builder' */
  readonly name?: string | undefined;
  /** Several clusters, at least one; the first is home: leases, events and reviews go there. */
  readonly clusters?: readonly ManagerCluster[] | undefined;
  /** What of which kinds is cached. @defaultValue everything of the kinds that are watched */
  readonly cacheOptions?: ManagerCacheOptions | undefined;
  /** The Lease that replicas compete for. @defaultValue none: this process leads */
  readonly leaderElection?: LeaderElectionOptions | Leadership | undefined;
  /**
   * How replicas share the keys of controllers that are added with `shards: true`; `false`: they do not,
   * and such a controller runs on the leader.
   * @defaultValue a group with the name, the namespace and the durations of `leaderElection`
   */
  readonly shards?: ShardsOptions | false | undefined;
  /**
   * What a lost lease does: `fail`: `run` rejects, and the process should end; `standby`: the
   * controllers end at once, and this process is a candidate again. @defaultValue 'fail'
   */
  readonly whenLeadershipIsLost?: 'fail' | 'standby' | undefined;
  /** The server of `/healthz` and `/readyz`. @defaultValue false: none */
  readonly health?: HealthOptions | false | undefined;
  /** The metrics, and their server. @defaultValue false: none are kept */
  readonly metrics?: MetricsOptions | false | undefined;
  /** A page that shows what the manager is doing, to whoever reaches its port. @defaultValue false: none */
  readonly inspector?: InspectorOptions | false | undefined;
  /** Webhooks, and the certificate that they are served with. @defaultValue none */
  readonly webhooks?: ManagerWebhookOptions | undefined;
  /**
   * What is done about permissions that the operator lacks: they are asked for at the start, by
   * SelfSubjectAccessReviews of all clusters. @defaultValue 'warn'
   */
  readonly rbacPreflight?: PreflightMode | undefined;
  /**
   * What the operator does beside watching the kinds of its controllers, for the preflight; also an
   * option of `add`. @defaultValue nothing
   */
  readonly requires?: readonly RequiredAccess[] | undefined;
  /** One span for each reconcile and its requests. @defaultValue none */
  readonly tracer?: Tracer | undefined;
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

/** Options of the webhook server of a manager. */
export type ManagerWebhookOptions = Omit<WebhookServerOptions, 'clock' | 'logger' | 'metrics'>;

/** {@link ManagerOptions}, resolved. */
export interface ResolvedManagerOptions {
  readonly name: string;
  /** The first is home. */
  readonly clusters: readonly [ManagerCluster, ...ManagerCluster[]];
  readonly cacheOptions: ManagerCacheOptions;
  readonly leaderElection: LeaderElectionOptions | Leadership | undefined;
  readonly shards: ShardsOptions | false | undefined;
  readonly whenLeadershipIsLost: 'fail' | 'standby';
  readonly health: ResolvedHealthOptions | undefined;
  readonly metrics: ResolvedMetricsOptions | undefined;
  readonly inspector: ResolvedInspectorOptions | undefined;
  readonly webhooks: ManagerWebhookOptions | undefined;
  readonly rbacPreflight: PreflightMode;
  readonly requires: readonly RequiredAccess[];
  readonly tracer: Tracer | undefined;
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
  const { health = false, metrics = false, inspector = false, webhooks, tracer, shards } = options;
  const { name = 'operator-builder', rbacPreflight = 'warn', requires = [] } = options;
  const resolved = {
    clusters: clustersOf(options),
    health: health === false ? undefined : resolveHealthOptions(health),
    metrics: metrics === false ? undefined : resolveMetricsOptions(metrics),
    inspector: inspector === false ? undefined : resolveInspectorOptions(inspector),
    ...{ name, webhooks, rbacPreflight, requires, tracer, shards },
    ...{ leaderElection, cacheOptions, whenLeadershipIsLost, onEvent, clock, random, logger },
    ...durations,
  };
  const names = { ...resolved, client: true };
  refuseUnknownOptions<ManagerOptions>('Manager', options, names, misplaced);
  return resolved;
}

const toController = 'give it to the controller: .withOptions({ … })';
const toLeaderElection = 'give it to leaderElection: { … }';
const toCache = 'give it to cacheOptions: { … }';
const misplaced = {
  ...{ maxConcurrentReconciles: toController, reconcileTimeoutMs: toController },
  ...{ backoff: toController, hotLoop: toController },
  ...{ leaseDurationMs: toLeaderElection, renewDeadlineMs: toLeaderElection },
  ...{ retryPeriodMs: toLeaderElection, releaseOnCancel: toLeaderElection },
  ...{ types: toCache, namespaces: toCache, allNamespacesOf: toCache },
  ...{ freeze: toCache, streamingLists: toCache },
};

const clusterOptionNames: OptionNames<ManagerCluster> = {
  ...{ name: true, client: true, cacheOptions: true },
};

function clustersOf({ client, clusters }: ManagerOptions): ResolvedManagerOptions['clusters'] {
  if (client !== undefined && clusters !== undefined) throw invalid('give client or clusters');
  if (client !== undefined) return [{ name: '', client }];
  const [home, ...others] = clusters ?? [];
  if (home === undefined) throw invalid('client is missing');
  const names = new Set<string>();
  for (const { name } of [home, ...others]) {
    checkClusterName(name, names);
    names.add(name);
  }
  for (const cluster of [home, ...others]) {
    refuseUnknownOptions(`cluster ${cluster.name}`, cluster, clusterOptionNames);
  }
  return [home, ...others];
}

/** @throws OperatorError `InvalidOption`: the name is taken, empty, or has a slash. */
export function checkClusterName(name: string, taken: Pick<ReadonlySet<string>, 'has'>): void {
  if (taken.has(name)) throw invalid(`two clusters are called ${name}`);
  if (name === '' || name.includes('/')) throw invalid(`cluster name ${JSON.stringify(name)}`);
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `manager: ${what}`);
}
