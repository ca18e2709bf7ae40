import type { Client } from '../client/index.js';
import type { ControllerEventListener } from '../controller/index.js';
import {
  systemClock,
  silentLogger,
  refuseNonNumbers,
  refuseUnknownOptions,
  OperatorError,
  systemRandom,
} from '../system/index.js';
import type { Clock, Logger, Random, Resolved, Tracer } from '../system/index.js';
import type { PreflightMode } from './access/preflight.js';
import { checkRequiredAccess } from './access/required-access.js';
import type { RequiredAccess } from './access/required-access.js';
import { resolveHealthOptions } from './manager-health.js';
import type { HealthOptions, ResolvedHealthOptions } from './manager-health.js';
import { resolveInspectorOptions } from './inspector/index.js';
import type { InspectorOptions, ResolvedInspectorOptions } from './inspector/index.js';
import type { LeaderElectionOptions, Leadership } from './leader-election.js';
import type { ManagerCacheOptions, ManagerCluster } from './managed-cluster.js';
import { resolveMetricsOptions } from './metrics/bind-metrics.js';
import type { MetricsOptions, ResolvedMetricsOptions } from './metrics/bind-metrics.js';
import type { ShardsOptions } from './sharding/index.js';
import type { WebhookServerOptions } from './webhooks/webhook-server.js';

