import type { KubernetesObject, TypeReference } from '../object/index.js';
import type { Logger } from '../system/index.js';
import { OperatorError } from '../system/index.js';
import { HotLoopDetector } from './hot-loop.js';
import { OwnedKeys, parseWorkKey, workKeyOf } from './keys.js';
import type { ReconcileKey, WorkKey } from './keys.js';
import { initialListPriority } from './kind-source.js';
import { newControllerMetrics } from './metrics.js';
import type { ControllerMetrics } from './metrics.js';
import { ownedTypes } from './options.js';
import type { ControllerDefinition, ResolvedRuntime } from './options.js';
import { bothOf, LastErrors } from './outcome.js';
import { WorkQueue } from './queue.js';
import type { AddOptions } from './queue.js';
import { readableError } from './result.js';
import { RunningCluster } from './running-cluster.js';
import type { ControllerCluster } from './running-cluster.js';
import type { Source, SourceContext } from './sources.js';
import { statusOf } from './status.js';
import type { ControllerStatus } from './status.js';
import { PendingTriggers } from './trigger.js';
import type { Trigger } from './trigger.js';
import { ActiveRuns, Workers } from './workers.js';

/*
 *   sources ──► (owned?) ──► activated, and cluster synced? ──► queue ──► workers ──► outcomes ──► queue
 *                  │ no                   │ no
 *                  ▼                      ▼
 *               dropped               kept back
 */

/** A running controller. */
export class RunningController {
  readonly #definition: ControllerDefinition;
  readonly #runtime: ResolvedRuntime;
  readonly #logger: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #queue: WorkQueue;
  readonly #triggers: PendingTriggers;
  readonly #owned: OwnedKeys;
  readonly #parts: ControllerParts;
  readonly #workers: Workers;
  readonly #runs: ActiveRuns;
  readonly #clusters = new Map<string, RunningCluster>();
  readonly #syncing = new Map<RunningCluster, Promise<void>>();
  readonly #onAbort = (): void => void this.stop();
  readonly #unsubscribe: (() => void) | undefined;
  #isActivated = false;
  #isActive = false;
  #stopping: Promise<void> | undefined;

