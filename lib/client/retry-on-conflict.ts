import { isApiError, isConflict, isInvalid } from '../object/api-error.js';
import { sleep, systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { CallOptions } from './client.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions extends CallOptions {
  /** How often `work` is done at most, at least 1. @defaultValue 5 */
  readonly maxAttempts?: number | undefined;
  /** The wait before the second attempt, in milliseconds; it doubles. @defaultValue 10 */
  readonly delayMs?: number | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
}

/**
 * Does `work` again while it fails because an object changed since it was read. So `work` has to
 * read the object itself, and live, not from a cache that is as old as before.
 * @throws what `work` throws, conflicts only after the last attempt.
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
      await sleep(clock, delayMs * 2 ** (attempt - 1) * (1 + random.next() / 10), signal);
    }
  }
}

/**
 * Whether a write failed because the object is no longer what was read: 409, or where a `test` of a
 * JSON patch did not hold, 422 without causes.
 */
export function isStaleWrite(error: unknown): boolean {
  if (isConflict(error)) return true;
  const patched = isApiError(error) && error.context.verb === 'patch';
  return patched && isInvalid(error) && error.causes.length === 0;
}
