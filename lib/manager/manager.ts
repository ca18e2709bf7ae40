import type { Cache, CachedClient, Indexer } from '../cache/index.js';
import { ChangeNotifier } from '../cache/index.js';
import type { Client } from '../client/index.js';
import { isConnected } from '../client/index.js';
import type { Controller } from '../controller/index.js';
import type { Recorder } from '../events/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import type { Clock, Logger, Metrics } from '../system/index.js';
import { checkedMetrics, refuseUnknownOptions, OperatorError } from '../system/index.js';
import {
  checkRequiredAccess,
  controllerAccess,
  mergedAccess,
  watchVerbs,
} from './access/required-access.js';
import { neededAccess } from './access/preflight.js';
import type { RequiredAccess } from './access/required-access.js';
import { resolveHealthOptions, ManagerHealth } from './manager-health.js';
import type { HealthCheck } from './manager-health.js';
import { RecentReconciles, bindInspector } from './inspector/index.js';
import { LateMetrics, bindMetrics, postsOf } from './metrics/bind-metrics.js';
import { eventAccess } from './runnable.js';
import { electionAccess, leadershipOf } from './leader-election.js';
import type { Leadership } from './leader-election.js';
import { ManagedCluster, ManagerClusters } from './managed-cluster.js';
import type { ManagerCluster } from './managed-cluster.js';
import { ManagerEntries, refuseOther, managerStatus } from './manager-entries.js';
import type {
  Added,
  ManagerAddOptions,
  ManagerEntry,
  ManagerPhase,
  ManagerStatus,
} from './manager-entries.js';
import { resolveManagerOptions } from './manager-options.js';
import type { ManagerOptions, ResolvedManagerOptions } from './manager-options.js';
import { ManagerRun, untilSignal } from './manager-run.js';
import { metricsAccess } from './metrics/reviewed-access.js';
import type { Runnable } from './runnable.js';
import { shardingAccess, shardingOf } from './sharding/sharding.js';
import type { Sharding } from './sharding/index.js';
import { WebhookServer } from './webhooks/webhook-server.js';

/**
 * Runs controllers and their dependencies as one process.
 *
 * ## Flow
 * Servers listen, webhooks answer, caches sync, and the components of every replica start. Once this process
 * leads, the leader's controllers reconcile. A stop reverses the order: reconciles have `gracefulShutdownMs`
 * to end, the lease is released, then caches and servers stop.
 *
 * ## Guarantees
 * - A standby process has synced caches: after a fail-over it reconciles at once.
 * - When `run` has ended, no timer, socket, watch or listener is left.
 *
 * ## Caveats
 * - A manager runs once; create a new one to start again.
 *
 * @example
 * ```ts
 * const manager = new Manager({ client: await defaultClient(), health: {}, metrics: {} });
 * manager.add(controllerFor(ConfigMap).complete(async () => done()));
 * await manager.runUntilSignal();
 * ```
 */
export class Manager {
  readonly #late = new LateMetrics();
  readonly #metrics = checkedMetrics(this.#late);
  readonly #options: ResolvedManagerOptions;
  readonly #clusters = new ManagerClusters();
  readonly #leadership: Leadership;
  readonly #home: ManagedCluster;
  readonly #entries = new ManagerEntries();
  readonly #changes = new ChangeNotifier();
  readonly #indexed: RequiredAccess[] = [];
  /** For each cluster, a function that ends the counting of the requests of its client. */
  readonly #counting = new Map<ManagedCluster, () => void>();
  readonly #health: ManagerHealth;
  #sharding: Sharding | undefined;
  #run: ManagerRun | undefined;
  #isOver = false;

