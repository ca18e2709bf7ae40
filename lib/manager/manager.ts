import type { Cache } from '../cache/cache.js';
import type { CachedClient } from '../cache/cached-client.js';
import { ChangeNotifier } from '../cache/change-notifier.js';
import type { Indexer } from '../cache/indexer.js';
import type { Client } from '../client/client.js';
import { isConnected } from '../client/http-client.js';
import type { Controller } from '../controller/controller.js';
import type { Recorder } from '../events/recorder.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Metrics } from '../system/metrics.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import { controllerAccess, mergedAccess } from './access/controller-access.js';
import { neededAccess } from './access/needed-access.js';
import { watchVerbs } from './access/required-access.js';
import type { RequiredAccess } from './access/required-access.js';
import { resolveHealthOptions } from './health/health-options.js';
import type { HealthCheck } from './health-check.js';
import { RecentReconciles, bindInspector } from './inspector/index.js';
import { LateMetrics } from './late-metrics.js';
import { eventAccess } from './recorder-end.js';
import { electionAccess, leadershipOf } from './leadership.js';
import type { Leadership } from './leadership.js';
import { ManagedCluster } from './managed-cluster.js';
import type { ManagerCluster } from './managed-cluster.js';
import { ManagerClusters } from './manager-clusters.js';
import { ManagerEntries, refuseOther } from './manager-entries.js';
import type { Added, ManagerAddOptions, ManagerEntry } from './manager-entries.js';
import { resolveManagerOptions } from './manager-options.js';
import type { ManagerOptions, ResolvedManagerOptions } from './manager-options.js';
import { ManagerRun } from './manager-run.js';
import { ManagerHealth } from './manager-health.js';
import { managerStatus } from './manager-status.js';
import type { ManagerPhase, ManagerStatus } from './manager-status.js';
import { bindMetrics } from './metrics/bind-metrics.js';
import { metricsAccess } from './metrics/reviewed-access.js';
import type { Runnable } from './runnable.js';
import { shardingAccess, shardingOf } from './sharding/manager-shards.js';
import type { Sharding } from './sharding/index.js';
import { untilSignal } from './until-signal.js';
import { WebhookServer } from './webhooks/webhook-server.js';

/**
 * Runs controllers, and what they need, as one process.
 *
 * ## Flow
 * Servers listen, webhooks answer, caches are filled, what runs on every replica starts, and once
 * this process leads, its controllers reconcile. A stop goes the other way: reconciles may end for
 * `gracefulShutdownMs`, then the lease is given back, caches and servers end.
 *
 * ## Guarantees
 * - A process that stands by has its caches filled: a fail-over begins to work at once.
 * - When `run` has ended, nothing is left: no timer, socket, watch or listener.
 *
 * ## Caveats
 * - It runs once; make a new one to start again.
 *
 * @example
 * ```ts
 * const manager = new Manager({ client: await defaultClient(), health: {}, metrics: {} });
 * manager.add(controllerFor(ConfigMap).complete(async () => done()));
 * await manager.runUntilSignal();
 * ```
 */
export class Manager {
  readonly #metrics = new LateMetrics();
  readonly #options: ResolvedManagerOptions;
  readonly #clusters = new ManagerClusters();
  readonly #leadership: Leadership;
  readonly #home: ManagedCluster;
  readonly #entries = new ManagerEntries();
  readonly #changes = new ChangeNotifier();
  readonly #indexed: RequiredAccess[] = [];
  /** Each ends the counting of a client's requests. */
  readonly #counting: (() => void)[] = [];
  readonly #health: ManagerHealth;
  #sharding: Sharding | undefined;
  #run: ManagerRun | undefined;
  #isOver = false;

  /**
   * @throws OperatorError `InvalidOption`: an option is missing, out of its range, or contradicts
   * another.
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

  /** Where everything here registers its metrics; yours are welcome. */
  get metrics(): Metrics {
    return this.#metrics;
  }

  /** The clock of everything that runs here: in tests a virtual one. */
  get clock(): Clock {
    return this.#options.clock;
  }

  /** The logger of the manager. */
  get logger(): Logger {
    return this.#options.logger;
  }

  /** Reads the cache of the first cluster; writes are refused while this process does not lead. */
  get client(): CachedClient {
    return this.#home.client;
  }

