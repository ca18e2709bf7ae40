import type { BackOff } from './back-off.js';
import { InvalidConfigError } from './invalid-config-error.js';

/**
 * Returns the delay before the next retry; undefined ends the retries.
 * @throws InvalidConfigError the delay is invalid. NaN, for example, would retry at once, forever.
 */
export function nextWaitMs(backOff: BackOff, cause: unknown): number | undefined {
  const waitMs: unknown = backOff.next();
  if (waitMs === undefined) return undefined;
  if (typeof waitMs === 'number' && waitMs >= 0) return waitMs;
  const got = typeof waitMs === 'number' ? waitMs : `a value of type ${typeof waitMs}`;
  const want = 'want milliseconds, 0 or more, or undefined to give up';
  throw new InvalidConfigError(`backOffFactory: next(): ${want}, got ${got}`, { cause });
}
