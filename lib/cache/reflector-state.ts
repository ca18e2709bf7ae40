import type { ApiError } from '../object/api-error.js';
import { isApiError, isGone, isTooManyRequests } from '../object/api-error.js';
import { isOperatorError } from '../system/operator-error.js';
import { isNotServed } from './missing.js';

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
export interface StreamingListState {
  readonly phase: 'streamingList';
}

/** Lists page by page, or in one page if a continue token expired before the last page. */
export interface ListState {
  readonly phase: 'list';
  readonly pages: 'many' | 'one';
}

/** Watches from `resourceVersion`; `failures` is the number of consecutive watches that failed. */
export interface WatchState {
  readonly phase: 'watch';
  readonly resourceVersion: string;
  readonly failures: number;
}

/** Waits after a failure, then continues with `then`. */
export interface BackOffState {
  readonly phase: 'backOff';
  readonly error: unknown;
  readonly delayMs: number;
  readonly then: WorkState;
}

/**
 * Checks again after `delayMs`, since a quick retry is pointless. `unknownKind`: the server does not serve
 * the kind. `malformed`: the client rejected the request itself, for example for its namespace.
 */
export interface ParkedState {
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
export function stateAfterFailure(
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

/** Returns the delay that the server requests, in milliseconds; 0 if it requests no delay. */
export function retryAfterMs(error: unknown): number {
  return isApiError(error) ? (error.context.retryAfterMs ?? 0) : 0;
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
