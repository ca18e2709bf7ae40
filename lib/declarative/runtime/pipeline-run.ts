import { ChangeNotifier } from '../../cache/change-notifier.js';
import type { CacheEvent } from '../../cache/informer.js';
import type { SourceContext, StartedSource, StartedSourceStatus } from '../../controller/source.js';
import { eventTrigger } from '../../controller/trigger.js';
import type { Trigger } from '../../controller/trigger.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import type { Timer } from '../../system/clock.js';
import { nextTurn } from '../../system/event-loop.js';
import type { PipelinePlan } from '../engine/pipeline-plan.js';
import type { StageFailure } from '../engine/stage-failure.js';
import type { SpecPath } from '../spec-problem.js';
import type { Lineage } from '../views/target-writes.js';
import type { DocumentSource, StartedDocuments } from './document-source.js';
import { PipelineState } from './pipeline-state.js';
import type { DesiredObject, DocumentReader } from './pipeline-state.js';

/** What a {@link PipelineRun} works with. */
export interface PipelineRunParts {
  readonly plan: PipelinePlan;
  /** In the order of the plan. */
  readonly sources: readonly DocumentSource[];
  /** Of each `Periodic` source, in milliseconds. */
  readonly periodsMs: readonly number[];
  readonly targetPath: SpecPath;
  /** As lineages name the controller. */
  readonly controller: string;
  /** Takes what has to be written, or looked at again. */
  readonly enqueue: (key: ObjectKey, cause: PipelineCause) => void;
  readonly listener: PipelineRunListener;
  /**
   * Waits until the sources have been filled by who is to fill them. @defaultValue they are
   * @throws the signal's reason, as soon as it is aborted.
   */
  readonly whenFilled?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** Why an object is to be written. */
export interface PipelineCause {
  readonly trigger: Trigger;
  /** The writes of this process that led to it; undefined: something else did. */
  readonly lineage?: Lineage | undefined;
}

/** What a {@link PipelineRun} tells. */
export interface PipelineRunListener {
  /** Documents were left out, since their data does not fit. */
  readonly failed: (failures: readonly StageFailure[]) => void;
  /** Something else is wrong with a source than before. */
  readonly troubled: (source: string, problem: Error) => void;
  /** What can be asked of it may have changed. */
  readonly changed: () => void;
}

/** Of a full pass: what there is to write, or to take back, is enqueued by its reconcile. */
export const fullPassKey: ObjectKey = { name: '(full pass)' };

/** So many documents go through at once; then whatever else waits in the process has its turn. */
export const documentsInTurn = 100;

/**
 * The sources and the pipeline of a controller, from its start to its end. The first lists go into a
 * state that is not used before all of it is there; from then on each change goes in as it comes.
 *
 * A full pass looks at everything once more: each document, so that what a predicate let pass unheard
 * counts, and each object of the target, live. Where expressions depend on time or chance, it begins
 * with a new state, so that they are worked out again.
 */
export class PipelineRun implements StartedSource {
  readonly #parts: PipelineRunParts;
  readonly #context: SourceContext;
  readonly #documents: StartedDocuments[] = [];
  readonly #readers: readonly DocumentReader[];
  readonly #changes = new ChangeNotifier();
  readonly #timers = new Set<Timer>();
  /** What was last told to be wrong with each source. */
  readonly #told: (string | undefined)[] = [];
  /** What is in use; undefined: the first lists are not through. */
  #state: PipelineState | undefined;
  /** What is to take its place, once everything went through it. */
  #next: PipelineState | undefined;
  #isFilled = false;
  #isListed = false;
  #isPassWanted = true;
  #isStopped = false;
  #isPumping = false;
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

  /** Whether all sources are listed; who fills them may have to come yet. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Whether what is desired is known. */
  get isSynced(): boolean {
    return this.#state !== undefined;
  }

  /** How many documents are left out now. */
  get failing(): number {
    return this.#state?.failing ?? 0;
  }

  /** The documents that are left out now. */
  failures(): readonly StageFailure[] {
    return this.#state?.failures() ?? [];
  }

  /** What is wrong with the sources now: one text for each. */
  problems(): readonly string[] {
    return this.#documents.flatMap(({ problem }, place) =>
      problem === undefined
        ? []
        : [`source ${this.#readers[place]?.name ?? ''}: ${problem.message}`],
    );
  }

  /** An object of a source of which it is not known what is made of it; undefined: there is none. */
  get unreadable(): string | undefined {
    return this.#documents.find(({ unreadable }) => unreadable !== undefined)?.unreadable;
  }

  /** All objects as they are to be, by `namespace/name`; undefined: it is not known yet. */
  get desired(): ReadonlyMap<string, DesiredObject> | undefined {
    return this.#state?.desired;
  }

  /** Unlike other sources it waits for kinds that are not served, too: without them nothing is known. */
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

  /** Has everything looked at once more. */
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
    // Each time that it is tried in vain it is another error that says the same.
    const isNew = problem?.message !== this.#told[place];
    this.#told[place] = problem?.message;
    if (problem !== undefined && isNew) listener.troubled(sources[place]?.name ?? '', problem);
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
    // The first one comes anyway.
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
    do {
      await nextTurn();
      if (this.#isStopped) return;
      this.#turn();
    } while (!this.#isIdle());
    // At once: what changes from now on has to begin anew.
    this.#isPumping = false;
  }

  #isIdle(): boolean {
    const { isIdle = true } = this.#state ?? {};
    return isIdle && (this.#next?.isIdle ?? true);
  }

  /** One slice of work, of what is in use and of what is made. */
  #turn(): void {
    const worked = this.#state?.work(documentsInTurn);
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
      this.#parts.enqueue(fullPassKey, fullPassCause);
    }
  }

  #takeOver(next: PipelineState): void {
    const before = this.#state;
    this.#state = next;
    this.#next = undefined;
    for (const [text, { key }] of before?.desired ?? []) {
      if (!next.desired.has(text)) this.#parts.enqueue(key, fullPassCause);
    }
    this.#report(next);
    this.#changes.notify();
    this.#parts.listener.changed();
  }

  #report(state: PipelineState | undefined): void {
    const failures = state?.takeNewFailures() ?? [];
    if (failures.length > 0) this.#parts.listener.failed(failures);
    this.#parts.listener.changed();
  }
}

const fullPassCause: PipelineCause = { trigger: { type: 'source', source: 'full pass' } };

/** Whether expressions may give something else for the same documents: `@now`, `@rnd`. */
function isVolatile({ join, stages }: PipelinePlan): boolean {
  const steps = stages.flatMap((stage) => (stage.type === 'each' ? [stage.step] : []));
  return [...steps, ...(join?.rest === undefined ? [] : [join.rest])].some((step) => step.volatile);
}
