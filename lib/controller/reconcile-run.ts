import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import { InvalidResultError } from './invalid-result-error.js';
import { endsWithin } from './ends-within.js';
import { isResult } from './result.js';
import type { Result } from './result.js';

/** How a handler ended. */
export type Settled =
  | { readonly type: 'returned'; readonly result: Result }
  | { readonly type: 'threw'; readonly error: unknown };

/** How a run ended; `timedOut`: its handler goes on, and will have ended as `settled` says. */
export type RunEnd = Settled | { readonly type: 'timedOut'; readonly settled: Promise<Settled> };

/** One reconcile of one key: a handler, its signal and its time-out. */
export class ReconcileRun {
  readonly key: string;
  readonly reconcileID: string;
  readonly startedMs: number;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #isTimedOut = false;

  constructor(key: string, reconcileID: string, clock: Clock) {
    this.key = key;
    this.reconcileID = reconcileID;
    this.#clock = clock;
    this.startedMs = clock.monotonicMs();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Its time is over, and its handler goes on. */
  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  get lastedMs(): number {
    return this.#clock.monotonicMs() - this.startedMs;
  }

  abort(reason: OperatorError): void {
    this.#controller.abort(reason);
  }

  /** Runs `handler` until it ends, or `timeoutMs` have passed; never throws. */
  async run(handler: () => Promise<Result>, timeoutMs: number): Promise<RunEnd> {
    const settled = settle(handler);
    if (timeoutMs === Infinity) return settled;
    const over = settled.then(() => undefined);
    if (await endsWithin(over, timeoutMs, this.#clock)) return settled;
    this.#isTimedOut = true;
    this.abort(
      new OperatorError('Timeout', `reconcile of ${this.key}: not over after ${timeoutMs} ms`),
    );
    return { type: 'timedOut', settled };
  }
}

async function settle(handler: () => Promise<Result>): Promise<Settled> {
  try {
    const result: unknown = await handler();
    if (isResult(result)) return { type: 'returned', result };
    // Nothing but the compiler keeps a handler from returning nothing.
    const message = 'a reconciler has to return done() or requeueAfter(ms)';
    throw new InvalidResultError(message);
  } catch (error) {
    return { type: 'threw', error };
  }
}
