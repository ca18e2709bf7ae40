import { Cache } from '../cache/cache.js';
import type { CacheOptions } from '../cache/cache-options.js';
import { cachedClient } from '../cache/cached-client.js';
import type { CachedClient } from '../cache/cached-client.js';
import type { Client } from '../client/client.js';
import type { QuarantinedObject } from '../cache/quarantine.js';
import { fenced } from '../client/fenced.js';
import type { Fence } from '../client/fence.js';
import { EventRecorder } from '../events/event-recorder.js';
import { eventName } from '../events/new-event.js';
import type { ObjectEvent } from '../events/recorder.js';
import { hashObject } from '../hash/hash-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { withMetricLabels } from '../system/labelled-metrics.js';
import type { Metrics } from '../system/metrics.js';
import type { Random } from '../system/random.js';

/** What of which kinds a manager caches; see `CacheOptions` for each field. */
export type ManagerCacheOptions = Pick<
  CacheOptions,
  'types' | 'namespaces' | 'allNamespacesOf' | 'freeze' | 'streamingLists'
>;

/** A cluster that a manager's controllers work on. */
export interface ManagerCluster {
  /** Part of every key of it; unique in the manager, without a slash. */
  readonly name: string;
  /** Stays the caller's: the manager does not close it. */
  readonly client: Client;
  /** @defaultValue the manager's */
  readonly cacheOptions?: ManagerCacheOptions | undefined;
}

/** What the clusters of a manager share. */
export interface ManagedClusterParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly fence: Fence;
  readonly cacheOptions: ManagerCacheOptions;
}

/** One cluster of a manager: its clients and its cache. */
export class ManagedCluster {
  /** `''`: the only one. */
  readonly name: string;
  readonly cacheOptions: ManagerCacheOptions;
  /** As it was given: not fenced. */
  readonly given: Client;
  readonly cache: Cache;
  /** Reads the cache. Not fenced: controllers ask their fence themselves. */
  readonly unfenced: CachedClient;
  /** Reads the cache; its writes are fenced. */
  readonly client: CachedClient;
  #recorder: EventRecorder | undefined;

  constructor(cluster: ManagerCluster, parts: ManagedClusterParts) {
    const { name, client, cacheOptions = parts.cacheOptions } = cluster;
    const { clock, random, fence } = parts;
    const isNamed = name !== '';
    const logger = isNamed ? parts.logger.child({ cluster: name }) : parts.logger;
    const metrics = isNamed ? withMetricLabels(parts.metrics, { cluster: name }) : parts.metrics;
    this.name = name;
    this.cacheOptions = cacheOptions;
    this.given = client;
    const onQuarantined = (object: QuarantinedObject): void => {
      const controllerName = 'operator-builder';
      // Not fenced: sharded replicas and those of `phase: 'replica'` lead nothing, but reconcile.
      const options = { client, controllerName, clock, random, metrics, logger };
      this.#recorder ??= new EventRecorder(options);
      this.#recorder.record(quarantineEvent(object));
    };
    const reading = { client, clock, random, metrics, logger, onQuarantined };
    this.cache = new Cache({ ...cacheOptions, ...reading });
    this.unfenced = cachedClient(client, this.cache, { clock });
    this.client = cachedClient(fenced(client, fence), this.cache, { clock });
  }

  /** Ends its watches, and the events about what they showed. */
  async stop(): Promise<void> {
    await this.cache.stop();
    await this.#recorder?.stop();
  }

  /** What controllers run on. */
  get forControllers(): { readonly name: string; readonly client: Client; readonly cache: Cache } {
    return { name: this.name, client: this.unfenced, cache: this.cache };
  }
}

/** Named by what it reports: each replica quarantines the object, and one Event is enough. */
function quarantineEvent(object: QuarantinedObject): ObjectEvent {
  const { apiVersion, kind, namespace, name, uid, reason } = object;
  return {
    name: eventName(name, hashObject([apiVersion, kind, namespace, name, uid, reason])),
    regarding: { apiVersion, kind, namespace, name, uid },
    type: 'Warning',
    reason: 'Quarantined',
    action: 'Cache',
    note: `The operator can't read this object (${reason}); change or delete it`,
  };
}
