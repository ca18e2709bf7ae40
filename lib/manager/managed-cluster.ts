import type { CacheOptions, CachedClient, QuarantinedObject } from '../cache/index.js';
import { Cache, cachedClient } from '../cache/index.js';
import type { Client, Fence } from '../client/index.js';
import { fenced } from '../client/index.js';
import type { ControllerCluster } from '../controller/index.js';
import { EventRecorder, eventName, silentRecorder } from '../events/index.js';
import type { ObjectEvent, Recorder } from '../events/index.js';
import { hashObject } from '../hash/index.js';
import { sleep, withMetricLabels, OperatorError } from '../system/index.js';
import type { Clock, Metrics } from '../system/index.js';
import { checkClusterName } from './manager-options.js';
import type { ResolvedManagerOptions } from './manager-options.js';
import { endRecorder } from './runnable.js';

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
  /** Limits what the manager caches of the cluster. @defaultValue the manager's */
  readonly cacheOptions?: ManagerCacheOptions | undefined;
}

/** Dependencies that the clusters of a manager share. */
export interface ManagedClusterParts extends Pick<
  ResolvedManagerOptions,
  'clock' | 'random' | 'logger' | 'cacheOptions'
> {
  readonly metrics: Metrics;
  readonly fence: Fence;
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
    // Not fenced: sharded controllers, and controllers with `phase: 'replica'`, reconcile without leading.
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

/** The clusters of a manager. */
export class ManagerClusters {
  readonly #clusters = new Map<string, ManagedCluster>();
  /** Clusters that are being removed. */
  readonly #leaving = new Map<string, { cluster: ManagedCluster; ended: Promise<void> }>();
  readonly #indexes: ((cache: Cache) => void)[] = [];

  /**
   * Active clusters by name. The first one also has the Leases and the manager's own objects. The map changes
   * as clusters are added and removed.
   */
  get byName(): ReadonlyMap<string, ManagedCluster> {
    return this.#clusters;
  }

  /** All clusters, including those that are being removed. */
  get all(): readonly ManagedCluster[] {
    const leaving = [...this.#leaving.values()].map(({ cluster }) => cluster);
    return [...this.#clusters.values(), ...leaving];
  }

  /**
   * @throws OperatorError `InvalidOption`: the name is taken or invalid. A name stays taken while its cluster
   * is being removed; otherwise reconciles of both clusters would overlap.
   */
  checkName(name: string): void {
    checkClusterName(name, this.#clusters);
    if (!this.#leaving.has(name)) return;
    const message = `cluster ${name} is being removed: wait until removeCluster() has resolved`;
    throw new OperatorError('InvalidOption', `manager: ${message}`);
  }

  add(cluster: ManagedCluster): void {
    for (const declareIn of this.#indexes) declareIn(cluster.cache);
    this.#clusters.set(cluster.name, cluster);
  }

  /** Declares an index in the cache of every cluster, including clusters added later. */
  index(declareIn: (cache: Cache) => void): void {
    for (const { cache } of this.#clusters.values()) declareIn(cache);
    this.#indexes.push(declareIn);
  }

  /** Removes a cluster that no controller has started to use. */
  drop({ name }: ManagedCluster): void {
    this.#clusters.delete(name);
  }

  /**
   * Removes a cluster; its name stays taken until `leave` has settled. A repeated call waits for the first
   * one. An unknown name is not an error.
   */
  async remove(name: string, leave: (cluster: ManagedCluster) => Promise<void>): Promise<void> {
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) {
      await this.#leaving.get(name)?.ended;
      return;
    }
    this.#clusters.delete(name);
    const ended = leave(cluster).finally(() => this.#leaving.delete(name));
    this.#leaving.set(name, { cluster, ended });
    await ended;
  }

  /** Resolves when all removals have ended, even if they failed. */
  async left(): Promise<void> {
    await Promise.allSettled([...this.#leaving.values()].map(({ ended }) => ended));
  }
}

/**
 * Resolves when the caches of the first cluster have synced. It does not wait for unserved kinds.
 * @throws OperatorError `Aborted`: `cacheSyncTimeoutMs` is over.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function homeCachesSynced(
  home: ManagedCluster | undefined,
  options: Pick<ResolvedManagerOptions, 'cacheSyncTimeoutMs' | 'clock' | 'logger'>,
  signal: AbortSignal,
): Promise<void> {
  const { cacheSyncTimeoutMs: ms, clock } = options;
  const over = new AbortController();
  const waiting = AbortSignal.any([signal, over.signal]);
  const synced = home?.cache.waitForSync(waiting, { parked: 'pass' });
  const late = ms === Infinity ? undefined : sleep(clock, ms, waiting);
  void late?.then(
    () => over.abort(new OperatorError('Timeout', `caches: not synced after ${ms} ms`)),
    () => undefined,
  );
  try {
    await synced;
  } finally {
    over.abort();
  }
  for (const { parked, kind, apiVersion, problem } of home?.cache.status() ?? []) {
    if (!parked) continue;
    options.logger.warn(
      `the server does not serve ${kind} (${apiVersion}); its controllers wait for it`,
      { problem },
    );
  }
}
