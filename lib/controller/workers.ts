import type { Fence } from '../client/index.js';
import { silentRecorder } from '../events/index.js';
import { endsWithin, turnIfDue, whenAborted, noTracer } from '../system/index.js';
import type { Clock, OperatorError, Timer } from '../system/index.js';
import { parseWorkKey } from './keys.js';
import type { WorkKey } from './keys.js';
import type { ControllerDefinition } from './options.js';
import { Outcomes } from './outcome.js';
import type { EndedReconcile, Outcome } from './outcome.js';
import type { WorkItem } from './queue.js';
import { LazyContext } from './lazy-context.js';
import { ReconcileRun } from './reconcile.js';
import type { RunEnd, RunScene } from './reconcile.js';
import { readableError } from './result.js';
import type { ControllerCluster, RunningCluster } from './running-cluster.js';
import type { ControllerParts } from './running-controller.js';

/** The environment of {@link Workers}. */
export interface Workplace {
  readonly runs: ActiveRuns;
  readonly clusterOf: (work: WorkKey) => RunningCluster | undefined;
}

/** Workers that take keys from the queue and reconcile them concurrently. */
export class Workers {
  readonly #definition: ControllerDefinition;
  readonly #parts: ControllerParts;
  readonly #place: Workplace;
  readonly #outcomes: Outcomes;
  readonly #labels: { readonly controller: string };
  readonly #scenes = new WeakMap<ControllerCluster, RunScene>();

  constructor(definition: ControllerDefinition, parts: ControllerParts, place: Workplace) {
    this.#definition = definition;
    this.#parts = parts;
    this.#place = place;
    this.#labels = { controller: parts.name };
    this.#outcomes = new Outcomes(parts);
  }

  /** Starts `count` workers; they end when the queue is shut down. */
  start(count: number): void {
    for (let n = 0; n < count; n++) void this.#work();
  }

  async #work(): Promise<void> {
    const { queue, metrics } = this.#parts;
    for (let item = await queue.get(); item; item = queue.take() ?? (await queue.get())) {
      metrics.activeWorkers.add(1, this.#labels);
      await this.#reconcile(item);
      metrics.activeWorkers.add(-1, this.#labels);
      // Let other work of the process run: reconciles that only read the cache never wait for the event loop.
      const turn = turnIfDue();
      if (turn !== undefined) await turn;
    }
  }

  /** Resolves when the reconcile ends or times out, so that the worker is free. Never throws. */
  async #reconcile(item: WorkItem): Promise<void> {
    let run: ReconcileRun | undefined;
    try {
      const work = parseWorkKey(item.key);
      const cluster = this.#clusterFor(work);
      if (cluster === undefined) {
        this.#refuse(work);
        return;
      }
      run = this.#newRun(work, cluster);
      this.#place.runs.add(run);
      const begun = { item, run, cluster };
      if (this.#parts.runtime.tracer !== noTracer) await this.#traced(begun);
      else this.#handle(begun, await this.#run(run));
    } catch (error) {
      this.#survive(item, run, error);
    }
  }

  /** Returns the cluster of a key; undefined if the key may no longer be reconciled. */
  #clusterFor(work: WorkKey): RunningCluster | undefined {
    // Since the key was handed out, the controller may have been stopped, the cluster removed, or the key
    // released (`released` may be called after `owns` has changed).
    return this.#parts.mayQueue(work) ? this.#place.clusterOf(work) : undefined;
  }

