import type { BackOff } from './back-off.js';
import { InvalidConfigError } from './invalid-config-error.js';

/**
 * The wait before the next try; undefined: give up.
 * @throws InvalidConfigError it is no time, as NaN, which would be tried again at once, for ever.
 */
export function nextWaitMs(backOff: BackOff, cause: unknown): number | undefined {
  const waitMs: unknown = backOff.next();
  if (waitMs === undefined) return undefined;
  if (typeof waitMs === 'number' && waitMs >= 0) return waitMs;
  const got = typeof waitMs === 'number' ? waitMs : `a value of type ${typeof waitMs}`;
  const want = 'want milliseconds, 0 or more, or undefined to give up';
  throw new InvalidConfigError(`backOffFactory: next(): ${want}, got ${got}`, { cause });
}
