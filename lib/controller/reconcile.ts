import { AsyncLocalStorage } from 'node:async_hooks';
import type { CachingClient, Fence } from '../client/index.js';
import type { Recorder } from '../events/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../object/index.js';
import { endsWithin, OperatorError, noSpan } from '../system/index.js';
import type { Clock, Logger, Span, Tracer } from '../system/index.js';
import type { WorkKey } from './keys.js';
import { describeWrite, guardUntil, reconcileClient } from './reconcile-client.js';
import type {
  ObservedWrite,
  ReconcileClient,
  ReconcileGuard,
  Target,
  WriteTarget,
} from './reconcile-client.js';
import {
  checkedResult,
  InvalidResultError,
  isResult,
  readableError,
  shapeOf,
  UnfinishedFailure,
} from './result.js';
import type { Result } from './result.js';
import { traced } from './tracing.js';
import type { Trigger, TriggerList } from './trigger.js';

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
  /**
   * Reads cached kinds from the cache, and others from the server. Its calls end with `signal`, except reads with a
   * signal of their own; after that, it refuses to write.
   */
  readonly client: ReconcileClient;
  /**
   * Records events about objects of `cluster`, reported by the controller or by the name in
   * its option `reportingController`. Records nothing while `planning` is true.
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
  /** A unique ID of this reconcile, which each line of `logger` has. */
  readonly reconcileID: string;
  /** The span of this reconcile; start child spans for slow steps. Without a tracer it records nothing. */
  readonly span: Span;
  /**
   * True if this reconcile must have no lasting effect: writes to the cluster are dry runs, and the
   * reconciler must not change external systems. HTTP requests that are not reads are refused,
   * unless the controller's option `requestsInPlans` is `all`.
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

const noFences: readonly Fence[] = [];
const noWrites: readonly WriteTarget[] = [];

/** A reconcile in progress, as seen from outside of its controller. */
export interface WatchedReconcile {
  readonly work: { readonly text: string };
  /** Aborts the handler's signal and refuses new writes. */
  abort(reason: OperatorError): void;
  /** Resolves when the handler and its writes have ended. */
  whenEnded(): Promise<void>;
}

/**
 * An async context with a listener, for the testing kit. The listener receives each reconcile of an operator that runs
 * in the context, before its handler is called. It refuses the reconcile by throwing.
 */
export const reconcileWatch = new AsyncLocalStorage<(reconcile: WatchedReconcile) => void>();

/** The result of a handler. */
export type Settled = { readonly type: 'returned'; readonly result: Result } | Threw;

/** The failure of a handler. */
export interface Threw {
  readonly type: 'threw';
  readonly error: unknown;
  /** The maximum delay until the next reconcile, in milliseconds. @defaultValue the kind of the error decides */
  readonly afterMs?: number | undefined;
}

/** The result of a run; `timedOut`: the handler is still running. */
export type RunEnd = Settled | { readonly type: 'timedOut' };

/** The subject of a {@link ReconcileRun}. */
export interface RunSubject {
  readonly work: WorkKey;
  readonly reconcileID: string;
  readonly triggers: TriggerList;
}

/** Values that all reconciles of a controller on one cluster share. */
export interface RunScene {
  readonly kind: string;
  readonly client: CachingClient;
  readonly clock: Clock;
  readonly tracer: Tracer;
  /** The parent of the loggers of runs. */
  readonly logger: Logger;
  readonly planning: boolean;
  /** The kinds that the controller owns. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
  readonly recorder: () => Recorder;
  /** @returns a function that receives the completed write */
  readonly observe: (run: ReconcileRun, target: Target) => (write: ObservedWrite) => void;
}

/**
 * One reconcile of one key: a handler, its signals, time-out, logger, client and writes. Expensive parts are
 * created on first access.
 */