  /** @internal Use {@link Controller.start}. */
  constructor(definition: ControllerDefinition, given: ResolvedRuntime) {
    const { name, backoff, hotLoop, maxConcurrentReconciles, reconcileTimeoutMs } =
      definition.options;
    const runtime = { ...given, onEvent: bothOf(given, definition.options.onEvent) };
    const { clock, metrics } = runtime;
    this.#definition = definition;
    this.#runtime = runtime;
    this.#logger = runtime.logger.child({ controller: name });
    this.#metrics = newControllerMetrics(metrics);
    this.#metrics.maxConcurrent.set(maxConcurrentReconciles, { controller: name });
    this.#triggers = new PendingTriggers(clock);
    const onHandOut = (key: string): void => this.#triggers.handOut(key);
    this.#queue = new WorkQueue({ name, clock, metrics, backoff, onHandOut });
    this.#owned = new OwnedKeys(runtime.ownership);
    this.#runs = new ActiveRuns(clock, reconcileTimeoutMs);
    this.#parts = {
      name,
      reportingController: definition.options.reportingController,
      kind: definition.type.kind,
      owns: ownedTypes(definition),
      hotLoops: hotLoop === false ? undefined : new HotLoopDetector(clock, hotLoop),
      lastErrors: new LastErrors(clock),
      mayQueue: (work, cluster) => this.#mayQueue(work, cluster),
      giveUp: (work) => this.#giveUp(work),
      ...{ queue: this.#queue, triggers: this.#triggers, owned: this.#owned },
      ...{ metrics: this.#metrics, logger: this.#logger, runtime },
    };
    this.#workers = new Workers(definition, this.#parts, {
      runs: this.#runs,
      clusterOf: (work) => this.#clusters.get(work.cluster),
    });
    this.#openAll();
    this.#unsubscribe = runtime.ownership?.subscribe({
      acquired: (isNew) => this.#acquired(isNew),
      released: (graceMs) => this.#released(graceMs),
    });
    runtime.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (runtime.signal?.aborted === true) void this.stop();
    else if (!runtime.standby) this.activate().catch(() => undefined); // `#sync` logs the error.
  }

  /** The name in logs and metrics. */
  get name(): string {
    return this.#definition.options.name;
  }

  /**
   * Starts to reconcile, each cluster as soon as its sources are synced. Resolves when all current clusters
   * are synced or the controller is stopped.
   * @throws the error of a source that can't be synced.
   */
  async activate(): Promise<void> {
    this.#isActivated = true;
    this.#triggers.isActivated = true;
    this.#begin();
    this.#addUnseen({ type: 'acquired' });
    await Promise.all(this.#syncing.values());
  }

  /**
   * Requests a reconcile of `key`, for example in a spec.
   * @throws OperatorError `InvalidValue`: no object can have such a key, or the cluster is unknown.
   */
  enqueue(key: ReconcileKey, options: AddOptions = {}): void {
    this.#add(workKeyOf(key), { type: 'source', source: 'enqueue' }, options);
  }

  /**
   * Adds a cluster to the running controller.
   * @throws OperatorError `InvalidOption`: a cluster has the same name, or the name contains a slash.
   * @throws OperatorError `Stopped`: the controller was stopped.
   */
  addCluster(cluster: ControllerCluster): void {
    if (this.#stopping !== undefined) {
      throw new OperatorError('Stopped', `controller ${this.name} was stopped`);
    }
    this.#open(cluster);
  }

  /**
   * Removes a cluster; an unknown one is ignored. Waiting keys are dropped. Reconciles in progress may
   * continue for `graceMs` (by default the runtime's `gracefulShutdownMs`); then their signals are aborted
   * and their writes refused. Resolves when none of them can still write.
   */
  async removeCluster(
    name: string,
    graceMs: number = this.#runtime.gracefulShutdownMs,
  ): Promise<void> {
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) return;
    this.#drop((work) => work.cluster === name);
    this.#clusters.delete(name);
    this.#syncing.delete(cluster);
    const reason = new OperatorError('Stopped', `controller ${this.name} left cluster ${name}`);
    const runs = this.#runs.all().filter(({ work }) => work.cluster === name);
    const stopped = cluster.stop(this.#logger);
    await this.#runs.end(runs, { graceMs, reason, cutsWrites: true });
    await stopped;
  }

  /** Returns the controller's state. Cheap; for readiness checks and diagnostics. */
  status(): ControllerStatus {
    const clusters = [...this.#clusters.values()].map((cluster) => cluster.status());
    return statusOf(this.#parts, {
      isActive: this.#isActive,
      runs: this.#runs.all(),
      clusters,
    });
  }

  /**
   * Stops the controller. No new reconciles start. Those in progress may continue for `graceMs` (by default
   * the runtime's `gracefulShutdownMs`); then their signals are aborted and their writes refused. Resolves
   * when all have ended and can no longer write. A handler that ignores its signal delays the stop by one
   * second; one that timed out more than a second ago does not delay it.
   */
  stop(graceMs: number = this.#runtime.gracefulShutdownMs): Promise<void> {
    // A later call can shorten the grace period, for example when a lease is lost during a stop.
    if (graceMs <= 0) this.#runs.abort(this.#stopped());
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  async #stop(graceMs: number): Promise<void> {
    const { signal } = this.#runtime;
    this.#isActive = false;
    signal?.removeEventListener('abort', this.#onAbort);
    this.#unsubscribe?.();
    const clusters = [...this.#clusters.values()].map((cluster) => cluster.stop(this.#logger));
    this.#queue.shutDown();
    this.#triggers.clear();
    const stuck = await this.#runs.endAll({ graceMs, reason: this.#stopped(), cutsWrites: true });
    if (stuck.length > 0) {
      const keys = stuck.map(({ work }) => work.text);
      this.#logger.error('reconciles did not end when they were aborted', { keys });
    }
    await Promise.all(clusters);
    this.#logger.info('controller stopped');
  }

  #openAll(): void {
    try {
      for (const cluster of this.#runtime.clusters) this.#open(cluster);
    } catch (error) {
      for (const cluster of this.#clusters.values()) void cluster.stop(this.#logger);
      this.#queue.shutDown();
      throw error;
    }
  }

  #open(described: ControllerCluster): void {
    const { name } = described;
    if (name.includes('/') || this.#clusters.has(name)) {
      const problem = name.includes('/')
        ? 'has a slash in its name'
        : 'exists already: give each its own name';
      const what = `controller ${this.name}: cluster ${JSON.stringify(name)}`;
      throw new OperatorError('InvalidOption', `${what} ${problem}`);
    }
    const cluster = new RunningCluster(described);
    this.#clusters.set(name, cluster);
    try {
      cluster.start(this.#definition.sources, (source) => this.#contextOf(source, cluster));
    } catch (error) {
      this.#drop((work) => work.cluster === name);
      this.#clusters.delete(name);
      void cluster.stop(this.#logger);
      throw error;
    }
    const syncing = this.#sync(cluster);
    // Callers of `activate` receive this rejection; it is logged in any case.
    syncing.catch(() => undefined);
    this.#syncing.set(cluster, syncing);
  }

  async #sync(cluster: RunningCluster): Promise<void> {
    try {
      await cluster.sync();
    } catch (error) {
      const fields = { error, ...(cluster.name !== '' && { cluster: cluster.name }) };
      this.#logger.error('source cannot be synced; the controller reconciles nothing', fields);
      throw error;
    }
    if (!cluster.isStopped) this.#begin();
  }

  /**
   * Queues the keys that synced clusters held back, and starts the workers. Does nothing in a standby, since it has no
   * workers for its keys.
   */
  #begin(): void {
    if (!this.#isActivated || this.#stopping !== undefined) return;
    const synced = [...this.#clusters.values()].filter(({ isSynced }) => isSynced);
    for (const cluster of synced) {
      for (const [text, options] of cluster.takeEarly()) this.#queue.add(text, options);
    }
    if (this.#isActive || (this.#clusters.size > 0 && synced.length === 0)) return;
    this.#isActive = true;
    const { maxConcurrentReconciles: workers } = this.#definition.options;
    this.#logger.info('controller started', { workers });
    this.#workers.start(workers);
  }

  #stopped(): OperatorError {
    return new OperatorError('Stopped', `controller ${this.name} was stopped`);
  }

  #contextOf(source: Source, cluster: RunningCluster): SourceContext {
    const { clock, random } = this.#runtime;
    const { client, cache, name } = cluster;
    const named = name === '' ? {} : { cluster: name };
    const logger = this.#logger.child({ source: source.name, ...named });
    return {
      ...{ cache, client, clock, random, logger, cluster: name },
      enqueue: (key, { trigger, priority }) => {
        // A slow mapper may return after its cluster was stopped.
        return !cluster.isStopped && this.#add(workKeyOf(key, name), trigger, { priority });
      },
      failed: (what, error, object) => {
        const { namespace, name: objectName } = object?.metadata ?? {};
        const labels = { controller: this.name, source: source.name };
        this.#metrics.sourceErrors.add(1, labels);
        const fields = { error: readableError(error), namespace, name: objectName };
        logger.error(`${what} of source ${source.name} threw`, fields);
      },
    };
  }

  /** @returns false if the key is not owned or the controller is stopping */
  #add(work: WorkKey, trigger: Trigger, options: AddOptions): boolean {
    if (this.#stopping !== undefined) return false;
    const { text } = work;
    const cluster = this.#clusters.get(work.cluster);
    if (cluster === undefined) {
      const named = [...this.#clusters.keys()].filter((name) => name !== '');
      const remedy =
        named.length === 0 ? 'give keys without a cluster' : `want ${named.join(' or ')}`;
      const message = `controller ${this.name}: there is no cluster ${work.cluster}: ${remedy}`;
      throw new OperatorError('InvalidValue', message);
    }
    const isDeletion = trigger.type === 'event' && trigger.event === 'deleted';
    if (!this.#owned.owns(work)) {
      // The sources replay existing objects later; only deletions and keys from other sources must be
      // remembered.
      if (isDeletion || trigger.type === 'source') this.#remember(work, cluster);
      return false;
    }
    if (!this.#owned.isMeant(work, trigger)) return false;
    // A standby may wait for months: it must not keep the key of every object that was ever deleted.
    if (isDeletion && !this.#isActivated && this.#remember(work, cluster)) {
      cluster.drop(text);
      this.#triggers.drop(text);
      return true;
    }
    this.#triggers.add(text, trigger);
    if (cluster.keepsBack(text, options)) return true;
    const afterMs = Math.max(options.afterMs ?? 0, this.#parts.hotLoops?.delayMs(text) ?? 0);
    this.#queue.add(text, { ...options, afterMs });
    return true;
  }

  /**
   * Remembers `work`, unless its object is in the cache: then a source enqueues the key when this process acquires it.
   * @returns false if the object is in the cache
   */
  #remember(work: WorkKey, cluster: RunningCluster): boolean {
    const isShown = cluster.shows(this.#definition.type, work.key);
    if (!isShown) this.#owned.rememberUnseen(work);
    return !isShown;
  }

  #mayQueue(work: WorkKey, of?: ControllerCluster): boolean {
    const cluster = this.#clusters.get(work.cluster);
    if (this.#stopping !== undefined || cluster?.isSynced !== true) return false;
    return (of ?? cluster) === cluster && this.#owned.owns(work);
  }

  #acquired(isNew?: (key: ReconcileKey) => boolean): void {
    if (this.#stopping !== undefined) return;
    const trigger = this.#owned.newReplay(isNew);
    this.#addUnseen(trigger);
    for (const cluster of this.#clusters.values()) cluster.replay(trigger);
  }

  #addUnseen(trigger: Trigger): void {
    for (const work of this.#owned.takeUnseen()) {
      if (!this.#clusters.has(work.cluster)) continue;
      this.#add(work, trigger, { priority: initialListPriority });
    }
  }

  async #released(graceMs: number): Promise<void> {
    this.#drop((work) => !this.#owned.owns(work));
    const runs = this.#runs.all().filter(({ work }) => !this.#owned.owns(work));
    const message = `controller ${this.name}: the key was released to another replica`;
    await this.#runs.end(runs, { graceMs, reason: new OperatorError('Fenced', message) });
  }

  /** Drops waiting keys, both queued and held back. */
  #drop(isGone: (work: WorkKey) => boolean): void {
    const early = [...this.#clusters.values()].flatMap((cluster) => cluster.waiting());
    for (const text of [...this.#queue.waiting(), ...early]) {
      const work = parseWorkKey(text);
      if (!isGone(work)) continue;
      this.#queue.remove(text);
      this.#clusters.get(work.cluster)?.drop(text);
      this.#triggers.drop(text);
      this.#giveUp(work);
    }
    this.#parts.lastErrors.forgetWhere((text) => isGone(parseWorkKey(text)));
  }

  #giveUp(work: WorkKey): void {
    this.#queue.forget(work.text);
    const cluster = this.#clusters.get(work.cluster);
    if (cluster === undefined || this.#owned.owns(work)) return;
    this.#remember(work, cluster);
  }
}

/** The shared parts of one running controller. */
export interface ControllerParts {
  readonly name: string;
  /** The name that Events have as `reportingController`. */
  readonly reportingController: string;
  readonly kind: string;
  /** The kinds that the controller owns. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
  readonly queue: WorkQueue;
  readonly triggers: PendingTriggers;
  readonly hotLoops: HotLoopDetector | undefined;
  readonly lastErrors: LastErrors;
  readonly owned: OwnedKeys;
  /**
   * Returns true if `work` may be queued again: it is owned, and its cluster is present and synced. If
   * `cluster` is given, it must be that very cluster, not another one added under the same name.
   */
  readonly mayQueue: (work: WorkKey, cluster?: ControllerCluster) => boolean;
  /** Ends the back-off of `work`, which must not be queued. Records the key if this process may acquire it later. */
  readonly giveUp: (work: WorkKey) => void;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly runtime: ResolvedRuntime;
}
