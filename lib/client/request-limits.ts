import { defaultMaxListeners, getMaxListeners, setMaxListeners } from 'node:events';
import {
  delayAfter,
  spread,
  sleep,
  ConnectionError,
  OperatorError,
  isOperatorError,
  refuseUnknownOptions,
  untilAborted,
} from '../system/index.js';
import type { Clock, Timer, Random } from '../system/index.js';
import type { ApiRequest } from './call.js';

/**
 * The maximum number of listeners on one signal, as in Node's own `fetch`. A reconcile with this many
 * concurrent requests is not a leak.
 */
const maxRequestsAtOnce = 1500;

/**
 * A signal that the caller's signal or a time limit aborts. `AbortSignal.any` is unsuitable: on Node 20 its
 * signals stay in memory as long as a long-lived source.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #sources = new Map<AbortSignal, () => void>();
  #timer: Timer | undefined;
  /** Whether the signal is aborted; reading the signal would create it. */
  isOver = false;
  /** Whether the time limit aborted the signal. */
  expired = false;

  constructor(source: AbortSignal | undefined, clock: Clock, timeoutMs: number) {
    this.follow(source);
    this.restart(clock, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts this signal when `source` is aborted. */
  follow(source: AbortSignal | undefined): void {
    if (source === undefined || this.#sources.has(source)) return;
    const onAbort = (): void => this.#end(source.reason);
    if (source.aborted) onAbort();
    // By default Node warns about a leak at the eleventh concurrent request.
    if (isLimited(source)) setMaxListeners(maxRequestsAtOnce, source);
    source.addEventListener('abort', onAbort, { once: true });
    this.#sources.set(source, onAbort);
  }

  #end(reason?: unknown): void {
    this.isOver = true;
    this.#controller.abort(reason);
  }

  /** Replaces the time limit by another that begins now; `Infinity` for no limit. */
  restart(clock: Clock, timeoutMs: number): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (timeoutMs === Infinity || this.isOver) return;
    this.#timer = clock.setTimer(() => {
      this.expired = true;
      this.#end();
    }, timeoutMs);
  }

  /** Waits for `promise` until the signal is aborted. @throws the signal's reason. */
  async until<T>(promise: T | Promise<T>): Promise<T> {
    return promise instanceof Promise ? untilAborted(promise, this.signal) : promise;
  }

  /** Removes the timer and the listeners. */
  release(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const [source, onAbort] of this.#sources) source.removeEventListener('abort', onAbort);
    this.#sources.clear();
  }
}

/** Whether `signal` has Node's default listener limit, not a limit that the user set. */
function isLimited(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) === defaultMaxListeners;
  } catch {
    return false; // Node 20 throws for the limit 0, which means unlimited.
  }
}

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
 * Returns the delay before a refused request is sent again, in milliseconds: the delay that the server
 * requests. From the second retry on, it is at least the back-off, so that `Retry-After: 0` or a date in the
 * past causes no hot loop.
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
 * Returns the delay of a `Retry-After` header (RFC 9110, 10.2.3: seconds, or a date) in milliseconds, at most
 * an hour. Returns undefined if the header is absent or invalid.
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
