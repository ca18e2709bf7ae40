import type { Clock, Timer } from '../../system/clock.js';

interface Group {
  readonly timer: Timer;
  readonly callbacks: Set<() => void>;
}

/**
 * Shares one timer of the clock between all callbacks with the same due time: many watches wait for
 * the same minute. A virtual clock settles the whole process for each of its timers.
 */
export class SharedAlarms {
  readonly #clock: Clock;
  readonly #groups = new Map<number, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Calls `callback` at `dueMs` of the monotonic clock.
   * @returns a function that cancels the call
   */
  set(dueMs: number, callback: () => void): () => void {
    const group = this.#groups.get(dueMs) ?? this.#open(dueMs);
    group.callbacks.add(callback);
    return () => {
      if (!group.callbacks.delete(callback) || group.callbacks.size > 0) return;
      group.timer.cancel();
      if (this.#groups.get(dueMs) === group) this.#groups.delete(dueMs);
    };
  }

  #open(dueMs: number): Group {
    const callbacks = new Set<() => void>();
    const ring = (): void => {
      this.#groups.delete(dueMs);
      for (const callback of [...callbacks]) callback();
    };
    const timer = this.#clock.setTimer(ring, dueMs - this.#clock.monotonicMs());
    const group = { timer, callbacks };
    this.#groups.set(dueMs, group);
    return group;
  }
}
