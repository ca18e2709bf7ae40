import { forgetCacheMetrics } from '../cache/index.js';
import type { ChangeNotifier } from '../cache/index.js';
import { forgetMetrics } from '../controller/index.js';
import type { KeyOwnership } from '../controller/index.js';
import { endsWithin, waited, whenAborted, OperatorError } from '../system/index.js';
import type { Logger, Metrics } from '../system/index.js';
import { reviewClusters } from './access/preflight.js';
import { ControllerGroup } from './controller-group.js';
import { electionAccess } from './leader-election.js';
import type { Leadership, LeadershipCallbacks } from './leader-election.js';
import { homeCachesSynced } from './managed-cluster.js';
import type { ManagedCluster, ManagerClusters } from './managed-cluster.js';
import type { ResolvedManagerOptions } from './manager-options.js';
import type {
  ControllerEntry,
  ControllerPhase,
  ElectionStatus,
  ManagerEntries,
  ManagerEntry,
  ManagerPhase,
} from './manager-entries.js';
import { RunnableGroup, eventAccess, unwindMs } from './runnable.js';
import type { RunnablePhase } from './runnable.js';

interface ManagerRunParts {
  readonly options: ResolvedManagerOptions;
  readonly leadership: Leadership;
  readonly clusters: ManagerClusters;
  readonly entries: ManagerEntries;
  readonly metrics: Metrics;
  /** Called when a sharded controller is started. Returns which of its keys this process reconciles. */
  readonly ownership: () => KeyOwnership | undefined;
  /** Notified of each change of phase and leadership. */
  readonly changes: ChangeNotifier;
}

/**
 * One run of a manager:
 *
 * ```text
 * server ─ webhook ─ caches ─ replica ─ election ─┬─ leader      start: left to right
 *                                                 └─ controllers stop:  right to left
 * ```
 *
 * The lease is released only after the controllers have ended.
 */
export class ManagerRun {
  readonly runnables: Readonly<Record<RunnablePhase, RunnableGroup>>;
  readonly controllers: Readonly<Record<ControllerPhase, ControllerGroup>>;
  readonly #parts: ManagerRunParts;
  /** Aborted when everything must end: a stop or a failure. */
  readonly #ending = new AbortController();
  /** Aborted when the lease is to be released. */
  readonly #releasing = new AbortController();
  readonly #open = new Set<RunnablePhase | 'caches'>();
  #phase: ManagerPhase = 'starting';
  #failure: { readonly error: unknown } | undefined;
  #election: Promise<void> = Promise.resolve();
  #standingBy: Promise<void> = Promise.resolve();
  #leader: string | undefined;
  #candidateSinceMs: number | undefined;

  constructor(parts: ManagerRunParts) {
    const { metrics, options, ownership } = parts;
    const clusters = parts.clusters.byName;
    const failed = (error: unknown): void => this.#fail(error);
    const group = (phase: RunnablePhase) => new RunnableGroup(phase, { ...options, failed });
    const shared = { ...options, clusters, metrics, failed, ownership: undefined };
    const { fence } = parts.leadership;
    this.#parts = parts;
    this.runnables = {
      server: group('server'),
      webhook: group('webhook'),
      replica: group('replica'),
      leader: group('leader'),
    };
    this.controllers = {
      replica: new ControllerGroup({ ...shared, fence: undefined }),
      leader: new ControllerGroup({ ...shared, fence }),
      shards: new ControllerGroup({
        ...{ ...shared, fence: undefined },
        get ownership() {
          return ownership();
        },
      }),
    };
  }

  get phase(): ManagerPhase {
    return this.#phase;
  }

  /** True if the leader's controllers reconcile here. */
  get isLeading(): boolean {
    return this.controllers.leader.isActive;
  }

  /** Identity of the leader, if known. */
  get leader(): string | undefined {
    return this.#leader;
  }

