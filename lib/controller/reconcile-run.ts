import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import { endsWithin } from './ends-within.js';
import { InvalidResultError } from './invalid-result-error.js';
import { readableError } from './readable-error.js';
import type { WorkKey } from './reconcile-key.js';
import { checkedResult, isResult, shapeOf } from './result.js';
import type { Result } from './result.js';
import type { TriggerList } from './trigger.js';

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
