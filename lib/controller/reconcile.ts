import type { CachingClient, Client } from '../client/client.js';
import type { Fence } from '../client/fence.js';
import { fenced } from '../client/fenced.js';
import { silentRecorder } from '../events/recorder.js';
import type { Recorder } from '../events/recorder.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyOf, keyString } from '../object/object-key.js';
import { endsWithin, systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import { noSpan } from '../system/tracer.js';
import type { Span } from '../system/tracer.js';
import { whenAborted } from '../system/when-aborted.js';
import { ownedTypes } from './controller.js';
import type { ControllerDefinition } from './controller.js';
import { workKeyOf } from './keys.js';
import type { WorkKey } from './keys.js';
import { shownKey, tell } from './outcome.js';
import { reconcileClient } from './reconcile-client.js';
import type { ObservedWrite, ReconcileClient } from './reconcile-client.js';
import { checkedResult, InvalidResultError, isResult, readableError, shapeOf } from './result.js';
import type { Result } from './result.js';
import type { ControllerCluster } from './running-cluster.js';
import type { ControllerParts } from './running-controller.js';
import { traced } from './tracing.js';
import type { Trigger, TriggerList } from './trigger.js';

/** The result of a handler. */
export type Settled =
  | { readonly type: 'returned'; readonly result: Result }
  | { readonly type: 'threw'; readonly error: unknown };

/** The result of a run; `timedOut`: the handler is still running. */
export type RunEnd = Settled | { readonly type: 'timedOut' };

/** The subject of a {@link ReconcileRun}. */
export interface RunSubject {
  readonly work: WorkKey;
  readonly reconcileID: string;
  readonly triggers: TriggerList;
}

/** One reconcile of one key: a handler, its signal, its time-out and its writes. */
export class ReconcileRun implements RunSubject {
  readonly work: WorkKey;
  readonly reconcileID: string;
  readonly triggers: TriggerList;
  readonly startedMs: number;
  readonly #clock: Clock;
  // Created on first access: each costs more than the rest of a run.
  #controller: AbortController | undefined;
  #writes: AbortController | undefined;
  #ended: (() => void)[] | undefined;
  #harmless: (() => void)[] | undefined;
  #timedOutMs: number | undefined;
  #abortedMs: number | undefined;
  #pendingWrites = 0;
  #isBegun = false;
  #isOver = false;

  constructor({ work, reconcileID, triggers }: RunSubject, clock: Clock) {
    this.work = work;
    this.reconcileID = reconcileID;
    this.triggers = triggers;
    this.#clock = clock;
    this.startedMs = clock.monotonicMs();
  }

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  /** Ends pending writes; see {@link ReconcileRun.abort}. */
  get writeSignal(): AbortSignal {
    return (this.#writes ??= new AbortController()).signal;
  }

  get isAborted(): boolean {
    return this.#abortedMs !== undefined;
  }

  /** True once the handler was called. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** True once the handler has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True if the run timed out. */
  get isTimedOut(): boolean {
    return this.#timedOutMs !== undefined;
  }

  /** The time since the time-out, in milliseconds; 0 if the run has not timed out. */
  get heldMs(): number {
    return this.#timedOutMs === undefined ? 0 : this.#clock.monotonicMs() - this.#timedOutMs;
  }

  /** The time since the abort, in milliseconds; undefined if not aborted. */
  get abortedForMs(): number | undefined {
    return this.#abortedMs === undefined ? undefined : this.#clock.monotonicMs() - this.#abortedMs;
  }

  get lastedMs(): number {
    return this.#clock.monotonicMs() - this.startedMs;
  }

  /**
   * Aborts the handler's signal and refuses new writes.
   * @param sparesWrites - lets pending writes complete: a write that is cut off may still be carried out
   *   after another process has acquired the key. @defaultValue false
   */
  abort(reason: OperatorError, sparesWrites = false): void {
    this.#abortedMs ??= this.#clock.monotonicMs();
    if (!sparesWrites) (this.#writes ??= new AbortController()).abort(reason);
    (this.#controller ??= new AbortController()).abort(reason);
    this.#tell();
  }

  /**
   * Counts `write` as pending until it settles.
   * @returns the same result
   */
  async track<T>(write: Promise<T>): Promise<T> {
    this.#pendingWrites++;
    try {
      return await write;
    } finally {
      this.#pendingWrites--;
      this.#tell();
    }
  }

  /** True if the handler and all tracked writes have ended. */
  get hasEnded(): boolean {
    return this.#isOver && this.#pendingWrites === 0;
  }

  /** Resolves when the handler and all tracked writes have ended. */
  whenEnded(): Promise<void> {
    if (this.hasEnded) return Promise.resolve();
    return new Promise((resolve) => (this.#ended ??= []).push(resolve));
  }

  /**
   * Resolves when the run can no longer write: its handler has ended or was aborted, and no write is pending.
   */
  whenHarmless(): Promise<void> {
    if (this.#isHarmless()) return Promise.resolve();
    return new Promise((resolve) => (this.#harmless ??= []).push(resolve));
  }

  /** Runs `handler` until it ends or `timeoutMs` have passed; never throws. */
  run(handler: () => Promise<Result>, timeoutMs: number): Promise<RunEnd> {
    this.#isBegun = true;
    const settled = this.#settle(handler);
    return timeoutMs === Infinity ? settled : this.#inTime(settled, timeoutMs);
  }

  async #inTime(settled: Promise<Settled>, timeoutMs: number): Promise<RunEnd> {
    if (await endsWithin(settled, timeoutMs, this.#clock)) return settled;
    this.#timedOutMs = this.#clock.monotonicMs();
    const text = `reconcile of ${this.work.text}: not over after ${timeoutMs} ms`;
    this.abort(new OperatorError('Timeout', text));
    return { type: 'timedOut' };
  }

  async #settle(handler: () => Promise<Result>): Promise<Settled> {
    try {
      return { type: 'returned', result: returned(await handler()) };
    } catch (error) {
      return { type: 'threw', error: readableError(error) };
    } finally {
      this.#isOver = true;
      this.#tell();
    }
  }

  // Writes that the handler did not await may outlast it, so they count.
  #isHarmless(): boolean {
    return (this.#isOver || this.isAborted) && this.#pendingWrites === 0;
  }

  #tell(): void {
    if (this.#ended !== undefined && this.hasEnded) {
      for (const resolve of this.#ended.splice(0)) resolve();
    }
    if (this.#harmless !== undefined && this.#isHarmless()) {
      for (const resolve of this.#harmless.splice(0)) resolve();
    }
  }
}

/** @throws InvalidResultError: only the compiler prevents a handler from returning an invalid result. */
function returned(result: unknown): Result {
  if (isResult(result)) return checkedResult(result);
  const wanted = 'return done() or requeueAfter(ms)';
  throw new InvalidResultError(`reconciler: want a result, got ${shapeOf(result)}; ${wanted}`);
}

/** The argument of a {@link Reconciler}. */
export interface ReconcileContext {
  /** The key of the object to reconcile. The object may be gone. */
  readonly key: ObjectKey;
  /** The cluster of the object and of `client`; `''` for the only one. */
  readonly cluster: string;
  /** Aborted on time-out or when the controller stops; pass it to every long call. */
  readonly signal: AbortSignal;
  /** Adds `controller`, `kind`, `namespace`, `name` and `reconcileID` to each line. */
  readonly logger: Logger;
  /** Reads cached objects from the cache. Its calls end with `signal`; after that it refuses to write. */
  readonly client: ReconcileClient;
  /**
   * Records events about objects of `cluster`, reported by the controller; see
   * `ControllerOptions.reportingController`. Silent while planning.
   */
  readonly recorder: Recorder;
  /** The controller's clock: in tests a virtual one. */
  readonly clock: Clock;
  /** The first of `triggers`. */
  readonly trigger: Trigger;
  /** The triggers of this reconcile: at least one, at most ten. */
  readonly triggers: readonly Trigger[];
  /** The number of further triggers. */
  readonly moreTriggers: number;
  readonly reconcileID: string;
  /** The span of this reconcile; start child spans for slow steps. Without a tracer it records nothing. */
  readonly span: Span;
  /**
   * True if this reconcile must have no lasting effect: writes to the cluster are dry runs, and the
   * reconciler must not change external systems.
   */
  readonly planning: boolean;
}

/**
 * Brings the object of `key` to its desired state. It is called repeatedly, never concurrently for one key,
 * and must not depend on the trigger.
 *
 * ## Outcomes
 * - returns `done()`: reconciles again when something changes.
 * - returns `requeueAfter(ms)`: reconciles again after that time, or sooner if something changes.
 * - throws a conflict (409): retries soon, without an error log.
 * - throws `TerminalError`: logged and counted; reconciles again when something changes.
 * - throws any other error: logged and counted; retries after 5 ms, doubling to 1,000 s with each failure.
 */
export type Reconciler = (context: ReconcileContext) => Promise<Result>;

/** Creates the parts of a {@link LazyContext} on first access. */
interface Makers {
  readonly client: () => ReconcileClient;
  readonly logger: () => Logger;
  readonly recorder: () => Recorder;
  readonly clock: Clock;
  readonly span: Span;
  /** @defaultValue false */
  readonly planning?: boolean;
}

/** The trigger of a key that was handed out without a recorded one. */
const untold: Trigger = { type: 'source', source: 'unknown' };

/**
 * The context of a reconcile. Its signal, logger, recorder and client are created on first access: together
 * they cost as much as the rest of a reconcile, and not every reconcile needs them. They are own properties
 * nonetheless, so that a context can be spread.
 */
export class LazyContext implements ReconcileContext {
  readonly key: ObjectKey;
  readonly cluster: string;
  readonly trigger: Trigger;
  readonly triggers: readonly Trigger[];
  readonly moreTriggers: number;
  readonly reconcileID: string;
  readonly span: Span;
  readonly clock: Clock;
  readonly planning: boolean;
  declare readonly signal: AbortSignal;
  declare readonly logger: Logger;
  declare readonly recorder: Recorder;
  declare readonly client: ReconcileClient;
  readonly #run: ReconcileRun;
  readonly #makers: Makers;
  #client: ReconcileClient | undefined;

  constructor(run: ReconcileRun, makers: Makers) {
    const { work, triggers: known } = run;
    const [trigger = untold] = known.triggers;
    this.key = work.key;
    this.cluster = work.cluster;
    this.trigger = trigger;
    this.triggers = known.triggers.length > 0 ? known.triggers : [trigger];
    this.moreTriggers = known.more;
    this.reconcileID = run.reconcileID;
    this.span = makers.span;
    this.clock = makers.clock;
    this.planning = makers.planning ?? false;
    this.#run = run;
    this.#makers = makers;
    Object.defineProperty(this, 'signal', LazyContext.#signalProperty);
    Object.defineProperty(this, 'logger', LazyContext.#loggerProperty);
    Object.defineProperty(this, 'recorder', LazyContext.#recorderProperty);
    Object.defineProperty(this, 'client', LazyContext.#clientProperty);
  }

  // Shared by all contexts: separate functions would give each context its own hidden class, which is slow.
  static readonly #signalProperty = ownProperty(function (this: LazyContext) {
    return this.#run.signal;
  });

  static readonly #loggerProperty = ownProperty(function (this: LazyContext) {
    return this.#makers.logger();
  });

  static readonly #recorderProperty = ownProperty(function (this: LazyContext) {
    return this.#makers.recorder();
  });

  static readonly #clientProperty = ownProperty(function (this: LazyContext) {
    return (this.#client ??= this.#makers.client());
  });
}

function ownProperty(get: (this: LazyContext) => unknown): PropertyDescriptor {
  return { configurable: true, enumerable: true, get };
}

/** A run that has begun, and its logger, which is created on first access. */
interface BegunRun {
  readonly run: ReconcileRun;
  readonly logger: () => Logger;
}

/** Creates the contexts of reconcilers and observes their writes. */
export class ReconcileContexts {
  readonly #parts: ControllerParts;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  /** Returns the context of a run that is about to begin. */
  of(begun: BegunRun, cluster: ControllerCluster, span: Span): ReconcileContext {
    const { run, logger } = begun;
    // Take the term now: a reconcile stays in the term in which it began, since its reads belong to that
    // term.
    const fences = this.#fencesOf(run);
    const client = (): ReconcileClient => this.#clientOf(run, cluster, { fences, span });
    const { reportingController, runtime } = this.#parts;
    const recorder = (): Recorder => cluster.recorder?.(reportingController) ?? silentRecorder;
    const { clock } = runtime;
    return new LazyContext(run, { client, logger, recorder, clock, span });
  }

  /** Returns the logger of a run, with the fields that identify the run. */
  loggerOf({ work, reconcileID }: ReconcileRun): Logger {
    const { logger, kind } = this.#parts;
    const named = work.cluster === '' ? {} : { cluster: work.cluster };
    return logger.child({ kind, ...named, ...work.key, reconcileID });
  }

  #fencesOf({ work }: ReconcileRun): readonly Fence[] {
    const { owned, runtime } = this.#parts;
    const ofKey = owned.fencesOf(work);
    const all = runtime.fence === undefined ? ofKey : [runtime.fence, ...ofKey];
    return all.length === 0 ? all : all.map((fence) => fence.term?.() ?? fence);
  }

  #clientOf(
    run: ReconcileRun,
    { client, cache }: ControllerCluster,
    { fences, span }: { readonly fences: readonly Fence[]; readonly span: Span },
  ): ReconcileClient {
    const inner = traced(fences.reduce(bothFenced, client), span, this.#parts.runtime.tracer);
    return reconcileClient(inner, {
      owns: this.#parts.owns,
      get signal() {
        return run.signal;
      },
      writeSignal: run.writeSignal,
      isOver: () => run.isOver,
      track: (write) => run.track(write),
      observe: (target) => {
        const before = cache.peek(target.type)?.get(target.key);
        return (write) => this.#wrote(run.work, write, before);
      },
    });
  }

  #wrote(work: WorkKey, write: ObservedWrite, before: KubernetesObject | undefined): void {
    const { hotLoops, metrics, logger, name, runtime } = this.#parts;
    const { type, answer: after } = write;
    // The server may have generated the name.
    const target = after === undefined ? write.key : keyOf(after);
    const found = hotLoops?.wrote({ key: work.text, type, target, before, after });
    if (found === undefined) return;
    const { object, ...facts } = found;
    metrics.hotLoops.add(1, { controller: name });
    logger.warn(`keeps writing ${object.kind} ${keyString(object)}: slowed down`, facts);
    tell(runtime, { type: 'hotLoop', controller: name, ...found, ...shownKey(work) });
  }
}

function bothFenced(client: CachingClient, fence: Fence): CachingClient {
  const { live = client, looks } = client;
  return { ...fenced(client, fence), live: fenced(live, fence), looks };
}

/** Parameters of a single reconcile; the controller need not run. */
export interface SingleReconcile {
  readonly key: ObjectKey;
  /** The client of the reconciler. */
  readonly client: Client;
  /** Makes the reconciler plan only; the client must use dry runs. @defaultValue false */
  readonly planning?: boolean | undefined;
  /** Ends the reconcile. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
  /** Records the reconciler's events. @defaultValue a silent recorder */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the machine's clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's random source */
  readonly random?: Random | undefined;
  /** @defaultValue discards all records */
  readonly logger?: Logger | undefined;
}

/** Reconciles one key once; see `Controller.reconcileOnce`. */
export async function reconcileOnce(
  definition: ControllerDefinition,
  reconcile: SingleReconcile,
): Promise<Result> {
  const { type, options, reconciler } = definition;
  const { key, planning = false, signal, clock = systemClock } = reconcile;
  const {
    recorder = silentRecorder,
    random = systemRandom,
    logger: parent = silentLogger,
  } = reconcile;
  const reconcileID = random.uuid();
  const facts = { controller: options.name, kind: type.kind, ...key, reconcileID };
  const triggers = { triggers: [], more: 0 };
  const run = new ReconcileRun({ work: workKeyOf(key), reconcileID, triggers }, clock);
  const client = reconcileClient(reconcile.client, {
    owns: ownedTypes(definition),
    get signal() {
      return run.signal;
    },
    writeSignal: run.writeSignal,
    isOver: () => run.isOver,
    track: (write) => run.track(write),
    observe: () => () => undefined,
  });
  const logger = parent.child(facts);
  const making = {
    ...{ client: () => client, logger: () => logger, recorder: () => recorder },
    ...{ clock, span: noSpan, planning },
  };
  const running = run.run(
    () => reconciler(new LazyContext(run, making)),
    options.reconcileTimeoutMs,
  );
  return resultOf(await endOf(running, run, signal), run);
}

/** Waits for the end of a run. An aborted signal ends the wait, even if the handler continues. */
async function endOf(
  running: Promise<RunEnd>,
  run: ReconcileRun,
  signal: AbortSignal | undefined,
): Promise<RunEnd> {
  if (signal === undefined) return running;
  const ended = new AbortController();
  const stopped = whenAborted(AbortSignal.any([signal, ended.signal])).then((): RunEnd => {
    if (signal.aborted) {
      run.abort(new OperatorError('Aborted', `reconcile of ${run.work.text}: it was ended`));
    }
    return { type: 'timedOut' };
  });
  try {
    return await Promise.race([running, stopped]);
  } finally {
    ended.abort();
  }
}

async function resultOf(end: RunEnd, run: ReconcileRun): Promise<Result> {
  if (end.type === 'timedOut') throw run.signal.reason;
  // Wait for writes that the handler did not await.
  await run.whenEnded();
  if (end.type === 'threw') throw end.error;
  return end.result;
}
