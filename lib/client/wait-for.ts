import { isApiError, isGone, isTooManyRequests, describeObject, keyOf } from '../object/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import {
  sleep,
  systemClock,
  errorMessage,
  OperatorError,
  isOperatorError,
  refuseUnknownOptions,
} from '../system/index.js';
import type { Clock } from '../system/index.js';
import type { CachingClient, CallOptions, Client } from './client.js';
import { Deadline } from './request-limits.js';

/** Options of {@link waitFor}. */
export interface WaitForOptions<T> extends CallOptions {
  /** Decides whether the wait is over. Receives the object, or undefined if it does not exist. */
  readonly until: (object: T | undefined) => boolean;
  /** The time limit in milliseconds; `Infinity` for no limit. @defaultValue 60_000 */
  readonly timeoutMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
}

/** The delay after a failure, unless the server requests a longer one, and after the end of a watch. */
const reconnectMs = 500;

/**
 * Waits until an object meets a condition, by a watch of this one object, without polling. Continues after a
 * failure that may pass: a broken connection, no answer, a 429 or 5xx.
 * @param object - identified by apiVersion, kind, namespace and name; other fields are ignored.
 * @returns the object that `until` accepted; undefined if it accepted that the object does not exist.
 * @throws OperatorError `Timeout`: the time limit has passed; the message names the failure that still lasts.
 * `Aborted`: `signal` was aborted.
 * @throws ApiError: the object cannot be listed or watched, for example 403.
 */
export async function waitFor<T extends KubernetesObject>(
  client: Client,
  object: T,
  options: WaitForOptions<T>,
): Promise<T | undefined> {
  const { timeoutMs = 60_000, clock = systemClock, signal, until } = options;
  // Not from a cache: after a write, a cached client returns the new state before its watch does, and the watch would
  // then return an older one.
  const { live = client } = client as CachingClient;
  const names = { timeoutMs, clock, signal, until };
  refuseUnknownOptions<WaitForOptions<T>>('waitFor', options, names);
  let problem: unknown;
  const limits = { what: `wait for ${describeObject(object)}`, timeoutMs, clock, signal };
  const accepts = (current: T | undefined): boolean => {
    problem = undefined;
    return until(current);
  };
  return withinLimits({ ...limits, problem: () => problem }, async (deadline) => {
    for (;;) {
      try {
        const { signal } = deadline;
        const accepted = await follow(live, object, { until: accepts, signal });
        if (accepted !== undefined) return accepted.object;
      } catch (error) {
        if (!mayPass(error)) throw error;
        problem = error;
      }
      const { retryAfterMs = 0 } = isApiError(problem) ? problem.context : {};
      await sleep(clock, Math.max(reconnectMs, retryAfterMs), deadline.signal);
    }
  });
}

/** The limits of a wait, and its purpose for messages. */
export interface WaitLimits extends CallOptions {
  readonly what: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /**
   * Returns the current failure that prevents the condition, for the message of a time-out.
   * @defaultValue none
   */
  readonly problem?: (() => unknown) | undefined;
}

/** Runs `work` until the time limit or until the signal is aborted. @throws as {@link waitFor} does. */
export async function withinLimits<T>(
  { what, timeoutMs, clock, signal, problem }: WaitLimits,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(signal, clock, timeoutMs);
  try {
    return await work(deadline);
  } catch (error) {
    if (deadline.expired) {
      const cause = problem?.();
      const why = cause === undefined ? '' : ` (${errorMessage(cause)})`;
      const message = `${what}: condition not met within ${timeoutMs} ms${why}`;
      throw new OperatorError('Timeout', message, { cause });
    }
    if (signal?.aborted !== true) throw error;
    throw new OperatorError('Aborted', `${what}: aborted`, { cause: signal.reason });
  } finally {
    deadline.release();
  }
}

/**
 * Lists once, then watches. Returns undefined if the watch ended first, so that the caller must list again.
 */
async function follow<T extends KubernetesObject>(
  client: Client,
  object: T,
  { until, signal }: { until: WaitForOptions<T>['until']; signal: AbortSignal },
): Promise<{ readonly object: T | undefined } | undefined> {
  const type: TypeReference<T> = { apiVersion: object.apiVersion, kind: object.kind };
  const { name, namespace } = keyOf(object);
  const selection = { namespace, fieldSelector: `metadata.name=${name}`, signal };
  const list = await client.list<T>(type, selection);
  const [current] = list.items;
  if (until(current)) return { object: current };
  const { resourceVersion } = list.metadata;
  for await (const event of client.watch<T>(type, { ...selection, resourceVersion })) {
    if (event.type === 'BOOKMARK') continue;
    const now = event.type === 'DELETED' ? undefined : event.object;
    if (until(now)) return { object: now };
  }
  return undefined;
}

/** Whether a read that failed with `error` may succeed when it is repeated later. */
export function mayPass(error: unknown): boolean {
  if (isApiError(error)) return isGone(error) || isTooManyRequests(error) || error.status >= 500;
  return isOperatorError(error, 'ConnectionFailed') || isOperatorError(error, 'Timeout');
}
