import type { Client } from '../client/index.js';
import {
  isAlreadyExists,
  isApiError,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
  describeObject,
  Event,
  formatMicroTime,
} from '../object/index.js';
import { delayAfter, spread, sleep, LruMap, isOperatorError } from '../system/index.js';
import type { Clock, LogFields, Logger, Counter, Metrics, Random } from '../system/index.js';
import { isUnwritten } from './event-books.js';
import type { SeriesEntry } from './event-books.js';

/**
 * Reason for which an event was not written; the label `reason` of `operator_builder_events_dropped_total`.
 */
export type DropReason = (typeof dropReasons)[number];

const dropReasons = ['invalid', 'queue_full', 'refused', 'exhausted', 'stopped'] as const;

/** Options of {@link EventWriter}. */
export interface EventWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly maxQueued: number;
  readonly maxTries: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** Called with an entry that the server did not accept. */
  readonly onDropped: (entry: SeriesEntry) => void;
  /** Called when the queue is empty. */
  readonly onIdle: () => void;
}

/** Maximum number of namespaces to remember in which a failure was logged. */
const capacity = 4_096;

/** Writes Events one after the other, in the order in which they were queued, and counts the dropped ones. */
export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #queue = new Set<SeriesEntry>();
  readonly #logged = new LruMap<string, true>(capacity);
  readonly #stopping = new AbortController();
  readonly #written: Counter;
  readonly #dropped: Counter;
  #droppedEvents = 0;
  #draining: Promise<void> | undefined;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#written = options.metrics.counter({
      name: 'operator_builder_events_written_total',
      help: 'Events recorded about objects that reached the API server.',
    });
    this.#dropped = options.metrics.counter({
      name: 'operator_builder_events_dropped_total',
      help: 'Events recorded about objects that were not written, by reason.',
      labelNames: ['reason'],
    });
    // Creates the series before the first loss, so that rates over them are defined.
    for (const reason of dropReasons) this.#dropped.add(0, { reason });
  }

  get droppedEvents(): number {
    return this.#droppedEvents;
  }

  get isFull(): boolean {
    return this.#queue.size >= this.#options.maxQueued;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** The end of the writes; undefined if the queue is empty. */
  get draining(): Promise<void> | undefined {
    return this.#draining;
  }

  /** Queues an entry. A full queue loses no counts: the next sweep or flush writes them. */
  enqueue(entry: SeriesEntry): void {
    if (this.isFull && !this.#queue.has(entry)) return;
    this.#queue.add(entry);
    this.#draining ??= this.#drain();
  }

  /** Aborts the current write. @returns the entries that were queued */
  async stop(): Promise<readonly SeriesEntry[]> {
    this.#stopping.abort();
    await this.#draining;
    const queued = [...this.#queue];
    this.#queue.clear();
    return queued;
  }

  /** Counts events as dropped. */
  drop(reason: DropReason, events: number): void {
    this.#droppedEvents += events;
    this.#dropped.add(events, { reason });
  }

  /** Logs a warning, once for each `key`. */
  logOnce(key: string, message: string, fields: LogFields): void {
    if (this.#logged.get(key) === true) return;
    this.#logged.set(key, true);
    this.#options.logger.warn(message, fields);
  }

  async #drain(): Promise<void> {
    const { signal } = this.#stopping;
    // Waits until the caller's synchronous code ends, so that like events become one write.
    await Promise.resolve();
    for (const entry of this.#queue) {
      if (signal.aborted) break;
      this.#queue.delete(entry);
      // The entry may have been queued again during its write.
      if (!isUnwritten(entry)) continue;
      const outcome = await this.#write(entry, signal);
      if (outcome !== undefined) this.#settle(entry, outcome);
    }
    this.#draining = undefined;
    this.#options.onIdle();
  }

  async #write(entry: SeriesEntry, signal: AbortSignal): Promise<WriteOutcome | undefined> {
    try {
      return await writeEntry(entry, this.#options, signal);
    } catch (error) {
      if (!signal.aborted) return { type: 'refused', error };
      // Queued again, so that `stop` counts it.
      this.#queue.add(entry);
      return undefined;
    }
  }

  #settle(entry: SeriesEntry, outcome: WriteOutcome): void {
    if (outcome.type === 'written') {
      this.#written.add(outcome.count - entry.writtenCount);
      entry.writtenCount = outcome.count;
      entry.writtenMs = this.#options.clock.monotonicMs();
      return;
    }
    this.#options.onDropped(entry);
    this.drop(outcome.type, entry.count - entry.writtenCount);
    this.#explain(entry.event, outcome);
  }

  #explain(event: Event, outcome: Exclude<WriteOutcome, { type: 'written' }>): void {
    const { error } = outcome;
    const namespace = event.metadata.namespace ?? '';
    if (isNamespaceTerminating(error)) {
      const message = 'events dropped: their namespace is being deleted';
      this.logOnce(`terminating ${namespace}`, message, { namespace });
    } else if (isForbidden(error)) {
      const message = 'events dropped: writing events.events.k8s.io is not allowed';
      this.logOnce(`forbidden ${namespace}`, message, { namespace, error });
    } else {
      const fields = { about: aboutOf(event), reason: event.reason, error };
      this.#options.logger.warn(`event dropped: ${outcome.type}`, fields);
    }
  }
}

/** Describes the object at which the event is shown. */
export function aboutOf({ regarding }: Event): string {
  const { kind = '', namespace, name = '' } = regarding ?? {};
  return describeObject({ kind, namespace, name });
}

/** The result of a write. */
type WriteOutcome =
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
async function writeEntry(
  entry: SeriesEntry,
  options: EventWriterOptions,
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
  { client, signal }: EventWriterOptions & { readonly signal: AbortSignal },
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

function delayMs(error: unknown, tries: number, options: EventWriterOptions): number {
  const { baseDelayMs: baseMs, maxDelayMs: maxMs, random } = options;
  const askedMs = isApiError(error) ? (error.context.retryAfterMs ?? 0) : 0;
  const backOffMs = delayAfter(tries, { baseMs, maxMs });
  // The events of all other objects wait behind this one, so a server can't delay it by an hour.
  return spread(Math.max(Math.min(askedMs, maxMs), backOffMs), random, 1, 1.25);
}
