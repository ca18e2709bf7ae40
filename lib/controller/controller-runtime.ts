import type { Cache } from '../cache/cache.js';
import type { Client } from '../client/client.js';
import type { Fence } from '../client/fence.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { noMetrics } from '../system/metrics.js';
import type { Metrics } from '../system/metrics.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import { noTracer } from '../system/tracer.js';
import type { Tracer } from '../system/tracer.js';
import type { ControllerEventListener } from './controller-event.js';
import type { KeyOwnership } from './key-ownership.js';
import type { ControllerCluster } from './running-cluster.js';

/** What a controller runs with, wherever it runs. */
export interface ControllerSettings {
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
  /** @defaultValue drops everything */
  readonly metrics?: Metrics | undefined;
  /** One span for each reconcile, and for each request that it makes. @defaultValue none */
  readonly tracer?: Tracer | undefined;
  /** Stops the controller. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
  /** How long reconciles may go on after a stop, in milliseconds. @defaultValue 30_000 */
  readonly gracefulShutdownMs?: number | undefined;
  /** Begin to watch, but reconcile nothing before `activate`. @defaultValue false */
  readonly standby?: boolean | undefined;
  /** Told of what happens. @defaultValue nobody */
  readonly onEvent?: ControllerEventListener | undefined;
  /** Asked before each write of each reconcile. @defaultValue none: all may be written */
  readonly fence?: Fence | undefined;
  /** Which keys are reconciled here. @defaultValue all */
  readonly ownership?: KeyOwnership | undefined;
}

/** What a controller runs on: one cluster, which has no name. */
export interface ControllerRuntime extends ControllerSettings {
  /** Mostly a `cachedClient` of `cache`. */
  readonly client: Client;
  readonly cache: Cache;
}

/** What a controller runs on: several clusters at once, none at first if that is wanted. */
export interface MultiClusterRuntime extends ControllerSettings {
  /** No two may share a name. More can be added, and these removed, while it runs. */
  readonly clusters: readonly ControllerCluster[];
}

/** {@link ControllerSettings}, resolved, and the clusters. */
export interface ResolvedRuntime {
  readonly clusters: readonly ControllerCluster[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly signal: AbortSignal | undefined;
  readonly gracefulShutdownMs: number;
  readonly standby: boolean;
  /** undefined: what it would be told need not be made. */
  readonly onEvent: ControllerEventListener | undefined;
  readonly fence: Fence | undefined;
  readonly ownership: KeyOwnership | undefined;
}

/** Fills in the defaults. */
export function resolveRuntime(runtime: ControllerRuntime | MultiClusterRuntime): ResolvedRuntime {
  const { clock = systemClock, random = systemRandom, signal, fence, ownership } = runtime;
  const { logger = silentLogger, metrics = noMetrics, tracer = noTracer } = runtime;
  const { gracefulShutdownMs = 30_000, standby = false, onEvent } = runtime;
  const clusters =
    'clusters' in runtime
      ? runtime.clusters
      : [{ name: '', client: runtime.client, cache: runtime.cache }];
  return {
    ...{ clusters, clock, random, logger, metrics, tracer, signal, fence, ownership },
    ...{ gracefulShutdownMs, standby, onEvent },
  };
}
