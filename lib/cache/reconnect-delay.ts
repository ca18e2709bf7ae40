import type { Clock } from '../system/clock.js';
import type { Random } from '../system/random.js';

const shortestMs = 800;
const longestMs = 30_000;
/** A kind that is not served is looked for so often: it costs one small request. */
const longestLookMs = 5_000;
const resetAfterMs = 120_000;

/**
 * How long to wait before the next try at an API server: 0.8 s, doubling to 30 s, each up to twice
 * as long by chance, so that many clients do not come back at once; from the start again after two
 * minutes without a failure. The curve is that of client-go's reflector.
 *
 * Deliberately different: the loss of a watch that worked is no failure here (see `afterHealth`).
 */
export class ReconnectDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  #baseMs = shortestMs;
  #healthySinceMs = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Counts a failure; returns the milliseconds to wait. */
  next(): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#healthySinceMs >= resetAfterMs) this.#baseMs = shortestMs;
    const delayMs = this.#baseMs * (1 + this.#random.next());
    this.#baseMs = Math.min(this.#baseMs * 2, longestMs);
    // Health can begin only once the wait is over.
    this.#healthySinceMs = nowMs + delayMs;
    return delayMs;
  }

  /** For a kind that may appear at any moment: grows too, but to no more than 5 s. */
  nextLook(): number {
    return Math.min(this.next(), longestLookMs);
  }

  /** For what no try is likely to mend: 30 s, up to twice as long by chance. */
  longest(): number {
    return longestMs * (1 + this.#random.next());
  }

  /**
   * For the loss of a watch that worked: 0.8 s, up to twice as long by chance, however often. A load
   * balancer that cuts idle streams each minute must not make a cache deaf for longer and longer.
   * What was doubled by failures stays so, and the time until now counts as without a failure.
   */
  afterHealth(): number {
    return shortestMs * (1 + this.#random.next());
  }
}
