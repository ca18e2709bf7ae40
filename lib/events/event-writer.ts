import { setMaxListeners } from 'node:events';
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
import { delayAfter, spread, waited, LruMap, Turns, isOperatorError } from '../system/index.js';
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
  /** Called when an entry is neither queued nor being written. */
  readonly onSettled: (entry: SeriesEntry) => void;
  /** Called when no entry is queued or being written. */
  readonly onIdle: () => void;
}

/** Maximum number of namespaces with a logged failure to keep in memory. */
const capacity = 4_096;

/** Maximum number of concurrent requests; of a namespace at most one, so that its Events arrive in order. */
const maxRequests = 16;

/**
 * Writes the Events of each namespace one after the other, in the order in which they were queued, and counts the
 * dropped ones. While a failed Event waits for its next attempt, the other Events are written. While all attempts fail,
 * they share one back-off.
 */
export class EventWriter {
  readonly #options: EventWriterOptions;
  /** The entries that wait for a request: a first write, a later count, or a retry. */
  readonly #queue = new Set<SeriesEntry>();
  readonly #deliveries = new Map<SeriesEntry, Promise<void>>();
  readonly #turns = new Turns();
  readonly #requests = new Slots(maxRequests);
  readonly #logged = new LruMap<string, true>(capacity);
  readonly #stopping = new AbortController();
  /** Aborted to end all waits for the next attempt; a new controller then replaces it. */
  #waiting = newWaiting();
  readonly #written: Counter;
  readonly #dropped: Counter;
  #droppedEvents = 0;
  /** The number of failed attempts in a row, of all Events. */
  #failures = 0;
  /** The end of the pause of all requests, by the monotonic clock. */
  #resumeMs = 0;
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
    // Creates a time series of the metric for each reason before the first event is dropped, so that `rate` counts it.
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

  /** Resolves when all queued entries are written or dropped; undefined while nothing is queued. */
  get draining(): Promise<void> | undefined {
    return this.#draining;
  }

  /** Returns true if the entry is queued or being written. */
  has(entry: SeriesEntry): boolean {
    return this.#deliveries.has(entry);
  }

  /** Queues an entry. @returns false if the queue is full: queue the entry later, so that its count is not lost */
  enqueue(entry: SeriesEntry): boolean {
    if (this.isFull && !this.#queue.has(entry)) return false;
    this.#queue.add(entry);
    if (!this.#deliveries.has(entry)) this.#deliveries.set(entry, this.#deliver(entry));
    this.#draining ??= this.#drain();
    return true;
  }

  /** Ends the waits for next attempts, for example because the process ends: the server may answer again. */
  retryNow(): void {
    if (this.#stopping.signal.aborted) return;
    this.#resumeMs = 0;
    const waiting = this.#waiting;
    this.#waiting = newWaiting();
    waiting.abort();
  }

  /** Aborts the current writes. @returns the entries that were queued */
  async stop(): Promise<readonly SeriesEntry[]> {
    this.#stopping.abort();
    this.#waiting.abort();
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
    while (this.#deliveries.size > 0) await Promise.all(this.#deliveries.values());
    this.#draining = undefined;
    this.#options.onIdle();
  }

  /** Writes an entry repeatedly, until it is no longer in the queue. */
  async #deliver(entry: SeriesEntry): Promise<void> {
    const { signal } = this.#stopping;
    // Waits until the caller's synchronous code ends, so that events of one series become one write.
    await Promise.resolve();
    // The entry may be queued again during its write.
    while (this.#queue.has(entry) && !signal.aborted) {
      if (isUnwritten(entry)) await this.#write(entry, signal);
      else this.#queue.delete(entry);
    }
    this.#deliveries.delete(entry);
    this.#options.onSettled(entry);
  }

  async #write(entry: SeriesEntry, signal: AbortSignal): Promise<void> {
    try {
      this.#settle(entry, await this.#tryUntilSettled(entry, signal));
    } catch (error) {
      // The entry is queued again, so that `stop` counts it as dropped.
      if (signal.aborted) this.#queue.add(entry);
      else this.#settle(entry, { type: 'refused', error });
    }
  }

  /**
   * Tries to write an entry. Retries transient errors (no connection, 429, 5xx) with exponential back-off.
   * @throws the signal's reason when `signal` is aborted.
   */
  async #tryUntilSettled(entry: SeriesEntry, signal: AbortSignal): Promise<WriteOutcome> {
    const { maxTries } = this.#options;
    for (let tries = 1; ; tries++) {
      const outcome = await this.#inTurn(entry, signal);
      if (outcome.type !== 'failed') return outcome;
      const { error } = outcome;
      if (tries >= maxTries) return { type: 'exhausted', error };
      this.#queue.add(entry);
      await this.#wait(delayMs(error, tries, this.#options), signal);
    }
  }

  #inTurn(entry: SeriesEntry, signal: AbortSignal): Promise<AttemptOutcome> {
    const attempt = async (): Promise<AttemptOutcome> => {
      await this.#untilResumed(signal);
      this.#queue.delete(entry);
      const outcome = await attemptWrite(entry, this.#options.client, signal);
      this.#pauseAfter(outcome);
      return outcome;
    };
    const { namespace = '' } = entry.event.metadata;
    return this.#turns.run(namespace, () => this.#requests.run(attempt));
  }

  /** @throws the signal's reason when `signal` is aborted. */
  async #untilResumed(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    signal.throwIfAborted();
    for (;;) {
      const waitMs = this.#resumeMs - clock.monotonicMs();
      if (waitMs <= 0) return;
      await this.#wait(waitMs, signal);
    }
  }

