import type { Random } from '../system/random.js';
import { ConnectionError } from '../system/connection-error.js';
import { isOperatorError } from '../system/operator-error.js';
import type { ApiRequest } from './call.js';

/** How often and how patiently a request is sent again. */
export interface RetryLimits {
  /** Further attempts after a 429 or 503 with `Retry-After`. @defaultValue 10, as client-go */
  readonly maxRetryAfters?: number | undefined;
  /** A longer `Retry-After` is not waited for but thrown, in milliseconds. @defaultValue 30_000 */
  readonly maxRetryAfterMs?: number | undefined;
  /** Further attempts after a connection broke. @defaultValue 3 */
  readonly maxResets?: number | undefined;
}

const firstDelayMs = 100;
const longestDelayMs = 2_000;

/**
 * Returns how long to wait before a refused request is sent again, in milliseconds: what the server
 * asks for, but after the first retry at least the back-off, so that `Retry-After: 0` or a date in the
 * past makes no hot loop.
 */
export function refusalDelayMs(askedMs: number, retries: number): number {
  if (retries === 0) return askedMs;
  return Math.max(askedMs, Math.min(firstDelayMs * 2 ** (retries - 1), longestDelayMs));
}

/**
 * How long to wait before a broken request goes out again, in milliseconds; undefined: not at all.
 * The first time it goes at once: an idle connection that the server closed is the usual reason.
 */
export function resetDelayMs(
  error: unknown,
  request: ApiRequest,
  { resets, random }: { readonly resets: number; readonly random: Random },
): number | undefined {
  const broken = isOperatorError(error, 'ConnectionFailed');
  // Who refuses connections now does so in 100 ms too: the caller's back-off is the longer one.
  const refused = error instanceof ConnectionError && !error.requestSent;
  if (!broken || refused || !request.repeatable) return undefined;
  if (resets === 0) return 0;
  const delayMs = Math.min(firstDelayMs * 2 ** (resets - 1), longestDelayMs);
  return delayMs * (0.5 + random.next() / 2);
}

// `Date.parse` alone takes almost anything for a date: `-5` would be the year 2001.
const httpDate = /^\s*[A-Z][a-z]{2,8},? [\w :-]+$/;

// Who waits longer stands still because of a broken proxy or a wrong clock.
const longestRetryAfterMs = 3_600_000;

/**
 * Returns the delay that `Retry-After` asks for (RFC 9110, 10.2.3: seconds, or a date), in
 * milliseconds, at most an hour; undefined if the header is absent or invalid.
 * @param nowMs - the wall-clock time here, where the answer has no date itself
 * @param date - the `Date` of the answer: the clock of the server
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
