import { delayAfter, spread } from '../system/backoff.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { BackOff } from './back-off.js';
import { InvalidConfigError } from './invalid-config-error.js';

/** Options of {@link exponentialBackOff}. */
export interface ExponentialBackOffOptions {
  /** The first delay in milliseconds, above 0. @defaultValue 500 */
  readonly initialIntervalMs?: number | undefined;
  /** The factor between one delay and the next, at least 1. @defaultValue 1.5 */
  readonly multiplier?: number | undefined;
  /** The random spread of a delay, 0 to 1: 0.5 is ± 50 %. @defaultValue 0.5 */
  readonly randomizationFactor?: number | undefined;
  /** The longest delay in milliseconds; at least `initialIntervalMs`. @defaultValue 60_000 */
  readonly maxIntervalMs?: number | undefined;
  /** The number of retries after the first attempt, 0 or more. @defaultValue Infinity */
  readonly maxRetries?: number | undefined;
  /** @defaultValue the system's random source */
  readonly random?: Random | undefined;
}

/**
 * Returns growing delays: the nth is `initialIntervalMs * multiplier ** (n - 1)`, spread at random, and never
 * longer than `maxIntervalMs`.
 * @throws InvalidConfigError an option is out of its range.
 */
export function exponentialBackOff(options: ExponentialBackOffOptions = {}): BackOff {
  const resolved = resolveExponentialBackOffOptions(options);
  const { maxIntervalMs: maxMs, randomizationFactor: factor, random, maxRetries } = resolved;
  const curve = { baseMs: resolved.initialIntervalMs, factor: resolved.multiplier, maxMs };
  let retries = 0;
  return {
    next: () => {
      if (retries >= maxRetries) return undefined;
      const middleMs = delayAfter(++retries, curve);
      return Math.min(spread(middleMs, random, 1 - factor, 1 + factor), maxMs);
    },
  };
}

function resolveExponentialBackOffOptions(options: ExponentialBackOffOptions): Required<{
  readonly [K in keyof ExponentialBackOffOptions]: Exclude<ExponentialBackOffOptions[K], undefined>;
}> {
  const { initialIntervalMs = 500, multiplier = 1.5, randomizationFactor = 0.5 } = options;
  const { maxIntervalMs = 60_000, maxRetries = Infinity, random = systemRandom } = options;
  // Negated, so that NaN is rejected too.
  const wrong = [
    !(initialIntervalMs > 0) && `initialIntervalMs: want above 0, got ${initialIntervalMs}`,
    !(multiplier >= 1) && `multiplier: want at least 1, got ${multiplier}`,
    !(randomizationFactor >= 0 && randomizationFactor <= 1) &&
      `randomizationFactor: want 0 to 1, got ${randomizationFactor}`,
    !(maxIntervalMs >= initialIntervalMs) &&
      `maxIntervalMs: want at least initialIntervalMs (${initialIntervalMs}), got ${maxIntervalMs}`,
    !(maxRetries >= 0) && `maxRetries: want 0 or more, got ${maxRetries}`,
  ].find((fault) => fault !== false);
  if (wrong !== undefined) throw new InvalidConfigError(`exponentialBackOff: ${wrong}`);
  const limits = { initialIntervalMs, multiplier, maxIntervalMs, maxRetries };
  const resolved = { ...limits, randomizationFactor, random };
  refuseUnknownOptions<ExponentialBackOffOptions>('exponentialBackOff', options, resolved);
  return resolved;
}
