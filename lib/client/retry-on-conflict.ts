import { isApiError, isConflict, isInvalid } from '../object/api-error.js';
import { delayAfter, spread } from '../system/backoff.js';
import { sleep, systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { CallOptions } from './client.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions extends CallOptions {
  /** The maximum number of attempts, at least 1. @defaultValue 5 */
  readonly maxAttempts?: number | undefined;
  /** The delay before the second attempt, in milliseconds; it doubles. @defaultValue 10 */
  readonly delayMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the system's */
  readonly random?: Random | undefined;
}

/**
 * Repeats `work` while it fails because an object changed since it was read. So `work` must read the object
 * itself, live and not from a cache, which may still have the old version.
 * @throws the errors of `work`; conflicts only after the last attempt.
 */
export async function retryOnConflict<T>(
  work: () => Promise<T>,
  options: RetryOnConflictOptions = {},
): Promise<T> {
  const { maxAttempts = 5, delayMs = 10, signal } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const names = { maxAttempts, delayMs, signal, clock, random };
  refuseUnknownOptions<RetryOnConflictOptions>('retryOnConflict', options, names);
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isStaleWrite(error) || attempt >= maxAttempts) throw error;
      const backoffMs = delayAfter(attempt, { baseMs: delayMs, maxMs: Infinity });
      await sleep(clock, spread(backoffMs, random, 1, 1.1), signal);
    }
  }
}

/**
 * Whether a write failed because the object has changed since it was read: 409, 422 on the uid of an object
 * that was replaced, or 422 without causes, which a failed `test` of a JSON patch returns.
 */
export function isStaleWrite(error: unknown): boolean {
  if (isConflict(error)) return true;
  if (!isApiError(error) || !isInvalid(error)) return false;
  if (error.causes.some(({ field }) => field === 'metadata.uid')) return true;
  return error.context.verb === 'patch' && error.causes.length === 0;
}