  /**
   * @throws OperatorError `InvalidOption`: an option is missing, out of its range, or contradicts another.
   */
  constructor(options: ManagerOptions) {
    this.#options = resolveManagerOptions(options);
    const { clusters, webhooks, clock, random, logger } = this.#options;
    const { health = resolveHealthOptions({}) } = this.#options;
    const { metrics } = this;
    const [home] = clusters;
    const election = { client: home.client, clock, random, logger, metrics };
    this.#leadership = leadershipOf(this.#options.leaderElection, election);
    this.#home = this.#newCluster(home);
    for (const cluster of clusters.slice(1)) this.#newCluster(cluster);
    const status = (): ManagerStatus => this.status();
    this.#health = new ManagerHealth({ options: health, status, clock, logger, metrics });
    if (this.#options.health !== undefined) this.add(this.#health.newServer());
    if (webhooks !== undefined) this.add(new WebhookServer({ ...webhooks, clock, metrics }));
  }

  /** Registry for the metrics of all components; you may add your own. */
  get metrics(): Metrics {
    return this.#metrics;
  }

  /** The clock of all components; virtual in tests. */
  get clock(): Clock {
    return this.#options.clock;
  }

  /** The logger of the manager. */
  get logger(): Logger {
    return this.#options.logger;
  }

  /** Reads the cache of the first cluster; refuses writes while this process does not lead. */
  get client(): CachedClient {
    return this.#home.client;
  }

  /** Reads the server of the first cluster; refuses writes while this process does not lead. */
  get liveClient(): Client {
    return this.#home.client.live;
  }

  /** @internal The first cluster's client as it was given: its writes do not require leadership. */
  get givenClient(): Client {
    return this.#home.given;
  }

  /** The cache of the first cluster; it runs from the start to the end of `run`. */
  get cache(): Cache {
    return this.#home.cache;
  }

  /**
   * Returns the recorder of Events about objects of the first cluster; one recorder per name. It stops after
   * the controllers and writes pending Events first. Its access is part of `requiredAccess`.
   * @param controllerName - the reporter; a qualified name such as `shop-operator`
   * @throws OperatorError `InvalidOption`: the name is not a qualified name.
   */
  eventRecorder(controllerName: string): Recorder {
    const recorder = this.#home.recorder(controllerName);
    this.#entries.writesEvents = true;
    return recorder;
  }

  /** The manager's own recorder, with its `name` as reporter; see {@link Manager.eventRecorder}. */
  get recorder(): Recorder {
    return this.eventRecorder(this.#options.name);
  }

  /**
   * Declares an index of a kind for all clusters, including those added later. The kind is cached, and
   * `client.list(type, { index: { [name]: value } })` finds its objects in reconciles and with
   * {@link Manager.client}. The client's own writes are visible at once.
   * @throws OperatorError `InvalidOption`: another index of the kind has the name.
   * @throws OperatorError `Stopped`: the manager has stopped.
   *
   * @example
   * ```ts
   * manager.index(Pod, 'node', (pod) => [pod.spec?.nodeName]);
   * const { items } = await manager.client.list(Pod, { index: { node: 'n1' } });
   * ```
   */
  index<T extends KubernetesObject>(
    type: TypeReference<T>,
    name: string,
    indexer: Indexer<T>,
  ): void {
    this.#refuseWhenOver(`index ${name} of ${type.kind}`);
    this.#clusters.index((cache) => cache.index(type, name, indexer));
    this.#indexed.push({ type, verbs: watchVerbs });
  }

  /** The manager's lifecycle phase. */
  get phase(): ManagerPhase {
    return this.#run?.phase ?? 'new';
  }

  /**
   * Adds a controller or a runnable. If the manager runs, the item starts at once or with its phase.
   * @throws OperatorError `InvalidOption`: the name is taken, maybe by an item that is still being removed,
   * or the options do not fit.
   * @throws OperatorError `Stopped`: the manager has stopped.
   */
  add(item: Controller | Runnable, options: ManagerAddOptions = {}): Added {
    refuseOther(item);
    const { phase = 'leader', requires = [], shards = false } = options;
    const names = { phase, requires, shards };
    refuseUnknownOptions<ManagerAddOptions>(`manager.add ${item.name}`, options, names);
    checkRequiredAccess(requires);
    this.#refuseWhenOver(`add ${item.name}`);
    if (shards) this.#share(item.name, options);
    const isShared = shards && this.#sharding !== undefined;
    const entry: ManagerEntry =
      'run' in item
        ? { type: 'runnable', runnable: item, requires }
        : { type: 'controller', controller: item, phase: isShared ? 'shards' : phase, requires };
    this.#entries.add(entry);
    this.#run?.add(entry);
    return {
      name: item.name,
      remove: (graceMs = this.#options.gracefulShutdownMs) =>
        this.#entries.delete(entry, () => this.#run?.remove(entry, graceMs)),
    };
  }

  /**
   * Adds a cluster to every controller.
   * @throws OperatorError `InvalidOption`: the name is invalid or taken, maybe by a cluster that is being
   * removed; or the manager was created with `client`.
   * @throws OperatorError `Stopped`: the manager has stopped.
   * @throws the error of a controller that can't watch the cluster; then no controller uses the cluster.
   */
  addCluster(cluster: ManagerCluster): void {
    this.#refuseWhenOver(`addCluster ${cluster.name}`);
    this.#clusters.checkName(cluster.name);
    if (this.#home.name === '') {
      const remedy = 'create the manager with clusters instead of client';
      const message = `addCluster ${cluster.name}: the manager has only one cluster; ${remedy}`;
      throw new OperatorError('InvalidOption', message);
    }
    const managed = this.#newCluster(cluster);
    try {
      this.#run?.addCluster(managed);
      if (this.#run !== undefined) this.#countRequestsOf(managed);
    } catch (error) {
      this.#clusters.drop(managed);
      throw error;
    }
  }

  /**
   * Removes a cluster from every controller; resolves when no reconcile of it is running. Reconciles have
   * `graceMs` milliseconds to end (default: the manager's `gracefulShutdownMs`). The cluster's name is free
   * and its metrics are removed once the promise resolves. An unknown name is not an error.
   * @throws OperatorError `InvalidOption`: it is the first cluster, which holds the leases.
   */
  async removeCluster(
    name: string,
    graceMs: number = this.#options.gracefulShutdownMs,
  ): Promise<void> {
    if (name === this.#home.name) {
      const message = `removeCluster ${name}: the first cluster can't be removed, because it holds the Leases of the manager`;
      throw new OperatorError('InvalidOption', message);
    }
    await this.#clusters.remove(name, async (cluster) => {
      await this.#run?.removeCluster(cluster, graceMs);
      this.#counting.get(cluster)?.();
      this.#counting.delete(cluster);
    });
  }

  /**
   * Adds a check of `/healthz`: if it fails, the kubelet restarts the process.
   * @returns a function that removes the check
   * @throws OperatorError `InvalidOption`: the name is taken, or is not a path segment.
   */
  addHealthCheck(check: HealthCheck): () => void {
    return this.#health.healthz.add(check);
  }

  /**
   * Adds a check of `/readyz`: if it fails, Services send the Pod no requests.
   * @returns a function that removes the check
   * @throws OperatorError `InvalidOption`: the name is taken, or is not a path segment.
   */
  addReadyCheck(check: HealthCheck): () => void {
    return this.#health.readyz.add(check);
  }

  /**
   * Runs until `signal` is aborted; resolves when everything has ended.
   * @throws OperatorError `AlreadyStarted`: it was run before.
   * @throws the error of a runnable, or the loss of the lease, after everything has ended.
   * @throws OperatorError `Timeout`: a runnable or a reconcile did not end in time; the message names it.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#run !== undefined) {
      throw new OperatorError('AlreadyStarted', 'manager: run was called before; make a new one');
    }
    const [clusters, entries] = [this.#clusters, this.#entries];
    const recent = new RecentReconciles(this.#options.clock);
    const options = recent.noting(this.#options);
    const shared = { leadership: this.#leadership, metrics: this.metrics, changes: this.#changes };
    const ownership = (): Sharding | undefined => this.#sharding;
    this.#run = new ManagerRun({ options, clusters, entries, ownership, ...shared });
    const isWatched = options.health !== undefined || options.metrics !== undefined;
    try {
      const served = { ...options, posts: postsOf(this) };
      const server = await bindMetrics(this.#late, served, this.#home.given);
      if (server !== undefined) this.add(server);
      for (const cluster of clusters.all) this.#countRequestsOf(cluster);
      const shown = { status: () => this.status(), clusters: clusters.byName, entries };
      const page = await bindInspector(options, { ...shown, recent: () => recent.all() });
      if (page !== undefined) this.add(page);
      if (isWatched) this.#health.monitor.start();
      await this.#run.run(signal);
    } finally {
      this.#health.monitor.stop();
      for (const end of this.#counting.values()) end();
      this.#isOver = true;
      this.#changes.notify();
    }
  }

  /**
   * Runs until SIGINT or SIGTERM; a second signal ends the process at once with exit code 1.
   * @throws as `run` does.
   */
  async runUntilSignal(): Promise<void> {
    await untilSignal(
      (signal) => this.run(signal),
      () => this.#options.logger,
    );
  }

  /** The added controllers, in order. */
  get controllers(): readonly Controller[] {
    return [...this.#entries].flatMap((entry) =>
      entry.type === 'controller' ? [entry.controller] : [],
    );
  }

  /**
   * Returns the access that the operator declares for its first cluster, without sending requests. For each
   * controller: to watch its kinds, to write its owned kinds, and to write the status of its kind, unless
   * `requires` overrides them. Also all of `requires`, and the access of the manager's own parts: quarantine
   * Events, leader election, certificates, and reviews of metrics clients. Each combination of kind,
   * subresource, namespace and names appears once.
   */
  requiredAccess(): readonly RequiredAccess[] {
    const { requires, leaderElection, metrics } = this.#options;
    const declared = [...this.#entries].flatMap((entry) =>
      entry.type === 'controller' ? controllerAccess(entry) : entry.requires,
    );
    // A running cache may have to report quarantined objects.
    const writesEvents = this.#entries.writesEvents || this.controllers.length > 0;
    const events = writesEvents ? eventAccess : [];
    const all = [...declared, ...this.#indexed, ...requires, ...events];
    const needed = neededAccess(this.#home, all);
    const { access = [] } = this.#options.webhooks?.certificates ?? {};
    const ofParts = [...electionAccess(leaderElection), ...access, ...metricsAccess(metrics)];
    return mergedAccess([...needed, ...ofParts]);
  }

  /** Returns the current status. */
  status(): ManagerStatus {
    const clusters = [...this.#clusters.byName.values()];
    return managerStatus(this.#run, this.#entries, clusters, this.#sharding);
  }

  /**
   * Resolves when the start is complete: caches have synced, and this process leads or stands by.
   * @throws OperatorError `Stopped`: the manager stopped before.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenStarted(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.phase === 'running', signal);
  }

  /**
   * Resolves when the leader's controllers reconcile here.
   * @throws OperatorError `Stopped`: the manager stopped before.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenLeading(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.#run?.isLeading === true, signal);
  }

  #newCluster(cluster: ManagerCluster): ManagedCluster {
    const { fence } = this.#leadership;
    const parts = { ...this.#options, metrics: this.metrics, fence };
    const managed = new ManagedCluster(cluster, parts);
    this.#clusters.add(managed);
    return managed;
  }

  /** Most clients are created before the manager and so without its metrics. */
  #countRequestsOf(cluster: ManagedCluster): void {
    const { given } = cluster;
    if (this.#options.metrics === undefined || !isConnected(given)) return;
    this.#counting.set(cluster, given.countIn(this.metrics));
  }

  /** Joins the shard group when the first sharded controller is added. */
  #share(name: string, { phase }: ManagerAddOptions): void {
    if (phase !== undefined) {
      throw new OperatorError('InvalidOption', `add ${name}: give phase or shards, not both`);
    }
    const { clock, random, logger, leaderElection, shards } = this.#options;
    if (this.#sharding !== undefined || shards === false) return;
    const { metrics } = this;
    const client = this.#home.given;
    const parts = { client, clock, random, logger, metrics };
    const sharding = shardingOf({ shards, leaderElection }, parts);
    this.add(sharding, { requires: shardingAccess(sharding.namespace) });
    this.#health.readyz.add(sharding.healthCheck);
    this.#sharding = sharding;
  }

  #refuseWhenOver(what: string): void {
    if (this.#isOver) throw new OperatorError('Stopped', `${what}: the manager has stopped`);
  }

  async #until(condition: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    const isOver = (): boolean => this.#isOver || this.phase === 'stopping';
    await this.#changes.until(() => condition() || isOver(), { signal });
    if (!condition()) throw new OperatorError('Stopped', 'the manager stopped');
  }
}