  #refuse(work: WorkKey): void {
    this.#parts.triggers.take(work.text);
    this.#parts.giveUp(work);
    this.#parts.queue.done(work.text);
  }

  #newRun(work: WorkKey, cluster: ControllerCluster): ReconcileRun {
    const { triggers, runtime } = this.#parts;
    const reconcileID = runtime.random.uuid();
    const subject = { work, reconcileID, triggers: triggers.take(work.text) };
    return new ReconcileRun(subject, this.#sceneOf(cluster));
  }

  #sceneOf(cluster: ControllerCluster): RunScene {
    const known = this.#scenes.get(cluster);
    if (known !== undefined) return known;
    const { kind, logger, owns, reportingController, runtime } = this.#parts;
    const scene: RunScene = {
      ...{ kind, logger, owns, client: cluster.client, planning: false },
      ...{ clock: runtime.clock, tracer: runtime.tracer },
      recorder: () => cluster.recorder?.(reportingController) ?? silentRecorder,
      observe: (run, target) => {
        const before = cluster.cache.peek(target.type)?.get(target.key);
        return (write) => this.#outcomes.wrote(run.work, write, before);
      },
    };
    this.#scenes.set(cluster, scene);
    return scene;
  }

  #run(run: ReconcileRun): Promise<RunEnd> {
    const { reconciler, options } = this.#definition;
    // Create the context inside of `run`: a fence may throw, which must count as an error of the reconcile.
    return run.run(() => {
      run.fences = this.#fencesOf(run.work);
      return reconciler(new LazyContext(run));
    }, options.reconcileTimeoutMs);
  }

  /** Returns the fences in their current terms. */
  #fencesOf(work: WorkKey): readonly Fence[] {
    const { owned, runtime } = this.#parts;
    const ofKey = owned.fencesOf(work);
    const all = runtime.fence === undefined ? ofKey : [runtime.fence, ...ofKey];
    return all.length === 0 ? all : all.map((fence) => fence.term?.() ?? fence);
  }

  async #traced(begun: EndedReconcile): Promise<void> {
    const { run } = begun;
    const { tracer } = this.#parts.runtime;
    await tracer.span(`reconcile ${this.#parts.kind}`, this.#attributesOf(run), async (span) => {
      run.span = span;
      const { outcome, error } = this.#handle(begun, await this.#run(run));
      span.set({ result: outcome });
      if (outcome === 'error' || outcome === 'terminal') span.failed(error);
      else if (outcome === 'timeout') span.failed(run.signal.reason);
    });
  }

  #attributesOf({ work, reconcileID }: ReconcileRun): Record<string, string> {
    const { name, kind } = this.#parts;
    const { cluster, key } = work;
    return {
      'k8s.controller': name,
      'k8s.kind': kind,
      'k8s.cluster.name': cluster,
      'k8s.namespace.name': key.namespace ?? '',
      'k8s.object.name': key.name,
      'reconcile.id': reconcileID,
    };
  }

  /** Requeues the key as `end` requires, and frees it as soon as the run has ended. */
  #handle(ended: EndedReconcile, end: RunEnd): Outcome {
    const { run } = ended;
    const outcome = this.#outcomes.handle(ended, end);
    if (end.type === 'timedOut') void this.#hold(run);
    // The handler left a pending write: the key stays in process until it settles.
    else if (!run.hasEnded) void run.whenEnded().then(() => this.#free(run));
    else this.#free(run);
    return outcome;
  }

  /** Holds the key of a timed-out run until the run has ended. */
  async #hold(run: ReconcileRun): Promise<void> {
    const { heldKeys } = this.#parts.metrics;
    heldKeys.add(1, this.#labels);
    await run.whenEnded();
    this.#free(run);
    heldKeys.add(-1, this.#labels);
    const { lastedMs, failure } = run;
    const fields = { lastedMs: Math.round(lastedMs), ...(failure && { error: failure.error }) };
    const text = 'reconcile ended after its time-out';
    // The time-out itself is logged already.
    if (isCausedBy(failure?.error, run.signal.reason)) run.logger.debug(text, fields);
    else run.logger.warn(text, fields);
  }

  #free(run: ReconcileRun): void {
    this.#place.runs.delete(run);
    this.#parts.queue.done(run.work.text);
  }

  /** Logs an error from outside the reconciler, for example of a tracer or a `KeyOwnership`. */
  #survive(item: WorkItem, run: ReconcileRun | undefined, error: unknown): void {
    const { queue, logger } = this.#parts;
    // Free the key only if the handler was not called. After the call, the key is already free, or stays held until
    // the handler ends.
    if (run?.isBegun !== true) {
      queue.addRateLimited(item.key, item.priority);
      if (run !== undefined) this.#place.runs.delete(run);
      queue.done(item.key);
    }
    const fields = { key: item.key, error: readableError(error) };
    try {
      logger.error('error outside the reconciler', fields);
    } catch {
      // The logger itself may throw, which leaves no way to report the error.
    }
  }
}

/** Whether an error, or a cause of it, is `reason`: clients wrap the reason of an aborted signal. */
function isCausedBy(error: unknown, reason: unknown): boolean {
  const seen = new Set<unknown>();
  for (let each = error; each instanceof Error && !seen.has(each); each = each.cause) {
    if (each === reason) return true;
    seen.add(each);
  }
  return false;
}

/** Time for an aborted reconcile to end, in milliseconds. */
const unwindMs = 1_000;