/** Options of `Manager`. */
export interface ManagerOptions {
  /** The cluster that the controllers work on; give this or `clusters`. The caller closes the client. */
  readonly client?: Client | undefined;
  /** Reporter of the Events of `manager.recorder`; a qualified name. @defaultValue 'operator-builder' */
  readonly name?: string | undefined;
  /** Several clusters, at least one. The first one also has the Leases, Events and access reviews. */
  readonly clusters?: readonly ManagerCluster[] | undefined;
  /** Limits what is cached, by kind. @defaultValue all objects of the watched kinds */
  readonly cacheOptions?: ManagerCacheOptions | undefined;
  /** The Lease for leader election. @defaultValue none: this process leads */
  readonly leaderElection?: LeaderElectionOptions | Leadership | undefined;
  /**
   * How the replicas share the keys of controllers that are added with `shards: true`. With `false`, such a controller
   * runs on the leader.
   * @defaultValue a group with the name, the namespace and the durations of `leaderElection`
   */
  readonly shards?: ShardsOptions | false | undefined;
  /**
   * Reaction to a lost lease. `fail`: `run` rejects, and the process should exit. `standby`: the controllers
   * stop at once, and this process becomes a candidate again. @defaultValue 'fail'
   */
  readonly whenLeadershipIsLost?: 'fail' | 'standby' | undefined;
  /** Server of `/healthz` and `/readyz`. @defaultValue false: no server */
  readonly health?: HealthOptions | false | undefined;
  /** Metrics and their server. @defaultValue false: no metrics */
  readonly metrics?: MetricsOptions | false | undefined;
  /**
   * A page that shows the manager's state to every client that reaches its port. @defaultValue false: no page
   */
  readonly inspector?: InspectorOptions | false | undefined;
  /** Webhooks and their serving certificate. @defaultValue none */
  readonly webhooks?: ManagerWebhookOptions | undefined;
  /**
   * Reaction to missing permissions. The manager checks them at the start with SelfSubjectAccessReviews in
   * all clusters. @defaultValue 'warn'
   */
  readonly rbacPreflight?: PreflightMode | undefined;
  /**
   * Access that the operator needs besides watching the kinds of its controllers, for the preflight. Also an
   * option of `add`. @defaultValue nothing
   */
  readonly requires?: readonly RequiredAccess[] | undefined;
  /** Records one span for each reconcile and its requests. @defaultValue none */
  readonly tracer?: Tracer | undefined;
  /** Called with every reconcile and hot loop of every controller. @defaultValue no listener */
  readonly onEvent?: ControllerEventListener | undefined;
  /** Time for reconciles and runnables to end after a stop, in milliseconds. @defaultValue 30_000 */
  readonly gracefulShutdownMs?: number | undefined;
  /**
   * Time for servers and webhooks to become ready, in milliseconds; `Infinity`: no limit.
   * @defaultValue 120_000
   */
  readonly startTimeoutMs?: number | undefined;
  /**
   * Time for the first sync of the caches, in milliseconds, before `run` rejects.
   * @defaultValue Infinity: readyz lists what is missing, and the start continues once it is there
   */
  readonly cacheSyncTimeoutMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Draws random delays and unique names, in all parts of the manager. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

/** Options of the webhook server of a manager. */
export type ManagerWebhookOptions = Omit<WebhookServerOptions, 'clock' | 'logger' | 'metrics'>;

export interface ResolvedManagerOptions extends Resolved<
  Omit<ManagerOptions, 'client' | 'clusters' | 'health' | 'metrics' | 'inspector'>,
  'leaderElection' | 'shards' | 'webhooks' | 'tracer' | 'onEvent'
> {
  /** The first cluster also has the Leases and the manager's own objects. */
  readonly clusters: readonly [ManagerCluster, ...ManagerCluster[]];
  readonly health: ResolvedHealthOptions | undefined;
  readonly metrics: ResolvedMetricsOptions | undefined;
  readonly inspector: ResolvedInspectorOptions | undefined;
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
  refuseNonNumbers('manager', durations);
  for (const [name, value] of Object.entries(durations)) {
    if (!(value >= 0)) throw invalid(`${name} ${value}: want 0 or more`);
  }
  const { health = false, metrics = false, inspector = false, webhooks, tracer, shards } = options;
  const { name = 'operator-builder', rbacPreflight = 'warn', requires = [] } = options;
  checkRequiredAccess(requires);
  // Plain JavaScript can pass other strings, and users may read these options from environment variables.
  refuseOtherText('whenLeadershipIsLost', whenLeadershipIsLost, ['fail', 'standby']);
  refuseOtherText('rbacPreflight', rbacPreflight, ['off', 'warn', 'fail']);
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
  refuseUnknownOptions<ManagerOptions>('Manager', options, names, misplacedManagerOptions);
  return resolved;
}

const toController = 'give it to the controller: .withOptions({ … })';
const toLeaderElection = 'give it to leaderElection: { … }';
const toCache = 'give it to cacheOptions: { … }';

/** Remedies for options that a manager does not take, by name. */
export const misplacedManagerOptions = {
  ...{ maxConcurrentReconciles: toController, reconcileTimeoutMs: toController },
  ...{ backoff: toController, hotLoop: toController },
  ...{ leaseDurationMs: toLeaderElection, renewDeadlineMs: toLeaderElection },
  ...{ retryPeriodMs: toLeaderElection, releaseOnCancel: toLeaderElection },
  ...{ types: toCache, namespaces: toCache, allNamespacesOf: toCache },
  ...{ freeze: toCache, streamingLists: toCache },
};

function clustersOf({ client, clusters }: ManagerOptions): ResolvedManagerOptions['clusters'] {
  if (client !== undefined && clusters !== undefined)
    throw invalid('want client or clusters, not both');
  if (client !== undefined) return [{ name: '', client }];
  const [home, ...others] = clusters ?? [];
  if (home === undefined) throw invalid('client is missing; give client, or clusters');
  const names = new Set<string>();
  for (const { name } of [home, ...others]) {
    checkClusterName(name, names);
    names.add(name);
  }
  for (const cluster of [home, ...others]) {
    const names = { name: true, client: true, cacheOptions: true };
    refuseUnknownOptions<ManagerCluster>(`cluster ${cluster.name}`, cluster, names);
  }
  return [home, ...others];
}

/** @throws OperatorError `InvalidOption`: the name is taken, empty, or has a slash. */
export function checkClusterName(name: string, taken: Pick<ReadonlySet<string>, 'has'>): void {
  if (taken.has(name))
    throw invalid(`two clusters are called ${name}; give one of them another name`);
  if (name === '' || name.includes('/'))
    throw invalid(
      `cluster name: want a name that is not empty and has no slash, got ${JSON.stringify(name)}`,
    );
}

function refuseOtherText(option: string, text: string, known: readonly string[]): void {
  if (known.includes(text)) return;
  throw invalid(`${option} ${JSON.stringify(text)}: want ${known.join(', ')}`);
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `manager: ${what}`);
}
