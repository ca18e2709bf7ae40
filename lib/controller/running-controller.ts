import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyString } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import { newControllerMetrics } from './controller-metrics.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { ResolvedControllerOptions } from './controller-options.js';
import type { ControllerParts } from './controller-parts.js';
import type { ResolvedRuntime } from './controller-runtime.js';
import { endsWithin } from './ends-within.js';
import { HotLoopDetector } from './hot-loop-detector.js';
import { Outcomes } from './outcomes.js';
import { ReconcileContexts } from './reconcile-contexts.js';
import { ReconcileRun } from './reconcile-run.js';
import type { Reconciler } from './reconciler.js';
import type { Source, SourceContext, StartedSource } from './source.js';
import { PendingTriggers } from './trigger.js';
import type { Trigger } from './trigger.js';
import { WorkQueue } from './work-queue.js';
import type { AddOptions, WorkItem } from './work-queue.js';

/** What a controller is. */
export interface ControllerDefinition {
  /** The kind whose objects are reconciled. */
  readonly type: TypeReference<KubernetesObject>;
  readonly options: ResolvedControllerOptions;
  readonly sources: readonly Source[];
  readonly reconciler: Reconciler;
}

/** A reconcile that goes on. */
export interface ActiveReconcile {
  readonly key: string;
  readonly reconcileID: string;
  /** So far, in milliseconds. */
  readonly lastedMs: number;
  /** Its time is over; the key is held until it ends. */
  readonly isTimedOut: boolean;
}

/** What a controller is doing. */
export interface ControllerStatus {
  readonly name: string;
  /** Reconciles happen: it was activated, and its sources are synced. */
  readonly isActive: boolean;
  /** How many keys wait for a worker. */
  readonly depth: number;
  /** How many keys wait for their time. */
  readonly delayed: number;
  readonly active: readonly ActiveReconcile[];
}

/** How long reconciles have to end once their signal was aborted. */
const unwindMs = 1_000;

/** A controller at work. */
export class RunningController {
  readonly #definition: ControllerDefinition;
  readonly #runtime: ResolvedRuntime;
  readonly #logger: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #labels: { readonly controller: string };
  readonly #queue: WorkQueue;
  readonly #triggers = new PendingTriggers();
  readonly #hotLoops: HotLoopDetector | undefined;
  readonly #contexts: ReconcileContexts;
  readonly #outcomes: Outcomes;
  readonly #active = new Map<string, ReconcileRun>();
  readonly #started: readonly StartedSource[];
  readonly #ending = new AbortController();
  readonly #onAbort = (): void => void this.stop();
  #activation: Promise<void> | undefined;
  #isActive = false;
  #stopping: Promise<void> | undefined;

