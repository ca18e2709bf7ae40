import type { Cache } from '../cache/cache.js';
import type { Client } from '../client/client.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { noMetrics } from '../system/metrics.js';
import type { Metrics } from '../system/metrics.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { ControllerEventListener } from './controller-event.js';

/** What a controller runs on. */
export interface ControllerRuntime {
  /** Mostly a `cachedClient` of `cache`. */
  readonly client: Client;
  readonly cache: Cache;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
  /** @defaultValue drops everything */
  readonly metrics?: Metrics | undefined;
  /** Stops the controller. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
  /** How long reconciles may go on after a stop, in milliseconds. @defaultValue 30_000 */
  readonly gracefulShutdownMs?: number | undefined;
  /** Begin to watch, but reconcile nothing before `activate`. @defaultValue false */
  readonly standby?: boolean | undefined;
  /** Told of what happens. @defaultValue nobody */
  readonly onEvent?: ControllerEventListener | undefined;
}

/** {@link ControllerRuntime}, resolved. */
export interface ResolvedRuntime {
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal | undefined;
  readonly gracefulShutdownMs: number;
  readonly standby: boolean;
  readonly onEvent: ControllerEventListener;
}

/** Fills in the defaults. */
export function resolveRuntime(runtime: ControllerRuntime): ResolvedRuntime {
  const { client, cache, clock = systemClock, random = systemRandom, signal } = runtime;
  const { logger = silentLogger, metrics = noMetrics, onEvent = () => undefined } = runtime;
  const { gracefulShutdownMs = 30_000, standby = false } = runtime;
  return {
    ...{ client, cache, clock, random, logger, metrics, signal },
    ...{ gracefulShutdownMs, standby, onEvent },
  };
}
