import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import type { Resolved } from '../system/resolved.js';

/** Options of {@link Backoff}. */
export interface BackoffOptions {
  /** Delay after the first failure, in milliseconds; at least 1. @defaultValue 5 */
  readonly baseDelayMs?: number | undefined;
  /** Maximum delay, in milliseconds; at least `baseDelayMs`. @defaultValue 1_000_000 */
  readonly maxDelayMs?: number | undefined;
}

/**
 * Exponential back-off per key: the nth consecutive failure waits `baseDelayMs * 2 ** (n - 1)`, at most
 * `maxDelayMs`. The curve and the defaults are those of client-go's workqueue.
 */
export class Backoff {
  readonly #options: Resolved<BackoffOptions>;
  readonly #failures = new Map<string, number>();

  /** @throws OperatorError `InvalidOption`: an option is out of its range. */
  constructor(options: BackoffOptions = {}) {
    this.#options = resolveBackoffOptions(options);
  }

  /** Counts a failure of `key` and returns the delay, in milliseconds. */
  next(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseDelayMs, maxDelayMs } = this.#options;
    // `1 << failures` would turn negative at the 32nd failure and cause a hot loop.
    return Math.min(baseDelayMs * 2 ** failures, maxDelayMs);
  }

  /** Returns the number of failures of `key` since its last `forget`. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Resets `key`. Call it on success: every key that failed stays in memory until then. */
  forget(key: string): void {
    this.#failures.delete(key);
  }
}

function resolveBackoffOptions(options: BackoffOptions): Resolved<BackoffOptions> {
  const { baseDelayMs = 5, maxDelayMs = 1_000_000 } = options;
  // Negated, so that it also rejects NaN.
  if (!(1 <= baseDelayMs && baseDelayMs <= maxDelayMs)) {
    const got = `baseDelayMs ${baseDelayMs}, maxDelayMs ${maxDelayMs}`;
    throw new OperatorError('InvalidOption', `Backoff: want 1 <= base <= max, got ${got}`);
  }
  const resolved = { baseDelayMs, maxDelayMs };
  refuseUnknownOptions<BackoffOptions>('backoff', options, resolved);
  return resolved;
}