export class ReconcileRun implements RunSubject, ReconcileGuard {
  readonly work: WorkKey;
  readonly reconcileID: string;
  readonly triggers: TriggerList;
  readonly startedMs: number;
  /**
   * Checked before each write. A reconcile stays in the term in which it began, since its reads belong to
   * that term.
   */
  fences: readonly Fence[] = noFences;
  /** The span of the run; its requests are child spans. */
  span: Span = noSpan;
  readonly #scene: RunScene;
  // Created on first access, because each costs more than the rest of a run.
  #client: ReconcileClient | undefined;
  #logger: Logger | undefined;
  #controller: AbortController | undefined;
  #writes: AbortController | undefined;
  #reporting: AbortController | undefined;
  #ended: (() => void)[] | undefined;
  #harmless: (() => void)[] | undefined;
  #timedOutMs: number | undefined;
  #abortedMs: number | undefined;
  #pendingWrites: readonly WriteTarget[] = noWrites;
  #failure: Threw | undefined;
  #warnedMs: number | undefined;
  #hasWarned = false;
  #isBegun = false;
  #isOver = false;

  constructor({ work, reconcileID, triggers }: RunSubject, scene: RunScene) {
    this.work = work;
    this.reconcileID = reconcileID;
    this.triggers = triggers;
    this.#scene = scene;
    this.startedMs = scene.clock.monotonicMs();
  }

  get clock(): Clock {
    return this.#scene.clock;
  }

  get planning(): boolean {
    return this.#scene.planning;
  }

  get owns(): readonly TypeReference<KubernetesObject>[] {
    return this.#scene.owns;
  }

  get recorder(): Recorder {
    return this.#scene.recorder();
  }

