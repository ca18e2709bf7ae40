import type { Clock } from '../../system/clock.js';

/** Shortest interval between two statuses of an operator, in milliseconds. */
const paceMs = 1_000;

/** Limits the status writes of an operator with many errors. */
export class StatusPace {
  readonly #clock: Clock;
  /** Time of the last write, by the monotonic clock. */
  readonly #writtenMs = new Map<string, number>();
  /** Time of the first request, by the monotonic clock. */
  readonly #askedMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the delay of the next status; 0: no delay. */
  waitMs(name: string): number {
    return this.#left(this.#writtenMs.get(name));
  }

  /** Returns the delay of a status that may soon be obsolete. */
  calmMs(name: string): number {
    const askedMs = this.#askedMs.get(name) ?? this.#clock.monotonicMs();
    this.#askedMs.set(name, askedMs);
    return Math.max(this.#left(askedMs), this.waitMs(name));
  }

  /** Records a write. */
  written(name: string): void {
    this.#writtenMs.set(name, this.#clock.monotonicMs());
    this.#askedMs.delete(name);
  }

  /** Discards the state of a removed operator. */
  forget(name: string): void {
    this.#writtenMs.delete(name);
    this.#askedMs.delete(name);
  }

  #left(sinceMs: number | undefined): number {
    if (sinceMs === undefined) return 0;
    return Math.max(0, sinceMs + paceMs - this.#clock.monotonicMs());
  }
}
