import { delayAfter, spread } from '../system/backoff.js';
import type { Random } from '../system/random.js';
import { ConnectionError } from '../system/connection-error.js';
import { isOperatorError } from '../system/operator-error.js';
import type { ApiRequest } from './call.js';

/** The limits on sending a request again. */
export interface RetryLimits {
  /** Retries after a 429 or 503 with `Retry-After`. @defaultValue 10, as client-go */
  readonly maxRetryAfters?: number | undefined;
  /** The longest `Retry-After` to wait for, in milliseconds; a longer one throws. @defaultValue 30_000 */
  readonly maxRetryAfterMs?: number | undefined;
  /** Retries after a broken connection. @defaultValue 3 */
  readonly maxResets?: number | undefined;
}

const curve = { baseMs: 100, maxMs: 2_000 };

/**
 * Returns the delay before a refused request is sent again, in milliseconds: the server's, but after the
 * first retry at least the back-off, so that `Retry-After: 0` or a date in the past causes no hot loop.
 */
export function refusalDelayMs(askedMs: number, retries: number): number {
  if (retries === 0) return askedMs;
  return Math.max(askedMs, delayAfter(retries, curve));
}

/**
 * Returns the delay before a broken request is sent again, in milliseconds; undefined: never. The first retry
 * is immediate: the usual reason is an idle connection that the server closed.
 */
export function resetDelayMs(
  error: unknown,
  request: ApiRequest,
  { resets, random }: { readonly resets: number; readonly random: Random },
): number | undefined {
  const broken = isOperatorError(error, 'ConnectionFailed');
  // A server that refuses connections still does so 100 ms later; the caller has a longer back-off.
  const refused = error instanceof ConnectionError && !error.requestSent;
  if (!broken || refused || !request.repeatable) return undefined;
  if (resets === 0) return 0;
  return spread(delayAfter(resets, curve), random, 0.5, 1);
}

// `Date.parse` alone accepts almost anything: `-5` would be the year 2001.
const httpDate = /^\s*[A-Z][a-z]{2,8},? [\w :-]+$/;

// A longer delay comes from a broken proxy or a wrong clock.
const longestRetryAfterMs = 3_600_000;

/**
 * Returns the delay of a `Retry-After` header (RFC 9110, 10.2.3: seconds, or a date), in milliseconds, at
 * most an hour; undefined if the header is absent or invalid.
 * @param nowMs - the local wall-clock time, used if the response has no date
 * @param date - the `Date` of the response: the server's clock
 */
export function retryAfterMs(
  value: string | undefined,
  nowMs: number,
  date?: string,
): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Math.min(Number(value) * 1_000, longestRetryAfterMs);
  const untilMs = dateMs(value);
  if (untilMs === undefined) return undefined;
  return Math.min(Math.max(0, untilMs - (dateMs(date) ?? nowMs)), longestRetryAfterMs);
}

function dateMs(value = ''): number | undefined {
  const ms = httpDate.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