  /** Waits `ms` milliseconds, or until {@link EventWriter.retryNow}. @throws as `#untilResumed`. */
  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    await waited(this.#options.clock, ms, this.#waiting.signal);
    signal.throwIfAborted();
  }

  /**
   * Pauses all requests when as many have failed in a row as can run concurrently: the server is unreachable or
   * overloaded. Without the pause, each queued Event would retry by itself, a thousand of them within a second.
   */
  #pauseAfter({ type }: AttemptOutcome): void {
    const { clock, baseDelayMs: baseMs, maxDelayMs: maxMs, random } = this.#options;
    this.#failures = type === 'failed' ? this.#failures + 1 : 0;
    const rounds = Math.floor(this.#failures / maxRequests);
    const pauseMs = rounds === 0 ? 0 : delayAfter(rounds, { baseMs, maxMs });
    this.#resumeMs = clock.monotonicMs() + Math.ceil(spread(pauseMs, random, 1, 1.25));
  }

  #settle(entry: SeriesEntry, outcome: WriteOutcome): void {
    if (outcome.type === 'written') {
      this.#written.add(outcome.count - entry.writtenCount);
      entry.writtenCount = outcome.count;
      entry.writtenMs = this.#options.clock.monotonicMs();
      return;
    }
    this.#queue.delete(entry);
    this.#options.onDropped(entry);
    this.drop(outcome.type, entry.count - entry.writtenCount);
    // The dropped events must not be counted again.
    entry.writtenCount = entry.count;
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
      const why =
        outcome.type === 'refused' ? 'the API server refused it' : 'too many attempts failed';
      this.#options.logger.warn(`event dropped: ${why}`, fields);
    }
  }
}

function newWaiting(): AbortController {
  const waiting = new AbortController();
  // By default Node warns of a leak when the eleventh Event waits for its next attempt.
  setMaxListeners(0, waiting.signal);
  return waiting;
}

/** Describes the object at which the event is shown. */
export function aboutOf({ regarding }: Event): string {
  const { kind = '', namespace, name = '' } = regarding ?? {};
  return describeObject({ kind, namespace, name });
}

type WriteOutcome =
  | { readonly type: 'written'; readonly count: number }
  /** The server rejected the Event; a retry would not help. */
  | { readonly type: 'refused'; readonly error: unknown }
  /** The last allowed attempt failed. */
  | { readonly type: 'exhausted'; readonly error: unknown };

/** The result of one attempt; a retry may help if it `failed`. */
type AttemptOutcome =
  | Exclude<WriteOutcome, { type: 'exhausted' }>
  | { readonly type: 'failed'; readonly error: unknown };

/**
 * Creates the Event of an entry, or patches `series`, the only mutable field.
 * @throws the signal's reason when `signal` is aborted.
 */
async function attemptWrite(
  entry: SeriesEntry,
  client: Client,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { count } = entry;
  // Whether the server has the Event, as far as is known: it may have expired, or another replica may have created it.
  let exists = entry.writtenCount > 0;
  for (let changes = 0; ; changes++) {
    try {
      await write(entry, exists, { client, signal });
      return { type: 'written', count };
    } catch (error) {
      signal.throwIfAborted();
      if (isTransient(error)) return { type: 'failed', error };
      const isElsewise = exists ? isNotFound(error) : isAlreadyExists(error);
      if (!isElsewise) return { type: 'refused', error };
      // The Event exists: a response was lost, or another replica reports under the same name.
      if (!exists && count === 1) return { type: 'written', count };
      if (changes > 1) return { type: 'failed', error };
      // Events expire after an hour: create the Event again, with the series so far.
      exists = !exists;
    }
  }
}

async function write(
  { event, count, lastObservedMs }: SeriesEntry,
  exists: boolean,
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
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

/** Whether the request may succeed later. An error with the HTTP status of a success is about a malformed answer. */
function isTransient(error: unknown): boolean {
  if (isApiError(error)) return error.status < 400 || error.status === 429 || error.status >= 500;
  return isOperatorError(error, 'ConnectionFailed') || isOperatorError(error, 'Timeout');
}

function delayMs(error: unknown, tries: number, options: EventWriterOptions): number {
  const { baseDelayMs: baseMs, maxDelayMs: maxMs, random } = options;
  const askedMs = isApiError(error) ? (error.context.retryAfterMs ?? 0) : 0;
  const backOffMs = delayAfter(tries, { baseMs, maxMs });
  // The entry stays in the queue until then, so the delay that a server requests is limited.
  return spread(Math.max(Math.min(askedMs, maxMs), backOffMs), random, 1, 1.25);
}

/** Runs at most `size` pieces of work at once, in the order of the calls. */
class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  async run<R>(work: () => Promise<R>): Promise<R> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
