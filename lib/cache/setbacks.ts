import { isApiError, isGone, isTooManyRequests } from '../object/index.js';
import type { ApiError } from '../object/index.js';
import { delayAfter, spread, isOperatorError } from '../system/index.js';
import type { Clock, Logger, Random } from '../system/index.js';
import type { CacheMetrics } from './cache-metrics.js';
import { isNotServed } from './missing.js';

interface SetbacksOptions {
  readonly kind: string;
  /** The label of the kind in metrics. */
  readonly kindLabel: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: CacheMetrics;
}

/** A failed list or watch. */
export interface Failure {
  readonly error: unknown;
  /** The duration of a watch, in milliseconds. @defaultValue 0 */
  readonly lastedMs?: number;
  /** True for a watch that worked until now. */
  readonly worked?: boolean;
  /** True if the reflector is already parked, so that the failure has been logged. */
  readonly known: boolean;
}

/** A watch that ends sooner than this, with nothing new, counts as failed. */
export const shortWatchMs = 1_000;

const parkedFor: Readonly<Record<ParkReason, string>> = {
  unknownKind: 'wait for the kind to appear',
  malformed: 'wait long, since the request itself is invalid',
};

/** Chooses a reflector's next state and delay after a failure; logs and counts the failure. */
export class Setbacks {
  readonly #options: SetbacksOptions;
  readonly #delay: ReconnectDelay;
  /** The monotonic time of the last list without a delay after an expired version. */
  #relistedAtMs = -Infinity;

  constructor(options: SetbacksOptions) {
    this.#options = options;
    this.#delay = new ReconnectDelay(options.clock, options.random);
  }

  /** @param relist - the state that lists in the way that the server supports */
  stateAfter(from: WorkState, failure: Failure, relist: WorkState): ReflectorState {
    const { error, lastedMs = 0, worked = false } = failure;
    const next = stateAfterFailure(from, error);
    if (next === 'unknownKind' || next === 'malformed') return this.#park(from, next, failure);
    const then = next === 'relist' ? relist : next;
    const expired = isGone(error) && this.#mayRelist(from, lastedMs);
    const resumes = worked && then.phase === 'watch';
    const waitMs = (): number => (resumes ? this.#delay.afterHealth() : this.#delay.next());
    const delayMs = expired ? 0 : Math.max(waitMs(), retryAfterMs(error));
    this.#report(`${from.phase} failed, next: ${then.phase}`, { error, delayMs, quiet: expired });
    return expired ? then : { phase: 'backOff', error, delayMs, then };
  }

  /**
   * Returns true if the list after an expired version needs no delay: it is the first such list in 30 seconds, and the
   * watch did not end at once after a list.
   */
  #mayRelist(from: WorkState, lastedMs: number): boolean {
    const isResumed = from.phase === 'watch' && (from.failures > 0 || from.isResumed === true);
    const nowMs = this.#options.clock.monotonicMs();
    const isRoutine = isResumed || lastedMs >= shortWatchMs;
    if (!isRoutine || nowMs - this.#relistedAtMs < curve.maxMs) return false;
    this.#relistedAtMs = nowMs;
    return true;
  }

  #park(from: WorkState, why: ParkReason, { error, known }: Failure): ParkedState {
    const waitMs = why === 'malformed' ? this.#delay.longest() : this.#delay.nextLook();
    const delayMs = Math.max(waitMs, retryAfterMs(error));
    const message = `${from.phase} failed, next: ${parkedFor[why]}`;
    this.#report(message, { error, delayMs, quiet: known });
    return { phase: 'parked', why, error, delayMs };
  }

  #report(
    message: string,
    { error, delayMs, quiet }: { error: unknown; delayMs: number; quiet: boolean },
  ): void {
    const { kind, kindLabel, logger, metrics } = this.#options;
    const code = isOperatorError(error) ? error.code : 'unknown';
    metrics.watchErrors.add(1, { kind: kindLabel, code });
    const fields = { error, retryInMs: Math.round(delayMs) };
    if (quiet) logger.debug(`${kind}: ${message}`, fields);
    else logger.warn(`${kind}: ${message}`, fields);
  }
}

/*
 *            +--------------- 410, version rolled back ---------------+
 *            v                                                        |
 *   streamingList ------ initial events end -----------------------> watch <-+ ended, time-out
 *        |   not offered, failed                                      ^ |  +-+
 *        +----> list ------------- last page --------------------------+ |
 *                ^ ^                                                     |
 *        backOff-+ +-parked <------- no such kind --- any state ---------+
 */

/** The next step of a reflector. */
export type ReflectorState = WorkState | BackOffState | ParkedState | { readonly phase: 'stopped' };

/** A state that sends requests to the server. */
export type WorkState = StreamingListState | ListState | WatchState;

/** Starts a watch with the existing objects (KEP-3157). */
interface StreamingListState {
  readonly phase: 'streamingList';
}

/** Lists page by page, or in one page if a continue token expired before the last page. */
export interface ListState {
  readonly phase: 'list';
  readonly pages: 'many' | 'one';
}

