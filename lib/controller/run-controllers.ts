import { Cache } from '../cache/cache.js';
import type { CacheOptions } from '../cache/cache-options.js';
import { cachedClient } from '../cache/cached-client.js';
import type { Client } from '../client/client.js';
import type { Logger } from '../system/logger.js';
import { silentLogger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import type { Controller } from './controller.js';
import type { ControllerRuntime } from './controller-runtime.js';

/** Options of {@link runControllers}. */
export interface RunControllersOptions extends Omit<ControllerRuntime, 'cache' | 'standby'> {
  readonly controllers: readonly Controller[];
  /** Reads and writes of the cache and of the reconcilers go through it. */
  readonly client: Client;
  /** What of which kinds is cached. @defaultValue everything of the kinds that are watched */
  readonly cacheOptions?: Pick<CacheOptions, 'types' | 'namespaces' | 'freeze' | 'streamingLists'>;
  /** Called once all controllers reconcile. */
  readonly onReady?: (() => void) | undefined;
}

/**
 * Runs controllers on one cache until `signal` is aborted: starts the cache, waits until it is
 * synced, starts the controllers; then, in reverse, lets their reconciles end (see
 * `gracefulShutdownMs`) and stops the cache. Resolves when nothing is left.
 * @throws OperatorError `InvalidOption`: two controllers share a name.
 */
export async function runControllers(options: RunControllersOptions): Promise<void> {
  const { controllers, client, cacheOptions = {}, signal, onReady, ...shared } = options;
  const { clock, random, metrics, logger = silentLogger } = shared;
  refuseDuplicates(controllers);
  const cache = new Cache({ ...cacheOptions, client, clock, random, metrics, logger });
  const cached = cachedClient(client, cache, { clock });
  const runtime = { ...shared, client: cached, cache };
  const running = controllers.map((controller) => controller.start(runtime));
  const ended = aborted(signal);
  cache.start();
  try {
    const active = Promise.all(running.map((controller) => controller.activate()));
    await Promise.race([active, ended]);
    if (signal?.aborted !== true) {
      reportParked(cache, logger);
      onReady?.();
    }
    await ended;
  } finally {
    await Promise.all(running.map((controller) => controller.stop()));
    await cache.stop();
  }
}

function refuseDuplicates(controllers: readonly Controller[]): void {
  const names = controllers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  const remedy = 'give one of them another with withOptions({ name })';
  throw new OperatorError('InvalidOption', `two controllers are called ${twice}: ${remedy}`);
}

function reportParked(cache: Cache, logger: Logger): void {
  for (const { parked, kind, apiVersion, problem } of cache.status()) {
    if (parked) logger.warn(`${kind} (${apiVersion}) is not served: waits for it`, { problem });
  }
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}
