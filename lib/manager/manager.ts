import type { Cache } from '../cache/cache.js';
import type { CachedClient } from '../cache/cached-client.js';
import { ChangeNotifier } from '../cache/change-notifier.js';
import type { Client } from '../client/client.js';
import type { Controller } from '../controller/controller.js';
import { noMetrics } from '../system/metrics.js';
import type { Metrics } from '../system/metrics.js';
import { OperatorError } from '../system/operator-error.js';
import { LateMetrics } from './late-metrics.js';
import { ManagedCluster } from './managed-cluster.js';
import { ManagerEntries, entryName } from './manager-entries.js';
import type { Added, ManagerAddOptions, ManagerEntry } from './manager-entries.js';
import { resolveManagerOptions } from './manager-options.js';
import type { ManagerOptions, ResolvedManagerOptions } from './manager-options.js';
import { ManagerRun } from './manager-run.js';
import type { ManagerPhase, ManagerStatus } from './manager-status.js';
import type { Runnable } from './runnable.js';

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
 */
export class Manager {
  /** Where everything here registers its metrics; yours are welcome. */
  readonly metrics: Metrics;
  readonly #late = new LateMetrics();
  readonly #options: ResolvedManagerOptions;
  readonly #clusters: ManagedCluster[];
  readonly #entries = new ManagerEntries();
  readonly #changes = new ChangeNotifier();
  #run: ManagerRun | undefined;
  #isOver = false;

  /** @throws OperatorError `InvalidOption`: an option is missing, out of its range, or contradicts another. */
  constructor(options: ManagerOptions) {
    this.#options = resolveManagerOptions(options);
    this.metrics = this.#late;
    const { fence } = this.#options.leadership;
    const parts = { ...this.#options, metrics: this.metrics, fence };
    this.#clusters = this.#options.clusters.map((cluster) => new ManagedCluster(cluster, parts));
  }

  /** Reads the cache of the first cluster; writes are refused while this process does not lead. */
  get client(): CachedClient {
    return this.#home.client;
  }

  /** Reads the server of the first cluster; writes are refused while this process does not lead. */
  get liveClient(): Client {
    return this.#home.live;
  }

  /** The cache of the first cluster; it is filled from the start to the end of `run`. */
  get cache(): Cache {
    return this.#home.cache;
  }

  /**
   * Adds a controller or a runnable; while the manager runs it is started at once, or when its phase
   * comes.
   * @throws OperatorError `InvalidOption`: another one has the name.
   * @throws OperatorError `Stopped`: the manager has stopped.
   */
  add(item: Controller | Runnable, options: ManagerAddOptions = {}): Added {
    const { phase = 'leader' } = options;
    const entry: ManagerEntry =
      'run' in item
        ? { type: 'runnable', runnable: item }
        : { type: 'controller', controller: item, phase };
    if (this.#isOver) throw new OperatorError('Stopped', `add ${item.name}: the manager stopped`);
    this.#entries.add(entry);
    this.#run?.add(entry);
    return {
      name: entryName(entry),
      remove: async (graceMs = this.#options.gracefulShutdownMs) => {
        if (this.#entries.delete(entry)) await this.#run?.remove(entry, graceMs);
      },
    };
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
    const { metrics } = this;
    const [options, clusters, entries] = [this.#options, this.#clusters, this.#entries];
    this.#run = new ManagerRun({ options, clusters, entries, metrics, changes: this.#changes });
    this.#late.bind(noMetrics);
    try {
      await this.#run.run(signal);
    } finally {
      this.#isOver = true;
      this.#changes.notify();
    }
  }

  /** What it is doing. */
  status(): ManagerStatus {
    const run = this.#run;
    const controllers: ManagerStatus['controllers'][number][] = [];
    const runnables: ManagerStatus['runnables'][number][] = [];
    for (const entry of this.#entries) {
      if (entry.type === 'controller') {
        const { controller, phase } = entry;
        const running = run?.controllers[phase].running(controller)?.status();
        const idle = { name: controller.name, isActive: false, depth: 0, delayed: 0, active: [] };
        controllers.push({ ...(running ?? idle), phase });
      } else {
        const { name, phase = 'leader' } = entry.runnable;
        const state = run?.runnables[phase].state(entry.runnable) ?? 'waiting';
        runnables.push({ name, phase, state });
      }
    }
    const clusters = this.#clusters.map(({ name, cache }) => ({ name, caches: cache.status() }));
    const { phase } = this;
    const [isLeading, leader] = [run?.isLeading ?? false, run?.leader];
    return { phase, isLeading, leader, clusters, controllers, runnables };
  }

  /** How far it is. */
  get phase(): ManagerPhase {
    return this.#run?.phase ?? 'new';
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

  get #home(): ManagedCluster {
    const [home] = this.#clusters;
    if (home === undefined)
      throw new OperatorError('InvalidOption', 'manager: there is no cluster');
    return home;
  }

  async #until(condition: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    const isOver = (): boolean => this.#isOver || this.phase === 'stopping';
    await this.#changes.until(() => condition() || isOver(), { signal });
    if (!condition()) throw new OperatorError('Stopped', 'the manager stopped');
  }
}
