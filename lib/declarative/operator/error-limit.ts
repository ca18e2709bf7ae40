import type { Clock } from '../../system/clock.js';

const mostInWindow = 3;
const windowMs = 2_000;

/** Lets three errors through in any two seconds; the first three at once. */
export class ErrorLimit {
  readonly #clock: Clock;
  /** When the last ones passed, the oldest first, by the monotonic clock. */
  #passedMs: readonly number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether one more may pass; then it counts. */
  pass(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const recent = this.#passedMs.filter((passedMs) => nowMs - passedMs < windowMs);
    this.#passedMs = recent.length < mostInWindow ? [...recent, nowMs] : recent;
    return recent.length < mostInWindow;
  }
}