/** Options of {@link ActiveRuns.end}. */
export interface EndOptions {
  /** Grace period before reconciles are aborted, in milliseconds. */
  readonly graceMs: number;
  readonly reason: OperatorError;
  /**
   * Cuts off pending writes one second after the abort. Use it if no other process takes over the keys, or
   * if a stop must end. @defaultValue false: waits for pending writes
   */
  readonly cutsWrites?: boolean;
}

/** The time after which a log line names a reconcile that has no time-out and has not ended, in milliseconds. */
const patienceMs = 60_000;

/**
 * The reconciles in progress, by the text of their keys. One that does not end is logged a minute after its
 * time-out, or after its start if it has none, and again each time that it has lasted twice as long.
 */
export class ActiveRuns {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #runs = new Map<string, ReconcileRun>();
  #timer: Timer | undefined;

  constructor(clock: Clock, reconcileTimeoutMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs + (reconcileTimeoutMs === Infinity ? 0 : reconcileTimeoutMs);
  }

  add(run: ReconcileRun): void {
    this.#runs.set(run.work.text, run);
    // One timer for all reconciles, and not cancelled when they end: nearly all are short.
    this.#timer ??= this.#clock.setTimer(() => this.#warn(), this.#patienceMs);
  }

  delete(run: ReconcileRun): void {
    this.#runs.delete(run.work.text);
  }

  all(): ReconcileRun[] {
    return [...this.#runs.values()];
  }

  /** Aborts all reconciles. */
  abort(reason: OperatorError): void {
    for (const run of this.#runs.values()) run.abort(reason);
  }

  /**
   * Waits until all reconciles have ended, aborts them after the grace period, and resolves when none of them
   * can still write.
   * @returns the reconciles that have not ended within a second of the abort, or that were aborted earlier
   */
  async endAll(options: EndOptions): Promise<ReconcileRun[]> {
    const runs = this.all();
    await this.#endOrAbort(runs, options);
    // Do not wait for reconciles that were aborted more than a second ago: one bad handler must not slow down every
    // stop.
    const unwinding = runs.filter(({ abortedForMs = Infinity }) => abortedForMs < unwindMs);
    this.#timer?.cancel();
    return this.#unwind(runs, unwinding, options);
  }

  /**
   * Waits until `runs` have ended, and aborts them after the grace period. Resolves when none of them can
   * still write. If a handler never ends, its new writes are refused, and its pending ones are awaited.
   */
  async end(runs: readonly ReconcileRun[], options: EndOptions): Promise<void> {
    const aborted = await this.#endOrAbort(runs, options);
    await this.#unwind(runs, aborted, options);
  }

  /** Logs the reconciles that do not end, and sets the timer to the next time to look at them. */
  #warn(): void {
    const waitsMs = this.all().map((run) => run.warnOfLength(this.#patienceMs));
    const nextMs = Math.min(this.#patienceMs, ...waitsMs);
    this.#timer =
      waitsMs.length === 0 ? undefined : this.#clock.setTimer(() => this.#warn(), nextMs);
  }

  /**
   * Waits at most a second until the reconciles in `unwinding` have ended. @returns the reconciles in `runs` that
   * have not ended then
   */
  async #unwind(
    runs: readonly ReconcileRun[],
    unwinding: readonly ReconcileRun[],
    { reason, cutsWrites = false }: EndOptions,
  ): Promise<ReconcileRun[]> {
    const ended = allOf(unwinding.map((run) => run.whenEnded()));
    if (unwinding.length > 0) await endsWithin(ended, unwindMs, this.#clock);
    const stuck = runs.filter((run) => !run.hasEnded);
    if (cutsWrites) for (const run of stuck) run.abort(reason);
    await allOf(runs.map((run) => run.whenHarmless()));
    return stuck;
  }

  /** @returns the reconciles that were aborted meanwhile; after the grace period, all that were in progress */
  async #endOrAbort(
    runs: readonly ReconcileRun[],
    { graceMs, reason }: EndOptions,
  ): Promise<readonly ReconcileRun[]> {
    // Timed-out reconciles are already aborted: only their last writes are pending.
    const going = runs.filter(({ isAborted }) => !isAborted);
    if (going.length === 0) return [];
    // Does not wait for a reconcile that is aborted meanwhile, for example by a stop.
    const over = allOf(
      going.map((run) => Promise.race([run.whenEnded(), whenAborted(run.signal)])),
    );
    if (await endsWithin(over, graceMs, this.#clock)) return going.filter((run) => !run.hasEnded);
    for (const run of going) run.abort(reason, true);
    return going;
  }
}

async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  await Promise.all(promises);
}