  /** Reads the server of the first cluster; writes are refused while this process does not lead. */
  get liveClient(): Client {
    return this.#home.client.live;
  }

  /** @internal The client of the first cluster, as it was given: its writes need no leadership. */
  get givenClient(): Client {
    return this.#home.given;
  }

  /** The cache of the first cluster; it is filled from the start to the end of `run`. */
  get cache(): Cache {
    return this.#home.cache;
  }

  /**
   * A recorder of events about objects of the first cluster, the same one for each name. It writes what
   * waits and stops after the controllers, and declares the rights that it needs (`requiredAccess`).
   * @param controllerName - who reports: a qualified name, for example `shop-operator`
   * @throws OperatorError `InvalidOption`: that is no qualified name.
   */
  eventRecorder(controllerName: string): Recorder {
    const recorder = this.#home.recorder(controllerName);
    this.#entries.writesEvents = true;
    return recorder;
  }

  /** The recorder of the manager itself, by its `name`; see {@link Manager.eventRecorder}. */
  get recorder(): Recorder {
    return this.eventRecorder(this.#options.name);
  }

  /**
   * Declares an index of a kind for all clusters, those added later included. The kind is cached, and
   * `client.list(type, { index: { [name]: value } })` finds its objects, with what that client has
   * written, in reconciles and by {@link Manager.client}.
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

  /** How far it is. */
  get phase(): ManagerPhase {
    return this.#run?.phase ?? 'new';
  }

  /**
   * Adds a controller or a runnable; while the manager runs it is started at once, or when its phase
   * comes.
   * @throws OperatorError `InvalidOption`: another one has the name, maybe one that is being removed and
   * has not ended, or the options do not fit.
   * @throws OperatorError `Stopped`: the manager has stopped.
   */
  add(item: Controller | Runnable, options: ManagerAddOptions = {}): Added {
    refuseOther(item);
    const { phase = 'leader', requires = [], shards = false } = options;
    const names = { phase, requires, shards };
    refuseUnknownOptions<ManagerAddOptions>(`manager.add ${item.name}`, options, names);
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
   * Has every controller work on one more cluster from now on.
   * @throws OperatorError `InvalidOption`: the name is taken, maybe by a cluster that is being removed,
   * or no name; or the manager was made for one cluster without a name.
   * @throws OperatorError `Stopped`: the manager has stopped.
   * @throws what a controller throws that can't watch it: none of them works on it then.
   */
  addCluster(cluster: ManagerCluster): void {
    this.#refuseWhenOver(`addCluster ${cluster.name}`);
    this.#clusters.checkName(cluster.name);
    if (this.#home.name === '') {
      const remedy = 'give it clusters instead of client';
      throw new OperatorError('InvalidOption', `addCluster: the manager has one only: ${remedy}`);
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
   * Has no controller work on a cluster any more; resolves when no reconcile of it goes on. They have
   * `graceMs` milliseconds to end (the manager's `gracefulShutdownMs`). Its name is free again, and its
   * metrics are gone, when this has resolved. One that is not there is no error.
   * @throws OperatorError `InvalidOption`: it is the first cluster, which holds the leases.
   */
  async removeCluster(
    name: string,
    graceMs: number = this.#options.gracefulShutdownMs,
  ): Promise<void> {
    if (name === this.#home.name) {
      throw new OperatorError('InvalidOption', `removeCluster ${name}: the first one has to stay`);
    }
    await this.#clusters.remove(name, async (cluster) =>
      this.#run?.removeCluster(cluster, graceMs),
    );
  }

  /**
   * Adds a check of `/healthz`: failing, it has the kubelet restart the process.
   * @returns what takes it out
   * @throws OperatorError `InvalidOption`: the name is taken, or no path segment.
   */
  addHealthCheck(check: HealthCheck): () => void {
    return this.#health.healthz.add(check);
  }

  /**
   * Adds a check of `/readyz`: failing, it has the Pod's Services send it no requests.
   * @returns what takes it out
   * @throws OperatorError `InvalidOption`: the name is taken, or no path segment.
   */
  addReadyCheck(check: HealthCheck): () => void {
    return this.#health.readyz.add(check);
  }

  /**
   * Runs until `signal` is aborted; resolves when all has ended.
   * @throws OperatorError `AlreadyStarted`: it was run before.
   * @throws what a runnable threw, or the loss of the lease: when all has ended, too.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#run !== undefined) {
      throw new OperatorError('AlreadyStarted', 'manager: run was called before; make a new one');
    }
    const [clusters, entries, recent] = [
      this.#clusters,
      this.#entries,
      new RecentReconciles(this.#options.clock),
    ];
    const options = recent.noting(this.#options);
    const shared = { leadership: this.#leadership, metrics: this.metrics, changes: this.#changes };
    const ownership = (): Sharding | undefined => this.#sharding;
    this.#run = new ManagerRun({ options, clusters, entries, ownership, ...shared });
    const isWatched = options.health !== undefined || options.metrics !== undefined;
    try {
      const server = await bindMetrics(this.#metrics, options, this.#home.given);
      if (server !== undefined) this.add(server);
      for (const cluster of clusters.all) this.#countRequestsOf(cluster);
      const shown = { status: () => this.status(), clusters: clusters.byName, entries };
      const page = await bindInspector(options, { ...shown, recent: () => recent.all() });
      if (page !== undefined) this.add(page);
      if (isWatched) this.#health.monitor.start();
      await this.#run.run(signal);
    } finally {
      this.#health.monitor.stop();
      for (const end of this.#counting) end();
      this.#isOver = true;
      this.#changes.notify();
    }
  }

  /**
   * Runs until SIGINT or SIGTERM comes; a second one ends the process at once, with exit code 1.
   * @throws as `run` does.
   */
  async runUntilSignal(): Promise<void> {
    await untilSignal((signal) => this.run(signal), this.#options.logger);
  }

  /** The controllers that were added, in that order. */
  get controllers(): readonly Controller[] {
    return [...this.#entries].flatMap((entry) =>
      entry.type === 'controller' ? [entry.controller] : [],
    );
  }

  /**
   * What the operator has to be allowed to do on its first cluster, as far as it declares it: to watch
   * what its controllers reconcile, own and watch, to make what they own and write the status of what
   * they reconcile (where `requires` does not say it otherwise), all that `requires` says, and what its
   * own parts do: events about objects in quarantine, the election, certificates, reviews of who scrapes
   * metrics. Each kind, subresource, namespace and list of names is there once. It asks no server.
   */
  requiredAccess(): readonly RequiredAccess[] {
    const { requires, leaderElection, metrics } = this.#options;
    const declared = [...this.#entries].flatMap((entry) =>
      entry.type === 'controller' ? controllerAccess(entry) : entry.requires,
    );
    // A cache that is filled may have to report objects in quarantine.
    const writesEvents = this.#entries.writesEvents || this.controllers.length > 0;
    const events = writesEvents ? eventAccess : [];
    const all = [...declared, ...this.#indexed, ...requires, ...events];
    const needed = neededAccess(this.#home, all);
    const { access = [] } = this.#options.webhooks?.certificates ?? {};
    const ofParts = [...electionAccess(leaderElection), ...access, ...metricsAccess(metrics)];
    return mergedAccess([...needed, ...ofParts]);
  }

  /** What it is doing. */
  status(): ManagerStatus {
    return managerStatus({
      run: this.#run,
      entries: this.#entries,
      clusters: [...this.#clusters.byName.values()],
      sharding: this.#sharding,
    });
  }

  /**
   * Resolves when everything was started: caches are filled, and this process leads or stands by.
   * @throws OperatorError `Stopped`: the manager stopped before.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenStarted(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.phase === 'running', signal);
  }

  /**
   * Resolves when the controllers of the leader reconcile here.
   * @throws OperatorError `Stopped`: the manager stopped before.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async whenLeading(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.#run?.isLeading === true, signal);
  }

  #newCluster(cluster: ManagerCluster): ManagedCluster {
    const { fence } = this.#leadership;
    const managed = new ManagedCluster(cluster, {
      ...{ ...this.#options, metrics: this.metrics, fence },
    });
    this.#clusters.add(managed);
    return managed;
  }

  /** Clients are made before the manager, so that most know no metrics. */
  #countRequestsOf({ given }: ManagedCluster): void {
    if (this.#options.metrics === undefined || !isConnected(given)) return;
    this.#counting.push(given.countIn(this.metrics));
  }

  /** Joins the group of replicas, for the first controller whose keys are shared. */
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