  /** Status of leader election; undefined while this process is not a candidate. */
  get electionStatus(): ElectionStatus | undefined {
    if (this.#candidateSinceMs === undefined) return undefined;
    const { leadership, options } = this.#parts;
    const isLed = this.#leader !== undefined || this.isLeading;
    const forMs = options.clock.monotonicMs() - this.#candidateSinceMs;
    return { problem: leadership.problem, leaderlessMs: isLed ? 0 : forMs };
  }

  /**
   * Runs until `signal` is aborted.
   * @throws the first error of a runnable, a controller or the election, after everything has ended.
   */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#end();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal.aborted) this.#end();
      else await this.#start(this.#ending.signal);
      if (!this.#ending.signal.aborted) this.#become('running');
      await whenAborted(this.#ending.signal);
    } catch (error) {
      // Ignore errors of a start that was aborted.
      if (!this.#ending.signal.aborted) this.#fail(error);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    this.#become('stopping');
    await this.#stop();
    this.#become('stopped');
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Starts an added entry if this run has already started the entry's phase. */
  add(entry: ManagerEntry): void {
    if (this.#ending.signal.aborted) return;
    if (entry.type === 'runnable') {
      const { phase = 'leader' } = entry.runnable;
      if (this.#open.has(phase)) this.runnables[phase].start(entry.runnable);
    } else if (this.#open.has('caches')) {
      this.controllers[entry.phase].start(entry.controller);
    }
  }

  async remove(entry: ManagerEntry, graceMs: number): Promise<void> {
    if (entry.type === 'controller') {
      await this.#removeController(entry, graceMs);
      return;
    }
    const { phase = 'leader', name } = entry.runnable;
    const left = await this.runnables[phase].stop(graceMs, entry.runnable);
    if (left.length === 0) return;
    throw new OperatorError('Timeout', `${name}: has not ended ${graceMs} ms after it was removed`);
  }

  /** Adds a cluster to all controllers; if it throws, no controller uses the cluster. */
  addCluster(cluster: ManagedCluster): void {
    if (this.#ending.signal.aborted || !this.#open.has('caches')) return;
    cluster.cache.start();
    try {
      for (const group of Object.values(this.controllers)) group.addCluster(cluster);
    } catch (error) {
      // The caches of the cluster are still empty, so no reconcile of its objects can be running.
      this.#leave(cluster, 0).catch((failed: unknown) => {
        const { logger } = this.#parts.options;
        logger.error('the cluster could not be removed', { error: failed, cluster: cluster.name });
      });
      throw error;
    }
  }

  /** Removes a cluster from all controllers, then removes its metrics. */
  async removeCluster(cluster: ManagedCluster, graceMs: number): Promise<void> {
    await this.#leave(cluster, graceMs);
    await forgetCacheMetrics(this.#parts.metrics, { cluster: cluster.name });
  }

  async #leave(cluster: ManagedCluster, graceMs: number): Promise<void> {
    const groups = Object.values(this.controllers);
    await Promise.all(groups.map((group) => group.removeCluster(cluster.name, graceMs)));
    await cluster.stop();
    await cluster.stopRecorders();
  }

  async #removeController({ phase, controller }: ControllerEntry, graceMs: number): Promise<void> {
    const group = this.controllers[phase];
    const running = group.running(controller);
    await group.stop(graceMs, controller);
    // A controller that has not ended keeps its metrics: partial counts would be wrong.
    if (running === undefined || running.status().active.length > 0) return;
    await forgetMetrics(this.#parts.metrics, controller.name);
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { clusters, options } = this.#parts;
    for (const phase of ['server', 'webhook'] as const) {
      this.#openPhase(phase);
      await this.runnables[phase].whenReady(signal);
    }
    this.#openPhase('caches');
    await this.#preflight(signal);
    for (const { cache } of clusters.byName.values()) cache.start();
    const [home] = clusters.byName.values();
    await homeCachesSynced(home, options, signal);
    this.#openPhase('replica');
    this.controllers.replica.activate();
    this.controllers.shards.activate();
    this.#election = this.#elect();
  }

  async #preflight(signal: AbortSignal): Promise<void> {
    const { options, entries, clusters } = this.#parts;
    const review = {
      ...{
        mode: options.rbacPreflight,
        logger: options.logger,
        clusters: clusters.byName.values(),
      },
      required: [
        ...options.requires,
        ...[...entries].flatMap(({ requires }) => requires),
        ...(entries.writesEvents ? eventAccess : []),
      ],
      requiredAtHome: [
        ...electionAccess(options.leaderElection),
        ...(options.webhooks?.certificates.access ?? []),
      ],
      failed: (error: unknown) => this.#fail(error),
    };
    await reviewClusters(review, signal);
  }

  /** Competes for the lease and leads until the lease is to be released. */
  async #elect(): Promise<void> {
    const { leadership, options } = this.#parts;
    const { whenLeadershipIsLost, logger } = options;
    const { signal } = this.#releasing;
    this.#candidateSinceMs = options.clock.monotonicMs();
    const callbacks = {
      onStartedLeading: () => this.#lead(),
      onStoppedLeading: () => this.#leadNoMore(),
      onNewLeader: (identity: string) => {
        this.#leader = identity;
        this.#parts.changes.notify();
      },
    };
    for (;;) {
      const nextMs = options.clock.monotonicMs() + betweenCandidaciesMs;
      const cause = await leading(leadership, callbacks, signal);
      if (signal.aborted) {
        if (cause !== undefined) logger.warn('the Lease could not be released', { error: cause });
        return;
      }
      this.#leadNoMore();
      // Report the lost lease first; slow shutdowns are secondary failures.
      if (whenLeadershipIsLost === 'fail') this.#fail(lostLeadership(cause));
      await this.#standingBy;
      if (this.#ending.signal.aborted) return;
      logger.warn('leadership lost; standing by', { error: cause });
      const waitMs = Math.max(0, nextMs - options.clock.monotonicMs());
      await waited(options.clock, waitMs, signal);
    }
  }

  #lead(): void {
    if (this.#ending.signal.aborted) return;
    this.controllers.leader.activate();
    this.#openPhase('leader');
  }

  /** Stops at once everything that requires leadership. */
  #leadNoMore(): void {
    if (this.#releasing.signal.aborted || !this.#open.delete('leader')) return;
    const { leader } = this.controllers;
    const isOver =
      this.#ending.signal.aborted || this.#parts.options.whenLeadershipIsLost === 'fail';
    const ended = isOver ? leader.stop(0) : leader.standBy();
    this.#standingBy = this.#endAll([ended], [this.runnables.leader.stop(0)]);
    this.#parts.changes.notify();
  }

  #openPhase(phase: RunnablePhase | 'caches'): void {
    this.#open.add(phase);
    for (const entry of this.#parts.entries) {
      const own = entry.type === 'controller' ? 'caches' : (entry.runnable.phase ?? 'leader');
      if (own === phase) this.add(entry);
    }
    this.#parts.changes.notify();
  }

  async #stop(): Promise<void> {
    const { clock, gracefulShutdownMs } = this.#parts.options;
    const endMs = clock.monotonicMs() + gracefulShutdownMs;
    const leftMs = (): number => Math.max(0, endMs - clock.monotonicMs());
    const { server, webhook, replica, leader } = this.runnables;
    const controllers = this.controllers;
    // Reconciles end before the sharded keys and the lease are released.
    const working = [controllers.leader.stop(leftMs()), controllers.shards.stop(leftMs())];
    await this.#endAll(working, [leader.stop(leftMs())]);
    this.#releasing.abort(new OperatorError('Stopped', 'the manager stops'));
    if (!(await endsWithin(this.#election, Math.max(unwindMs, leftMs()), clock))) {
      this.#fail(new OperatorError('Timeout', 'leader election has not ended'));
    }
    await this.#endAll([controllers.replica.stop(leftMs())], [replica.stop(leftMs())]);
    const { clusters } = this.#parts;
    await Promise.all(clusters.all.map((cluster) => cluster.stop()));
    await clusters.left();
    await this.#endAll([], [webhook.stop(leftMs())]);
    await this.#endAll([], [server.stop(leftMs())]);
    // The last Event often explains why an operator stops.
    await Promise.all(clusters.all.map((cluster) => cluster.stopRecorders()));
    this.#refuseUnfinished();
  }

  /** A reconcile that ignores its signal is a failure: its handler still runs, though it can't write. */
  #refuseUnfinished(): void {
    const names = Object.values(this.controllers).flatMap(({ unfinished }) => unfinished);
    if (names.length === 0) return;
    const problem = `reconciles have not ended in time: ${names.join(', ')}`;
    const remedy = "pass the context's signal on, which is aborted at a stop";
    this.#fail(new OperatorError('Timeout', `${problem}; ${remedy}`));
  }

  /** Waits for `work` and for runnables; a runnable that does not end is a failure. */
  async #endAll(
    work: readonly Promise<void>[],
    runnables: readonly Promise<readonly string[]>[],
  ): Promise<void> {
    const [left] = await Promise.all([Promise.all(runnables), Promise.all(work)]);
    const names = left.flat();
    if (names.length === 0) return;
    this.#fail(
      new OperatorError('Timeout', `runnables have not ended in time: ${names.join(', ')}`),
    );
  }

  #fail(error: unknown): void {
    if (this.#failure === undefined) this.#failure = { error };
    else
      this.#parts.options.logger.error(
        'the manager is ending because of an earlier failure; this is a further one',
        { error },
      );
    this.#end();
  }