  /** @internal Use {@link Controller.start}. */
  constructor(definition: ControllerDefinition, runtime: ResolvedRuntime) {
    const { name, backoff, hotLoop, maxConcurrentReconciles } = definition.options;
    const { clock, metrics } = runtime;
    this.#definition = definition;
    this.#runtime = runtime;
    this.#logger = runtime.logger.child({ controller: name });
    this.#labels = { controller: name };
    this.#metrics = newControllerMetrics(metrics);
    this.#metrics.maxConcurrent.set(maxConcurrentReconciles, this.#labels);
    this.#queue = new WorkQueue({ name, clock, metrics, backoff });
    this.#hotLoops = hotLoop === false ? undefined : new HotLoopDetector(clock, hotLoop);
    const parts: ControllerParts = {
      name,
      kind: definition.type.kind,
      ...{ queue: this.#queue, triggers: this.#triggers, hotLoops: this.#hotLoops },
      ...{ metrics: this.#metrics, logger: this.#logger, runtime },
    };
    this.#contexts = new ReconcileContexts(parts);
    this.#outcomes = new Outcomes(parts);
    this.#started = this.#startSources();
    runtime.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (runtime.signal?.aborted === true) void this.stop();
    else if (!runtime.standby) this.activate().catch(() => undefined); // Logged there.
  }

  /** Its name, in logs and metrics. */
  get name(): string {
    return this.#definition.options.name;
  }

  /** Begins to reconcile as soon as the sources are synced; resolves then, or when it is stopped. */
  activate(): Promise<void> {
    this.#activation ??= this.#activate();
    return this.#activation;
  }

  /**
   * Asks for a reconcile of `key`, for example in a spec.
   * @throws OperatorError `InvalidValue`: no object can have such a key.
   */
  enqueue(key: ObjectKey, options: AddOptions = {}): void {
    this.#add(key, { type: 'source', source: 'enqueue' }, options);
  }

  /** What it is doing. */
  status(): ControllerStatus {
    const active = [...this.#active.values()].map(({ key, reconcileID, lastedMs, isTimedOut }) => ({
      ...{ key, reconcileID, lastedMs, isTimedOut },
    }));
    const { depth, delayed } = this.#queue;
    return { name: this.name, isActive: this.#isActive, depth, delayed, active };
  }

  /**
   * Ends it: no reconcile begins any more; those that go on may end within `graceMs` (else: the
   * runtime's `gracefulShutdownMs`), then their signals are aborted and their writes refused.
   * Resolves when all have ended, or a second after that.
   */
  stop(graceMs: number = this.#runtime.gracefulShutdownMs): Promise<void> {
    // Later calls can make it sooner, as when a lease is lost during a stop.
    if (graceMs <= 0) this.#abortActive();
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  async #activate(): Promise<void> {
    const { signal } = this.#ending;
    try {
      await Promise.all(this.#started.map(async ({ whenSynced }) => whenSynced?.(signal)));
    } catch (error) {
      if (signal.aborted) return;
      this.#logger.error('a source can not be synced: nothing is reconciled', { error });
      throw error;
    }
    if (signal.aborted) return;
    this.#isActive = true;
    const { maxConcurrentReconciles } = this.#definition.options;
    this.#logger.info('controller started', { workers: maxConcurrentReconciles });
    for (let n = 0; n < maxConcurrentReconciles; n++) void this.#work();
  }

  async #stop(graceMs: number): Promise<void> {
    const { clock, signal } = this.#runtime;
    this.#isActive = false;
    signal?.removeEventListener('abort', this.#onAbort);
    this.#ending.abort(new OperatorError('Stopped', `controller ${this.name} was stopped`));
    this.#queue.shutDown();
    this.#triggers.clear();
    const sources = this.#stopSources(this.#started);
    const drained = this.#queue.drained();
    if (!(await endsWithin(drained, graceMs, clock))) {
      this.#abortActive();
      if (!(await endsWithin(drained, unwindMs, clock))) {
        const keys = [...this.#active.keys()];
        this.#logger.error('reconciles did not end when they were aborted', { keys });
      }
    }
    await sources;
    this.#logger.info('controller stopped');
  }

  #startSources(): readonly StartedSource[] {
    const started: StartedSource[] = [];
    try {
      for (const source of this.#definition.sources) {
        started.push(source.start(this.#contextOf(source)));
      }
    } catch (error) {
      void this.#stopSources(started);
      this.#queue.shutDown();
      throw error;
    }
    return started;
  }

  async #stopSources(sources: readonly StartedSource[]): Promise<void> {
    const stopped = await Promise.allSettled(sources.map(async (source) => source.stop()));
    for (const each of stopped) {
      if (each.status === 'fulfilled') continue;
      this.#logger.error('a source did not stop', { error: each.reason as unknown });
    }
  }

  #abortActive(): void {
    const reason = new OperatorError('Stopped', `controller ${this.name} was stopped`);
    for (const run of this.#active.values()) run.abort(reason);
  }

  #contextOf(source: Source): SourceContext {
    const { cache, client, clock, random } = this.#runtime;
    const logger = this.#logger.child({ source: source.name });
    return {
      ...{ cache, client, clock, random, logger },
      enqueue: (key, { trigger, priority }) => this.#add(key, trigger, { priority }),
      failed: (what, error, object) => {
        const { namespace, name } = object?.metadata ?? {};
        this.#metrics.sourceErrors.add(1, { ...this.#labels, source: source.name });
        logger.error(`${what} of source ${source.name} threw`, { error, namespace, name });
      },
    };
  }

  #add(key: ObjectKey, trigger: Trigger, options: AddOptions): void {
    if (this.#stopping !== undefined) return;
    const text = checkedKey(key);
    this.#triggers.add(text, trigger);
    const afterMs = Math.max(options.afterMs ?? 0, this.#hotLoops?.delayMs(text) ?? 0);
    this.#queue.add(text, { ...options, afterMs });
  }

  async #work(): Promise<void> {
    for (let item = await this.#queue.get(); item; item = await this.#queue.get()) {
      this.#metrics.activeWorkers.add(1, this.#labels);
      await this.#reconcile(item);
      this.#metrics.activeWorkers.add(-1, this.#labels);
    }
  }

  /** Resolves when the worker is free: at the end, or the time-out, of the reconcile. */
  async #reconcile(item: WorkItem): Promise<void> {
    const { clock, random } = this.#runtime;
    const { reconciler, options } = this.#definition;
    const run = new ReconcileRun(item.key, random.uuid(), clock);
    this.#active.set(item.key, run);
    const context = this.#contexts.of(run);
    const ended = await run.run(() => reconciler(context), options.reconcileTimeoutMs);
    this.#outcomes.heed({ item, run, logger: context.logger }, ended);
    if (ended.type !== 'timedOut') {
      this.#free(item.key);
      return;
    }
    this.#metrics.heldKeys.add(1, this.#labels);
    void ended.settled.then(() => {
      context.logger.warn('reconcile ended after its time-out', { lastedMs: run.lastedMs });
      this.#metrics.heldKeys.add(-1, this.#labels);
      this.#free(item.key);
    });
  }

  #free(key: string): void {
    this.#active.delete(key);
    this.#queue.done(key);
  }
}

/** @throws OperatorError `InvalidValue`: no object can have such a key. */
function checkedKey(key: ObjectKey): string {
  const { name, namespace = '' } = key;
  if (name !== '' && !name.includes('/') && !namespace.includes('/')) return keyString(key);
  throw new OperatorError('InvalidValue', `no object has the key ${JSON.stringify(key)}`);
}
