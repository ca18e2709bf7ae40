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

/** What a reflector does next. */
export type ReflectorState = WorkState | BackOffState | ParkedState | { readonly phase: 'stopped' };

/** A state that talks to the server. */
export type WorkState = StreamingListState | ListState | WatchState;

/** Begin a watch with the objects that exist (KEP-3157). */
export interface StreamingListState {
  readonly phase: 'streamingList';
}

/** List page by page, or at once where a continue token expired before the last page. */
export interface ListState {
  readonly phase: 'list';
  readonly pages: 'many' | 'one';
}

/** Go on after `resourceVersion`; the last `failures` watches did not work. */
export interface WatchState {
  readonly phase: 'watch';
  readonly resourceVersion: string;
  readonly failures: number;
}

/** Something failed: wait, then go on. */
export interface BackOffState {
  readonly phase: 'backOff';
  readonly error: unknown;
  readonly delayMs: number;
  readonly then: WorkState;
}

/**
 * No use to hurry: look again after `delayMs`. `unknownKind`: the server does not serve the kind;
 * `malformed`: the client refused the request itself, for example for its namespace.
 */
export interface ParkedState {
  readonly phase: 'parked';
  readonly why: ParkReason;
  readonly error: unknown;
  readonly delayMs: number;
}

/** See {@link ParkedState}. */
export type ParkReason = 'unknownKind' | 'malformed';

/** A watch that fails this often, and never worked between, is given up for a list. */
const failuresBeforeRelist = 5;

/** Where to go on after `error`; `relist`: with a list of whichever sort the server has. */
export function stateAfterFailure(
  from: WorkState,
  error: unknown,
): ListState | WatchState | ParkReason | 'relist' {
  if (isNotServed(error)) return 'unknownKind';
  if (isMalformed(error)) return 'malformed';
  switch (from.phase) {
    case 'streamingList':
      // Whatever stands between us and the server may not let it through: do it the plain way.
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

/** Whether the server said that it does not know streaming lists. */
export function isStreamingRefused(error: unknown): boolean {
  return isApiError(error) && [400, 415, 422].includes(error.status);
}

/** How long the server asks to wait; 0 where it does not say. */
export function retryAfterMs(error: unknown): number {
  return isApiError(error) ? (error.context.retryAfterMs ?? 0) : 0;
}

/** The same request would be refused for ever, before it is sent. */
function isMalformed(error: unknown): boolean {
  const codes = ['InvalidObject', 'InvalidOption', 'InvalidSelector'] as const;
  return codes.some((code) => isOperatorError(error, code));
}

/** Whether the watch may go on where it was: the error says nothing about the version. */
function canResume(error: unknown): boolean {
  if (!isApiError(error)) return true;
  if (isVersionTooLarge(error)) return false;
  return isTooManyRequests(error) || error.status >= 500;
}

/** The server is behind the version that we know: it was restored from a backup, perhaps. */
function isVersionTooLarge(error: ApiError): boolean {
  return error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}