  /** Adds the fields that identify the run. */
  get logger(): Logger {
    const { kind, logger } = this.#scene;
    const { cluster, key } = this.work;
    const named = cluster === '' ? {} : { cluster };
    const { reconcileID } = this;
    return (this.#logger ??= logger.child({ kind, ...named, ...key, reconcileID }));
  }

  get client(): ReconcileClient {
    const { client, tracer } = this.#scene;
    return (this.#client ??= reconcileClient(traced(client, this.span, tracer), this));
  }

  /**
   * A client and a signal to report that the run has timed out. They can be used while the handler goes on: its key is
   * held then, so no other reconcile writes the object. An abort without `sparesWrites` ends their calls. After any
   * abort except that of the time-out, a new report is refused.
   */
  get reporting(): Pick<ReconcileContext, 'client' | 'signal'> {
    const { client, tracer } = this.#scene;
    const { signal } = (this.#reporting ??= new AbortController());
    const guard = guardUntil(signal, this);
    return { client: reconcileClient(traced(client, this.span, tracer), guard), signal };
  }

  /** See {@link RunScene.observe}. */
  observe(target: Target): (write: ObservedWrite) => void {
    return this.#scene.observe(this, target);
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
    return this.#timedOutMs === undefined ? 0 : this.clock.monotonicMs() - this.#timedOutMs;
  }

  /** The time since the abort, in milliseconds; undefined if not aborted. */
  get abortedForMs(): number | undefined {
    return this.#abortedMs === undefined ? undefined : this.clock.monotonicMs() - this.#abortedMs;
  }

  get lastedMs(): number {
    return this.clock.monotonicMs() - this.startedMs;
  }

  /** The failure of the handler; undefined while it runs and after it returned. */
  get failure(): Threw | undefined {
    return this.#failure;
  }

  /**
   * Aborts the handler's signal and refuses new writes.
   * @param sparesWrites - lets pending writes complete: a write that is cut off may still be carried out
   *   after another process has acquired the key. @defaultValue false
   */
  abort(reason: OperatorError, sparesWrites = false): void {
    // Create the AbortController here if necessary, so that a report that begins later is refused.
    if (!sparesWrites || this.#reporting === undefined) {
      (this.#reporting ??= new AbortController()).abort(reason);
    }
    this.#abort(reason, sparesWrites);
  }

  #abort(reason: OperatorError, sparesWrites: boolean): void {
    this.#abortedMs ??= this.clock.monotonicMs();
    if (!sparesWrites) (this.#writes ??= new AbortController()).abort(reason);
    (this.#controller ??= new AbortController()).abort(reason);
    this.#notify();
  }

  /**
   * Counts `write` as pending until it settles.
   * @returns the result of `write`
   */
  async track<T>(write: Promise<T>, what: WriteTarget): Promise<T> {
    this.#pendingWrites = [...this.#pendingWrites, what];
    try {
      return await write;
    } finally {
      this.#pendingWrites = this.#pendingWrites.filter((other) => other !== what);
      this.#notify();
    }
  }

  /** Logs the writes that the handler has begun and not awaited, because no code handles their errors. */
  warnOfPendingWrites(): void {
    if (this.#pendingWrites.length === 0 || this.isAborted || this.#hasWarned) return;
    this.#hasWarned = true;
    const writes = this.#pendingWrites.map(describeWrite).join(', ');
    this.logger.warn(`the handler returned before a write had ended: ${writes}; await each call`);
  }

  /**
   * Logs that the run has not ended if it has lasted `patienceMs`, or twice as long as at the last line.
   * @returns the time until the next line, in milliseconds
   */
  warnOfLength(patienceMs: number): number {
    const { lastedMs } = this;
    const dueMs = this.#warnedMs === undefined ? patienceMs : 2 * this.#warnedMs;
    if (lastedMs < dueMs) return dueMs - lastedMs;
    this.#warnedMs = lastedMs;
    const fields = { lastedMs: Math.round(lastedMs) };
    this.logger.warn(`the reconcile has not ended, so its key waits: ${this.#holdup()}`, fields);
    return lastedMs;
  }

  #holdup(): string {
    if (this.#isOver) return `pending ${this.#pendingWrites.map(describeWrite).join(', ')}`;
    return this.isAborted
      ? 'the handler ignores its aborted signal; give the signal to each long call'
      : 'the handler still runs; give signal to each long call, and set reconcileTimeoutMs';
  }

  /** True if the handler and all tracked writes have ended. */
  get hasEnded(): boolean {
    return this.#isOver && this.#pendingWrites.length === 0;
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
    if (await endsWithin(settled, timeoutMs, this.clock)) return settled;
    this.#timedOutMs = this.clock.monotonicMs();
    const text = `reconcile of ${this.work.text}: not over after ${timeoutMs} ms (reconcileTimeoutMs)`;
    this.#abort(new OperatorError('Timeout', text), false);
    return { type: 'timedOut' };
  }

  async #settle(handler: () => Promise<Result>): Promise<Settled> {
    try {
      reconcileWatch.getStore()?.(this);
      const result = await handler();
      this.warnOfPendingWrites();
      return { type: 'returned', result: returned(result) };
    } catch (error) {
      return (this.#failure = threw(readableError(error)));
    } finally {
      this.#isOver = true;
      this.#notify();
    }
  }

  // Writes that the handler did not await may outlast it, so they count.
  #isHarmless(): boolean {
    return (this.#isOver || this.isAborted) && this.#pendingWrites.length === 0;
  }

  #notify(): void {
    if (this.#ended !== undefined && this.hasEnded) {
      for (const resolve of this.#ended.splice(0)) resolve();
    }
    if (this.#harmless !== undefined && this.#isHarmless()) {
      for (const resolve of this.#harmless.splice(0)) resolve();
    }
  }
}

function threw(error: unknown): Threw {
  if (!(error instanceof UnfinishedFailure)) return { type: 'threw', error };
  return { type: 'threw', error: readableError(error.cause), afterMs: error.afterMs };
}

/** @throws InvalidResultError: only the compiler prevents a handler from returning an invalid result. */
function returned(result: unknown): Result {
  if (isResult(result)) return checkedResult(result);
  const wanted = 'return done() or requeueAfter(ms)';
  throw new InvalidResultError(`reconciler: want a result, got ${shapeOf(result)}; ${wanted}`);
}
