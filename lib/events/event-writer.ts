import { isAlreadyExists, isApiError, isNotFound } from '../object/api-error.js';
import { Event } from '../object/kinds.js';
import { formatMicroTime } from '../object/micro-time.js';
import { sleep } from '../system/clock.js';
import { isOperatorError } from '../system/operator-error.js';
import type { ResolvedEventRecorderOptions } from './event-recorder-options.js';
import type { SeriesEntry } from './event-series.js';

/** What became of a write. */
export type WriteOutcome =
  | { readonly type: 'written'; readonly count: number }
  /** The server does not take it; trying again would not help. */
  | { readonly type: 'refused'; readonly error: unknown }
  /** It was tried as often as is allowed. */
  | { readonly type: 'exhausted'; readonly error: unknown };

/**
 * Brings an entry to the server: creates its Event, or patches `series`, the only field that may
 * change. What may pass (no connection, 429, 5xx) is tried again, with exponential back-off.
 * @throws the signal's reason, as soon as `signal` is aborted.
 */
export async function writeEntry(
  entry: SeriesEntry,
  options: ResolvedEventRecorderOptions,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const { clock, maxTries } = options;
  // The server's state of this Event, as far as we know it; it may change under us.
  let exists = entry.writtenCount > 0;
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    const count = entry.count;
    try {
      await write(entry, exists, { ...options, signal });
      return { type: 'written', count };
    } catch (error) {
      signal.throwIfAborted();
      const isElsewise = exists ? isNotFound(error) : isAlreadyExists(error);
      if (!isElsewise && !isTransient(error)) return { type: 'refused', error };
      if (tries >= maxTries) return { type: 'exhausted', error };
      if (!isElsewise) {
        await sleep(clock, delayMs(error, tries, options), signal);
      } else if (exists) {
        // Events live for an hour only: begin anew, with the series so far.
        exists = false;
      } else {
        // An answer was lost, or another replica reports the same under this name: the Event is there.
        if (count === 1) return { type: 'written', count };
        exists = true;
      }
    }
  }
}

async function write(
  { event, count, lastObservedMs }: SeriesEntry,
  exists: boolean,
  { client, signal }: ResolvedEventRecorderOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const series = { count, lastObservedTime: formatMicroTime(lastObservedMs) };
  if (!exists) {
    await client.create(count > 1 ? { ...event, series } : event, { signal });
    return;
  }
  const { namespace, name = '' } = event.metadata;
  const patch = { type: 'merge', body: { series } } as const;
  await client.patch(Event, { namespace, name }, patch, { signal });
}

function isTransient(error: unknown): boolean {
  if (isApiError(error)) return error.status === 429 || error.status >= 500;
  return isOperatorError(error, 'ConnectionFailed') || isOperatorError(error, 'Timeout');
}

function delayMs(error: unknown, tries: number, options: ResolvedEventRecorderOptions): number {
  const { baseDelayMs, maxDelayMs, random } = options;
  const backoffMs = Math.min(baseDelayMs * 2 ** (tries - 1), maxDelayMs);
  const askedMs = isApiError(error) ? (error.context.retryAfterMs ?? 0) : 0;
  // Spread, so that replicas do not all come back at once to a server that was away.
  return Math.max(askedMs, backoffMs) * (1 + random.next() / 4);
}
