import type { Clock } from '../../system/clock.js';

const mostInWindow = 3;
const windowMs = 2_000;

/** Admits at most three errors in any two seconds. */
export class ErrorLimit {
  readonly #clock: Clock;
  /** Times of the last admitted errors, oldest first, by the monotonic clock. */
  #passedMs: readonly number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a further error is admitted; an admitted one counts. */
  pass(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const recent = this.#passedMs.filter((passedMs) => nowMs - passedMs < windowMs);
    this.#passedMs = recent.length < mostInWindow ? [...recent, nowMs] : recent;
    return recent.length < mostInWindow;
  }
}
