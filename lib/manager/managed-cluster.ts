import { Cache } from '../cache/cache.js';
import type { CacheOptions } from '../cache/cache-options.js';
import { cachedClient } from '../cache/cached-client.js';
import type { CachedClient } from '../cache/cached-client.js';
import type { Client } from '../client/client.js';
import type { ControllerCluster } from '../controller/index.js';
import type { QuarantinedObject } from '../cache/quarantine.js';
import { fenced } from '../client/fenced.js';
import type { Fence } from '../client/fence.js';
import { EventRecorder } from '../events/event-recorder.js';
import { eventName } from '../events/recorder.js';
import { silentRecorder } from '../events/recorder.js';
import type { ObjectEvent, Recorder } from '../events/recorder.js';
import { hashObject } from '../hash/hash-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { withMetricLabels } from '../system/labelled-metrics.js';
import type { Metrics } from '../system/metrics.js';
import type { Random } from '../system/random.js';
import { endRecorder } from './recorder-end.js';

/** Limits what a manager caches, by kind; see `CacheOptions` for each field. */
export type ManagerCacheOptions = Pick<
  CacheOptions,
  'types' | 'namespaces' | 'allNamespacesOf' | 'freeze' | 'streamingLists'
>;

/** A cluster that a manager's controllers work on. */
export interface ManagerCluster {
  /** Prefix of every key of the cluster; unique in the manager, without a slash. */
  readonly name: string;
  /** Owned by the caller: the manager does not close it. */
  readonly client: Client;
  /** @defaultValue the manager's */
  readonly cacheOptions?: ManagerCacheOptions | undefined;
}

/** Dependencies that the clusters of a manager share. */
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
  /** `''` for the only cluster. */
  readonly name: string;
  readonly cacheOptions: ManagerCacheOptions;
  /** The client as it was given, without a fence. */
  readonly given: Client;
  readonly cache: Cache;
  /** Reads the cache. Not fenced: controllers check the fence themselves. */
  readonly unfenced: CachedClient;
  /** Reads the cache; its writes are fenced. */
  readonly client: CachedClient;
  readonly #newRecorder: (controllerName: string) => EventRecorder;
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #clock: Clock;
  #hasStopped = false;

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
      this.recorder('operator-builder').record(quarantineEvent(object));
    };
    this.#clock = clock;
    // Not fenced: sharded replicas and those of `phase: 'replica'` reconcile without leading.
    this.#newRecorder = (controllerName) =>
      new EventRecorder({ client, controllerName, clock, random, metrics, logger });
    const reading = { client, clock, random, metrics, logger, onQuarantined };
    this.cache = new Cache({ ...cacheOptions, ...reading });
    this.unfenced = cachedClient(client, this.cache, { clock });
    this.client = cachedClient(fenced(client, fence), this.cache, { clock });
  }

  /**
   * Returns the recorder of Events about the cluster's objects; one recorder per reporter.
   * @throws OperatorError `InvalidOption`: `reportingController` is not a qualified name.
   */
  recorder(reportingController: string): Recorder {
    const known = this.#recorders.get(reportingController);
    if (known !== undefined) return known;
    if (this.#hasStopped) return silentRecorder;
    const recorder = this.#newRecorder(reportingController);
    this.#recorders.set(reportingController, recorder);
    return recorder;
  }

  /** Stops the cluster's watches. */
  async stop(): Promise<void> {
    await this.cache.stop();
  }

  /** Writes pending Events within a time limit, then stops the recorders. */
  async stopRecorders(): Promise<void> {
    this.#hasStopped = true;
    const recorders = [...this.#recorders.values()];
    await Promise.all(recorders.map((recorder) => endRecorder(recorder, this.#clock)));
  }

  /** View of the cluster for controllers. */
  get forControllers(): ControllerCluster {
    const { name, unfenced: client, cache } = this;
    return { name, client, cache, recorder: (reporter) => this.recorder(reporter) };
  }
}

/**
 * Returns the Event for a quarantined object. Its name is a hash of its content, so that all replicas
 * together record one Event.
 */
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
