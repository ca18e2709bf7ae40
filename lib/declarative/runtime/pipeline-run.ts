import { ChangeNotifier } from '../../cache/index.js';
import type { CacheEvent } from '../../cache/index.js';
import type {
  SourceContext,
  StartedSource,
  StartedSourceStatus,
  Trigger,
} from '../../controller/index.js';
import { eventTrigger } from '../../controller/index.js';
import type { ObjectKey } from '../../object/index.js';
import type { Timer } from '../../system/index.js';
import { delayAfter, nextTurn } from '../../system/index.js';
import type { PipelinePlan } from '../engine/compile-pipeline.js';
import type { StageFailure } from '../engine/linear-node.js';
import type { SpecPath } from '../spec-problem.js';
import type { Lineage } from '../views/view-writers.js';
import type { DocumentSource, StartedDocuments } from './document-sources.js';
import { PipelineState } from './pipeline-state.js';
import type { DesiredObject, DocumentReader } from './pipeline-state.js';

/** Parts of a {@link PipelineRun}. */
export interface PipelineRunParts {
  readonly plan: PipelinePlan;
  /** The sources, in the order of the plan. */
  readonly sources: readonly DocumentSource[];
  /** The period of each `Periodic` source, in milliseconds. */
  readonly periodsMs: readonly number[];
  readonly targetPath: SpecPath;
  /** The name of the controller in a {@link Lineage}. */
  readonly controller: string;
  readonly enqueue: (key: ObjectKey, cause: PipelineCause) => void;
  readonly listener: PipelineRunListener;
  /**
   * Waits until other controllers have written the objects of the sources.
   * @defaultValue no wait
   * @throws the signal's reason, as soon as it is aborted.
   */
  readonly whenFilled?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** Why an object is to be written. */
export interface PipelineCause {
  readonly trigger: Trigger;
  /** The earlier writes of this process that led to this write; undefined if it has another cause. */
  readonly lineage?: Lineage | undefined;
}

/** Callbacks of a {@link PipelineRun}. */
export interface PipelineRunListener {
  /** Called when data errors have excluded documents. */
  readonly failed: (failures: readonly StageFailure[]) => void;
  /** Called when the problem of a source has changed. */
  readonly troubled: (source: string, problem: Error) => void;
  /** Called when the properties of the run may have changed. */
  readonly changed: () => void;
  /** Called at each retry of the cache while a kind is not served. */
  readonly unserved: () => void;
}

/**
 * Key of a full reconcile, which processes all source objects and all targets again, like a resync. Its reconcile
 * enqueues the objects to write or to remove. No result has this name: a `%` is not allowed.
 */
export const fullReconcileKey: ObjectKey = { name: '(full reconcile)%' };

/** Number of documents processed before other work of the process has its turn. */
export const documentsInTurn = 100;

/**
 * The running sources and pipeline of a controller. The initial lists go into a state that is used only once
 * it is complete. From then on each change is processed as it arrives.
 *
 * A full reconcile processes everything again. It reads each document, which includes updates that a predicate
 * filtered out, and compares each object of the target with its live state. If expressions depend on time or
 * chance, it starts with a new state, so that they are evaluated again.
 */
export class PipelineRun implements StartedSource {
  readonly #parts: PipelineRunParts;
  readonly #context: SourceContext;
  readonly #documents: StartedDocuments[] = [];
  readonly #readers: readonly DocumentReader[];
  readonly #changes = new ChangeNotifier();
  readonly #timers = new Set<Timer>();
  /** The last reported problem of each source. */
  readonly #reported: (string | undefined)[] = [];
  /** The state in use; undefined until the initial lists are processed. */
  #state: PipelineState | undefined;
  /** The next state. Replaces the current one once it has processed all documents. */
  #next: PipelineState | undefined;
  #isFilled = false;
  #isListed = false;
  #isPassWanted = true;
  #isStopped = false;
  #isPumping = false;
  /** Whether an error has left the current state half processed. */
  #isBroken = false;
  /** Number of errors since a new state was last put into use. */
  #failures = 0;
  #pumping: Promise<void> = Promise.resolve();

