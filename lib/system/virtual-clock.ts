import type { Clock, Timer } from './clock.js';
import { OperatorError } from './operator-error.js';

interface PendingTimer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/**
 * A clock that only `advance` moves. Timers fire in the order of their due times, ties in the order they were
 * set, and promises settle between two timers.
 */
export class VirtualClock implements Clock {
  #nowMs: number;
  readonly #startMs: number;
  readonly #pending = new Set<PendingTimer>();

  /** @param startMs - the initial wall-clock time, in milliseconds since 1970. */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    // NaN counts as 0, because the clock would never reach the time NaN.
    const dueMs = this.#nowMs + (delayMs > 0 ? delayMs : 0);
    const timer = { dueMs, callback };
    this.#pending.add(timer);
    return { cancel: () => this.#pending.delete(timer) };
  }

  /** The number of pending timers; leak specs expect 0. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Milliseconds until the next timer is due; undefined without pending timers. */
  get nextTimerMs(): number | undefined {
    const next = this.#next();
    return next && next.dueMs - this.#nowMs;
  }

  /**
   * Advances the time by `ms` and fires every timer that becomes due, including timers set meanwhile. Concurrent calls
   * do not add up: the time advances to the latest of their end times.
   * @throws OperatorError `InvalidOption`: `ms` is negative or not finite.
   */
  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0) {
      const message = `VirtualClock.advance: want a number of milliseconds from 0, got ${ms}`;
      throw new OperatorError('InvalidOption', message);
    }
    const endMs = this.#nowMs + ms;
    await settle();
    for (;;) {
      const timer = this.#next();
      if (timer === undefined || timer.dueMs > endMs) break;
      this.#pending.delete(timer);
      this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
      timer.callback();
      await settle();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
    await settle();
  }

  #next(): PendingTimer | undefined {
    let next: PendingTimer | undefined;
    for (const timer of this.#pending) {
      if (next === undefined || timer.dueMs < next.dueMs) next = timer;
    }
    return next;
  }
}

/** Runs pending promise callbacks, including those of real I/O on this event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
