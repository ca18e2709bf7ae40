import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** A limit on the requests of one client. */
export interface RateLimit {
  /** Requests per second in the long run, above 0. */
  readonly qps: number;
  /** Requests that may be sent at once after a pause, at least 1. */
  readonly burst: number;
}

/** A token bucket: requests wait in order of arrival. */
export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  /** Negative while requests wait: each takes its token in advance. */
  #tokens: number;
  #countedAtMs: number;

  /** @throws OperatorError `InvalidOption`: a number is out of range. */
  constructor(limit: RateLimit, clock: Clock) {
    const { qps, burst } = limit;
    refuseUnknownOptions('rateLimit', limit, { qps, burst });
    if (!(qps > 0 && burst >= 1)) {
      const got = `qps ${qps}, burst ${burst}`;
      throw new OperatorError('InvalidOption', `rateLimit: want qps > 0, burst >= 1, got ${got}`);
    }
    this.#limit = { qps, burst };
    this.#clock = clock;
    this.#tokens = burst;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Resolves when a request may be sent. @throws the reason of `signal` if it is aborted. */
  async take(signal?: AbortSignal): Promise<void> {
    const { qps, burst } = this.#limit;
    const nowMs = this.#clock.monotonicMs();
    const earned = ((nowMs - this.#countedAtMs) / 1_000) * qps;
    this.#tokens = Math.min(burst, this.#tokens + earned) - 1;
    this.#countedAtMs = nowMs;
    if (this.#tokens >= 0) return;
    try {
      await sleep(this.#clock, (-this.#tokens / qps) * 1_000, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }
}