  #end(): void {
    this.#ending.abort(new OperatorError('Stopped', 'the manager stops'));
  }

  #become(phase: ManagerPhase): void {
    this.#phase = phase;
    this.#parts.changes.notify();
  }
}

/** Least time between the starts of two candidacies. A leadership that fails at once must not keep the process busy. */
const betweenCandidaciesMs = 1_000;

/**
 * Runs a leadership until it ends. Returns the error with which it ended; undefined if there was no error. A
 * {@link Leadership} of the user may throw the error, or reject with it.
 */
async function leading(
  leadership: Leadership,
  callbacks: LeadershipCallbacks,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    await leadership.run(callbacks, signal);
    return undefined;
  } catch (error) {
    return error;
  }
}

function lostLeadership(cause: unknown): unknown {
  if (cause !== undefined) return cause;
  const message = 'leader election ended: this process no longer leads';
  return new OperatorError('LeadershipLost', message);
}

const names = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs `work` until SIGINT or SIGTERM; a second signal ends the process at once.
 * @param logger - returns the logger when a signal arrives: `work` may create it
 */
export async function untilSignal(
  work: (signal: AbortSignal) => Promise<void>,
  logger: () => Logger,
): Promise<void> {
  const stopping = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stopping.signal.aborted) {
      logger().warn(`${name} again: ends at once`);
      process.exit(1);
    }
    logger().info(`${name}: stops`);
    stopping.abort(new OperatorError('Stopped', name));
  };
  for (const name of names) process.on(name, onSignal);
  try {
    await work(stopping.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}
