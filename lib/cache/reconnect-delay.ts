import { delayAfter, spread } from '../system/backoff.js';
import type { Clock } from '../system/clock.js';
import type { Random } from '../system/random.js';

const curve = { baseMs: 800, maxMs: 30_000 };
/** Limits the delay for an unserved kind: each check costs one small request. */
const longestLookMs = 5_000;
const resetAfterMs = 120_000;

/**
 * Computes the delay before the next attempt to reach an API server. It starts at 0.8 s and doubles to 30 s;
 * each delay is extended at random by up to 100 %, so that clients do not reconnect all at once. Two minutes
 * without a failure reset it. The curve is that of client-go's reflector.
 *
 * Unlike client-go, the loss of a working watch does not count as a failure (see `afterHealth`).
 */
export class ReconnectDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  #failures = 0;
  #healthySinceMs = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Counts a failure and returns the delay, in milliseconds. */
  next(): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#healthySinceMs >= resetAfterMs) this.#failures = 0;
    const delayMs = spread(delayAfter(++this.#failures, curve), this.#random, 1, 2);
    // The time without failures can begin only after the delay.
    this.#healthySinceMs = nowMs + delayMs;
    return delayMs;
  }

  /** Returns the delay for a kind that may be installed at any time: it grows too, but to 5 s at most. */
  nextLook(): number {
    return Math.min(this.next(), longestLookMs);
  }

  /**
   * Returns the delay for an error that a retry is unlikely to fix: 30 s, extended at random by up to 100 %.
   */
  longest(): number {
    return spread(curve.maxMs, this.#random, 1, 2);
  }

  /**
   * Returns the delay after the loss of a working watch: 0.8 s, extended at random by up to 100 %. It never
   * grows: a load balancer that cuts idle streams each minute must not make a cache ever staler. It does not
   * reset a delay that failures have doubled, and does not interrupt the time without failures.
   */
  afterHealth(): number {
    return spread(curve.baseMs, this.#random, 1, 2);
  }
}
