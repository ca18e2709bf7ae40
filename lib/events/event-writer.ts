import { isAlreadyExists, isApiError, isNotFound } from '../object/api-error.js';
import { Event } from '../object/kinds.js';
import { formatMicroTime } from '../object/micro-time.js';
import { sleep } from '../system/clock.js';
import { isOperatorError } from '../system/operator-error.js';
import type { ResolvedEventRecorderOptions } from './event-recorder-options.js';
import type { SeriesEntry } from './event-series.js';

/** The result of a write. */
export type WriteOutcome =
  | { readonly type: 'written'; readonly count: number }
  /** The server rejected the Event; a retry would not help. */
  | { readonly type: 'refused'; readonly error: unknown }
  /** The last allowed attempt failed. */
  | { readonly type: 'exhausted'; readonly error: unknown };

/**
 * Writes an entry: creates its Event, or patches `series`, the only mutable field. Retries transient errors
 * (no connection, 429, 5xx) with exponential back-off.
 * @throws the signal's reason when `signal` is aborted.
 */
export async function writeEntry(
  entry: SeriesEntry,
  options: ResolvedEventRecorderOptions,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const { clock, maxTries } = options;
  // The last known state of the Event on the server, where it may change meanwhile.
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
        // Events expire after an hour: create it again, with the series so far.
        exists = false;
      } else {
        // The Event exists: a response was lost, or another replica reports under the same name.
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
  // Jitter, so that replicas do not all return at once to a server that was unavailable.
  return Math.max(askedMs, backoffMs) * (1 + random.next() / 4);
}
