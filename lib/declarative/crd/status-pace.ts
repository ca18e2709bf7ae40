import type { Clock } from '../../system/clock.js';

/** The least time from one status of an operator to the next, in milliseconds. */
const paceMs = 1_000;

/** Keeps an operator with many errors from writing a status for each. */
export class StatusPace {
  readonly #clock: Clock;
  /** When the last one was written, by the monotonic clock. */
  readonly #writtenMs = new Map<string, number>();
  /** When it was first asked for, by the monotonic clock. */
  readonly #askedMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long the next status has to wait; 0: not at all. */
  waitMs(name: string): number {
    return this.#left(this.#writtenMs.get(name));
  }

  /** How long one has to wait that may be needless in a moment. */
  calmMs(name: string): number {
    const askedMs = this.#askedMs.get(name) ?? this.#clock.monotonicMs();
    this.#askedMs.set(name, askedMs);
    return Math.max(this.#left(askedMs), this.waitMs(name));
  }

  /** One was written. */
  written(name: string): void {
    this.#writtenMs.set(name, this.#clock.monotonicMs());
    this.#askedMs.delete(name);
  }

  /** The operator is gone. */
  forget(name: string): void {
    this.#writtenMs.delete(name);
    this.#askedMs.delete(name);
  }

  #left(sinceMs: number | undefined): number {
    if (sinceMs === undefined) return 0;
    return Math.max(0, sinceMs + paceMs - this.#clock.monotonicMs());
  }
}