  constructor(parts: PipelineRunParts, context: SourceContext) {
    this.#parts = parts;
    this.#context = context;
    const names = parts.sources.map(({ name }) => name);
    this.#readers = names.map((name, place) => ({
      name,
      get: (key) => this.#documents[place]?.get(key),
      keys: () => this.#documents[place]?.keys() ?? [],
      lineageOf: (origin) => this.#documents[place]?.lineageOf?.(origin),
    }));
    this.#next = this.#newState();
    this.#startAll();
    for (const periodMs of parts.periodsMs) this.#arm(periodMs);
  }

  /** Whether all sources are listed. The controllers that fill them may not have run yet. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Whether the desired objects are known. */
  get isSynced(): boolean {
    return this.#state !== undefined;
  }

  /** Number of documents that are excluded now. */
  get failing(): number {
    return this.#state?.failing ?? 0;
  }

  /** Yields the documents that are excluded now. */
  failures(): Iterable<StageFailure> {
    return this.#state?.failures() ?? [];
  }

  /** Returns the current problems of the pipeline and its sources, one text each. */
  problems(): readonly string[] {
    const ofSources = this.#documents.flatMap(({ problem }, place) =>
      problem === undefined
        ? []
        : [`source ${this.#readers[place]?.name ?? ''}: ${problem.message}`],
    );
    return this.#isBroken ? [brokenText, ...ofSources] : ofSources;
  }

  /** An unreadable object of a source, whose results are unknown; undefined if there is no such object. */
  get unreadable(): string | undefined {
    return this.#documents.find(({ unreadable }) => unreadable !== undefined)?.unreadable;
  }

  /** All desired objects, by `namespace/name`; undefined if not known yet. */
  get desired(): ReadonlyMap<string, DesiredObject> | undefined {
    return this.#state?.desired;
  }

  /** Resolves when the desired objects are known. Unlike the sources of other controllers, waits for unserved kinds. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#documents.map((documents) => documents.whenSynced(signal)));
    this.#isListed = true;
    this.#parts.listener.changed();
    if (this.#parts.whenFilled !== undefined) {
      await this.#parts.whenFilled(signal);
      await Promise.all(this.#documents.map(async (documents) => documents.caughtUp?.(signal)));
    }
    this.#isFilled = true;
    this.#pump();
    await this.#changes.until(() => this.isSynced || this.#isStopped, { signal });
  }

  /** Starts a full reconcile. */
  replay(): void {
    this.#passAgain();
  }

  status(): StartedSourceStatus {
    return {
      synced: this.isSynced,
      parked: this.#documents.some(({ parked }) => parked),
      problem: this.problems()[0],
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
    for (const documents of this.#documents) documents.stop();
    this.#changes.notify();
    await this.#pumping;
  }

  #startAll(): void {
    try {
      for (const [place, source] of this.#parts.sources.entries()) {
        const started = source.start(this.#context, {
          changed: (key, event) => this.#changed(place, key, event),
          troubled: () => this.#troubled(place),
        });
        this.#documents.push(started);
      }
    } catch (error) {
      this.#isStopped = true;
      for (const documents of this.#documents) documents.stop();
      throw error;
    }
  }

  #newState(): PipelineState {
    const { plan, targetPath, controller } = this.#parts;
    return new PipelineState(plan, this.#readers, { targetPath, controller });
  }

  #changed(place: number, key: string, event?: CacheEvent): void {
    this.#state?.changed(place, key, event);
    this.#next?.changed(place, key, event);
    this.#pump();
  }

  #troubled(place: number): void {
    const problem = this.#documents[place]?.problem;
    const { listener, sources } = this.#parts;
    // Compare the messages: each failed retry is a new error with the same message.
    const isNew = problem?.message !== this.#reported[place];
    this.#reported[place] = problem?.message;
    if (problem !== undefined && isNew) listener.troubled(sources[place]?.name ?? '', problem);
    if (this.#documents[place]?.parked === true) listener.unserved();
    listener.changed();
  }

  #arm(periodMs: number): void {
    const timer = this.#context.clock.setTimer(() => {
      this.#timers.delete(timer);
      this.#arm(periodMs);
      this.#passAgain();
    }, periodMs);
    this.#timers.add(timer);
  }

  #passAgain(): void {
    // The first full reconcile is still to come, so no other one is needed.
    if (this.#state === undefined || this.#isStopped) return;
    this.#isPassWanted = true;
    if (isVolatile(this.#parts.plan)) this.#next ??= this.#newState();
    (this.#next ?? this.#state).allChanged();
    this.#pump();
  }

  #pump(): void {
    if (this.#isStopped || this.#isPumping) return;
    this.#isPumping = true;
    this.#pumping = this.#workOff();
  }

  async #workOff(): Promise<void> {
    try {
      do {
        await nextTurn();
        if (this.#isStopped) return;
        this.#turn();
      } while (!this.#isIdle());
      // Reset synchronously: later changes must start a new loop.
      this.#isPumping = false;
    } catch (error) {
      this.#startOver(error);
    }
  }

  /**
   * Processes everything again in a new state, with back-off. Errors of expressions exclude their documents, and do not
   * get here.
   */
  #startOver(error: unknown): void {
    this.#context.failed('pipeline', error);
    this.#isBroken = true;
    this.#failures++;
    const timer = this.#context.clock.setTimer(
      () => {
        this.#timers.delete(timer);
        this.#next = this.#newState();
        this.#next.allChanged();
        this.#isPumping = false;
        this.#pump();
      },
      delayAfter(this.#failures, { baseMs: 1_000, maxMs: 300_000 }),
    );
    this.#timers.add(timer);
    this.#parts.listener.changed();
  }

  #isIdle(): boolean {
    const isIdle = this.#isBroken || (this.#state?.isIdle ?? true);
    return isIdle && (this.#next?.isIdle ?? true);
  }

  /** Processes one slice of work, of the state in use and of the next one. */
  #turn(): void {
    const worked = this.#isBroken ? undefined : this.#state?.work(documentsInTurn);
    if (worked !== undefined) {
      const { source, event, keys, lineage } = worked;
      const trigger: Trigger =
        event === undefined
          ? { type: 'source', source }
          : eventTrigger(event, this.#context.cluster);
      for (const key of keys) this.#parts.enqueue(key, { trigger, lineage });
    }
    this.#next?.work(documentsInTurn);
    this.#report(this.#state);
    if (this.#next?.isIdle === true && this.#isFilled) this.#takeOver(this.#next);
    if (this.#isPassWanted && this.#state?.isIdle === true && this.#next === undefined) {
      this.#isPassWanted = false;
      this.#parts.enqueue(fullReconcileKey, fullReconcileCause);
    }
  }

  #takeOver(next: PipelineState): void {
    const before = this.#state;
    this.#state = next;
    this.#next = undefined;
    // The failed state may have had changes that it did not enqueue: only a full reconcile finds them.
    this.#isPassWanted ||= this.#isBroken;
    this.#isBroken = false;
    this.#failures = 0;
    for (const [text, { key }] of before?.desired ?? []) {
      if (!next.desired.has(text)) this.#parts.enqueue(key, fullReconcileCause);
    }
    const known = new Set([...(before?.failures() ?? [])].map(textOf));
    for (const failure of before?.takeNewFailures() ?? []) known.delete(textOf(failure));
    this.#report(next, known);
    this.#changes.notify();
  }

  /** @param known - the failures that were reported before, as texts */
  #report(state: PipelineState | undefined, known: ReadonlySet<string> = new Set()): void {
    const fresh = state?.takeNewFailures() ?? [];
    const failures = fresh.filter((failure) => !known.has(textOf(failure)));
    if (failures.length > 0) this.#parts.listener.failed(failures);
    this.#parts.listener.changed();
  }
}

function textOf({ path, subject, error }: StageFailure): string {
  return [...path, subject, error.message].join('\n');
}

/** The message omits the error, which may contain data of a Secret. */
const brokenText = 'pipeline: it failed outside of its expressions, and runs again; see the log';

const fullReconcileCause: PipelineCause = { trigger: { type: 'source', source: 'full reconcile' } };

/** Whether expressions may yield different results for the same documents: `@now`, `@rnd`. */
function isVolatile({ join, stages }: PipelinePlan): boolean {
  return join?.rest?.volatile === true || stages.some(({ step }) => step.volatile);
}