/**
 * Watches from `resourceVersion`. `failures` is the number of consecutive watches that failed. `isResumed` is true if
 * the previous watch worked for a while before the server ended it.
 */
export interface WatchState {
  readonly phase: 'watch';
  readonly resourceVersion: string;
  readonly failures: number;
  readonly isResumed?: boolean;
}

/** Waits after a failure, then continues with `then`. */
interface BackOffState {
  readonly phase: 'backOff';
  readonly error: unknown;
  readonly delayMs: number;
  readonly then: WorkState;
}

/**
 * Checks again after `delayMs`, since a quick retry is pointless. `unknownKind`: the server does not serve
 * the kind. `malformed`: the client rejected the request itself, for example for its namespace.
 */
interface ParkedState {
  readonly phase: 'parked';
  readonly why: ParkReason;
  readonly error: unknown;
  readonly delayMs: number;
}

/** The reason for parking. See {@link ParkedState}. */
export type ParkReason = 'unknownKind' | 'malformed';

/** After this many consecutive failures of a watch, the reflector lists again. */
const failuresBeforeRelist = 5;

/** Returns the next step after `error`; `relist` lists in the way that the server supports. */
function stateAfterFailure(
  from: WorkState,
  error: unknown,
): ListState | WatchState | ParkReason | 'relist' {
  if (isNotServed(error)) return 'unknownKind';
  if (isMalformed(error)) return 'malformed';
  switch (from.phase) {
    case 'streamingList':
      // A proxy in between may block the stream, so use a plain list.
      return { phase: 'list', pages: 'many' };
    case 'list':
      return { phase: 'list', pages: isGone(error) ? 'one' : 'many' };
    case 'watch': {
      const failures = from.failures + 1;
      if (canResume(error) && failures < failuresBeforeRelist) return { ...from, failures };
      return 'relist';
    }
  }
}

/** Returns true if the server rejected the request in a way that indicates no streaming lists. */
export function isStreamingRefused(error: unknown): boolean {
  return isApiError(error) && [400, 415, 422].includes(error.status);
}

/** A proxy under maintenance may request hours; the cache must not stay stale for so long. */
const longestRetryAfterMs = 60_000;

/** Returns the delay that the server requests, in milliseconds; 0 if it requests no delay. */
function retryAfterMs(error: unknown): number {
  const { retryAfterMs: askedMs = 0 } = isApiError(error) ? error.context : {};
  return Math.min(askedMs, longestRetryAfterMs);
}

/** Returns true if the client would reject the same request on every attempt, before it is sent. */
function isMalformed(error: unknown): boolean {
  const codes = ['InvalidObject', 'InvalidOption', 'InvalidSelector'] as const;
  return codes.some((code) => isOperatorError(error, code));
}

/** Returns true if the watch can resume from its version: the error does not invalidate the version. */
function canResume(error: unknown): boolean {
  if (!isApiError(error)) return true;
  if (isVersionTooLarge(error)) return false;
  return isTooManyRequests(error) || error.status >= 500;
}

/** Returns true if the server is behind the known version, for example after a restore from a backup. */
function isVersionTooLarge(error: ApiError): boolean {
  return error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}

const curve = { baseMs: 800, maxMs: 30_000 };
/** Limits the delay for an unserved kind: each check costs one small request. */
const longestLookMs = 5_000;
const resetAfterMs = 120_000;

/**
 * Computes the delay before the next attempt to reach an API server. The delay starts at 0.8 s and doubles to
 * 30 s. Each delay is extended at random by up to 100 %, so that clients do not reconnect all at once. Two
 * minutes without a failure reset the delay. The curve is that of client-go's reflector.
 *
 * Unlike client-go, the loss of a working watch does not count as a failure (see `afterHealth`).
 */
export class ReconnectDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  #failures = 0;
  #healthySinceMs = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Counts a failure and returns the delay, in milliseconds. */
  next(): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#healthySinceMs >= resetAfterMs) this.#failures = 0;
    const delayMs = spread(delayAfter(++this.#failures, curve), this.#random, 1, 2);
    // The time without failures can begin only after the delay.
    this.#healthySinceMs = nowMs + delayMs;
    return delayMs;
  }

  /** Returns the delay for a kind that may be installed at any time: it grows too, but to 5 s at most. */
  nextLook(): number {
    return Math.min(this.next(), longestLookMs);
  }

  /**
   * Returns the delay for an error that a retry is unlikely to fix: 30 s, extended at random by up to 100 %.
   */
  longest(): number {
    return spread(curve.maxMs, this.#random, 1, 2);
  }

  /**
   * Returns the delay after the loss of a working watch: 0.8 s, extended at random by up to 100 %. This delay
   * never grows: a load balancer that cuts idle streams each minute must not make a cache ever staler. The
   * call does not reset a delay that failures have doubled, and does not interrupt the time without failures.
   */
  afterHealth(): number {
    return spread(curve.baseMs, this.#random, 1, 2);
  }
}
