import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import { endsWithin } from './ends-within.js';
import { InvalidResultError } from './invalid-result-error.js';
import { readableError } from './readable-error.js';
import type { WorkKey } from './reconcile-key.js';
import { checkedResult, isResult, shapeOf } from './result.js';
import type { Result } from './result.js';
import type { TriggerList } from './trigger.js';

/** How a handler ended. */
export type Settled =
  | { readonly type: 'returned'; readonly result: Result }
  | { readonly type: 'threw'; readonly error: unknown };

/** How a run ended; `timedOut`: its handler goes on. */
export type RunEnd = Settled | { readonly type: 'timedOut' };

/** What a {@link ReconcileRun} is of. */
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
  // Made when they are first asked for: each costs more than all else of a run.
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

  /** Ends writes that are on their way; see {@link ReconcileRun.abort}. */
  get writeSignal(): AbortSignal {
    return (this.#writes ??= new AbortController()).signal;
  }

  get isAborted(): boolean {
    return this.#abortedMs !== undefined;
  }

  /** Its handler was called. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Its handler has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its time is over, and its handler goes on. */
  get isTimedOut(): boolean {
    return this.#timedOutMs !== undefined;
  }

  /** How long its handler has gone on since its time was over, in milliseconds. */
  get heldMs(): number {
    return this.#timedOutMs === undefined ? 0 : this.#clock.monotonicMs() - this.#timedOutMs;
  }

  /** How long ago it was aborted, in milliseconds; undefined: it was not. */
  get abortedForMs(): number | undefined {
    return this.#abortedMs === undefined ? undefined : this.#clock.monotonicMs() - this.#abortedMs;
  }

  get lastedMs(): number {
    return this.#clock.monotonicMs() - this.startedMs;
  }

  /**
   * Aborts the handler's signal and begins no more writes.
   * @param sparesWrites - writes that are on their way go on until they are answered: one that is cut
   * off may still be carried out, after another process was given the key. @defaultValue false
   */
  abort(reason: OperatorError, sparesWrites = false): void {
    this.#abortedMs ??= this.#clock.monotonicMs();
    if (!sparesWrites) (this.#writes ??= new AbortController()).abort(reason);
    (this.#controller ??= new AbortController()).abort(reason);
    this.#tell();
  }

  /** Counts `write`, a write that has begun, as pending until it settles. @returns it */
  async track<T>(write: Promise<T>): Promise<T> {
    this.#pendingWrites++;
    try {
      return await write;
    } finally {
      this.#pendingWrites--;
      this.#tell();
    }
  }

  /** Nothing of it goes on: its handler has ended, and so has every write that this has begun. */
  get hasEnded(): boolean {
    return this.#isOver && this.#pendingWrites === 0;
  }

  /** Resolves when nothing of it goes on. */
  whenEnded(): Promise<void> {
    if (this.hasEnded) return Promise.resolve();
    return new Promise((resolve) => (this.#ended ??= []).push(resolve));
  }

  /** Resolves when it can't write any more: its handler has ended, or is refused to, and no write is pending. */
  whenHarmless(): Promise<void> {
    if (this.#isHarmless()) return Promise.resolve();
    return new Promise((resolve) => (this.#harmless ??= []).push(resolve));
  }

  /** Runs `handler` until it ends, or `timeoutMs` have passed; never throws. */
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

  // Writes that a handler has not awaited go on after it: they count.
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

/** @throws InvalidResultError: nothing but the compiler keeps a handler from returning nothing. */
function returned(result: unknown): Result {
  if (isResult(result)) return checkedResult(result);
  const wanted = 'return done() or requeueAfter(ms)';
  throw new InvalidResultError(`reconciler: want a result, got ${shapeOf(result)}; ${wanted}`);
}
