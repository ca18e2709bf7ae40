import { isForbidden, isNamespaceTerminating } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { Event } from '../object/kinds.js';
import type { Timer } from '../system/clock.js';
import type { LogFields } from '../system/logger.js';
import type { Counter } from '../system/metrics.js';
import { resolveEventRecorderOptions } from './event-recorder-options.js';
import type {
  EventRecorderOptions,
  ResolvedEventRecorderOptions,
} from './event-recorder-options.js';
import { isUnwritten, SeriesBook, seriesKey } from './event-series.js';
import type { Moment, SeriesEntry } from './event-series.js';
import { writeEntry } from './event-writer.js';
import type { WriteOutcome } from './event-writer.js';
import { LruMap } from './lru-map.js';
import { newEvent } from './new-event.js';
import type { ObjectEvent, Recorder } from './recorder.js';
import { SpamFilter } from './spam-filter.js';

/** Why an event was not written; the label `reason` of `operator_builder_events_dropped_total`. */
export type DropReason = 'invalid' | 'spam' | 'queue_full' | 'refused' | 'exhausted' | 'stopped';

// As many objects and Events are remembered as client-go remembers.
const capacity = 4_096;

/**
 * Writes events.k8s.io/v1 Events, in the background and in order.
 *
 * Flow: an event like one recorded in the last six minutes only counts (`series`); a new one passes the
 * spam filter (25 for each object, then one every five minutes) and waits in a bounded queue.
 *
 * Guarantees: {@link EventRecorder.record} returns at once and never throws; whatever is not written
 * is counted. What is waiting when the process ends is lost: {@link EventRecorder.flush} first.
 *
 * Caveats: a series that is running holds a timer, and so the process, until
 * {@link EventRecorder.stop}.
 */
export class EventRecorder implements Recorder {
  readonly #options: ResolvedEventRecorderOptions;
  readonly #series: SeriesBook;
  readonly #filter: SpamFilter;
  readonly #queue = new Set<SeriesEntry>();
  readonly #logged = new LruMap<string, true>(capacity);
  readonly #stopping = new AbortController();
  readonly #written: Counter;
  readonly #dropped: Counter;
  #droppedEvents = 0;
  #draining: Promise<void> | undefined;
  #sweep: { readonly timer: Timer; readonly atMs: number } | undefined;

  /** @throws OperatorError `InvalidOption`: an option is out of its range. */
  constructor(options: EventRecorderOptions) {
    this.#options = resolveEventRecorderOptions(options);
    const { burst, refillMs, seriesFinishMs, seriesRefreshMs, metrics } = this.#options;
    this.#filter = new SpamFilter({ burst, refillMs, capacity });
    const times = { finishMs: seriesFinishMs, refreshMs: seriesRefreshMs };
    this.#series = new SeriesBook({ ...times, capacity });
    this.#written = metrics.counter({
      name: 'operator_builder_events_written_total',
      help: 'Events recorded about objects that reached the API server.',
    });
    this.#dropped = metrics.counter({
      name: 'operator_builder_events_dropped_total',
      help: 'Events recorded about objects that were not written, by reason.',
      labelNames: ['reason'],
    });
  }

  /** How many events were dropped so far, for whatever reason. */
  get droppedEvents(): number {
    return this.#droppedEvents;
  }

  record(event: ObjectEvent): void {
    if (this.#isStopped) {
      this.#drop('stopped', 1);
      return;
    }
    try {
      const { controllerName, instance, random } = this.#options;
      const now = this.#now();
      const origin = { controllerName, instance, random, nowMs: now.wallMs };
      this.#observe(newEvent(event, origin), now);
    } catch (error) {
      this.#drop('invalid', 1);
      this.#options.logger.error('event dropped: it is invalid', { reason: event.reason, error });
    }
  }

  /**
   * Writes all that waits, and the counts of running series.
   * @throws the signal's reason, as soon as `signal` is aborted; the writing goes on.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    for (const entry of this.#series.unwritten()) this.#enqueue(entry);
    while (this.#draining !== undefined) await unlessAborted(this.#draining, signal);
  }

  /**
   * Stops for good: the write under way is aborted, what waits is dropped and counted, and no timer is
   * left. Resolves when that is so.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#sweep?.timer.cancel();
    this.#sweep = undefined;
    await this.#draining;
    for (const entry of this.#queue) this.#drop('stopped', entry.count - entry.writtenCount);
    this.#queue.clear();
  }

  #observe(event: Event, now: Moment): void {
    const key = seriesKey(event);
    const observation = this.#series.observe(key, now);
    if (observation.type === 'first') {
      this.#begin(key, event, now);
      return;
    }
    // The second makes a series; after it, counting is enough until the next sweep.
    if (observation.entry.count === 2) this.#enqueue(observation.entry);
    this.#sweepAt(this.#series.nextSweepMs([observation.entry]));
  }

  #begin(key: string, event: Event, now: Moment): void {
    const about = aboutOf(event);
    if (!this.#filter.allow(spamKey(event), now.monotonicMs)) {
      this.#drop('spam', 1);
      this.#logOnce(`spam ${about}`, 'events dropped: too many about one object', { about });
      return;
    }
    if (this.#queue.size >= this.#options.maxQueued) {
      this.#drop('queue_full', 1);
      this.#logOnce('queue_full', 'events dropped: too many wait to be written', { about });
      return;
    }
    const { entry, replaced } = this.#series.add(key, event, now);
    for (const each of replaced) if (isUnwritten(each)) this.#enqueue(each);
    this.#enqueue(entry);
  }

  #enqueue(entry: SeriesEntry): void {
    // Counts that find no room are not lost: the next sweep or flush brings them.
    if (this.#queue.size >= this.#options.maxQueued && !this.#queue.has(entry)) return;
    this.#queue.add(entry);
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    const { signal } = this.#stopping;
    // Not before the caller is through: events of one turn that are alike become one write.
    await Promise.resolve();
    for (const entry of this.#queue) {
      if (signal.aborted) break;
      this.#queue.delete(entry);
      // It may have been queued again while it was on its way.
      if (!isUnwritten(entry)) continue;
      const outcome = await this.#write(entry, signal);
      if (outcome !== undefined) this.#settle(entry, outcome);
    }
    this.#draining = undefined;
    this.#sweep?.timer.cancel();
    this.#sweep = undefined;
    this.#sweepAt(this.#series.nextSweepMs());
  }

  async #write(entry: SeriesEntry, signal: AbortSignal): Promise<WriteOutcome | undefined> {
    try {
      return await writeEntry(entry, this.#options, signal);
    } catch (error) {
      if (!signal.aborted) return { type: 'refused', error };
      // Back it goes, for `stop` to count.
      this.#queue.add(entry);
      return undefined;
    }
  }

  #settle(entry: SeriesEntry, outcome: WriteOutcome): void {
    if (outcome.type === 'written') {
      this.#written.add(outcome.count - entry.writtenCount);
      entry.writtenCount = outcome.count;
      entry.writtenMs = this.#now().monotonicMs;
      return;
    }
    this.#series.forget(entry);
    this.#drop(outcome.type, entry.count - entry.writtenCount);
    this.#explain(entry.event, outcome);
  }

  #explain(event: Event, outcome: Exclude<WriteOutcome, { type: 'written' }>): void {
    const { error } = outcome;
    const namespace = event.metadata.namespace ?? '';
    if (isNamespaceTerminating(error)) {
      const message = 'events dropped: their namespace is being deleted';
      this.#logOnce(`terminating ${namespace}`, message, { namespace });
    } else if (isForbidden(error)) {
      const message = 'events dropped: writing events.events.k8s.io is not allowed';
      this.#logOnce(`forbidden ${namespace}`, message, { namespace, error });
    } else {
      const fields = { about: aboutOf(event), reason: event.reason, error };
      this.#options.logger.warn(`event dropped: ${outcome.type}`, fields);
    }
  }

  #sweepAt(atMs: number | undefined): void {
    // While the queue is drained, what is due is on its way; the drain looks again at its end.
    if (atMs === undefined || this.#draining !== undefined || this.#isStopped) return;
    if (this.#sweep !== undefined && this.#sweep.atMs <= atMs) return;
    this.#sweep?.timer.cancel();
    const fire = (): void => {
      this.#sweep = undefined;
      for (const entry of this.#series.sweep(this.#now().monotonicMs)) this.#enqueue(entry);
      this.#sweepAt(this.#series.nextSweepMs());
    };
    const timer = this.#options.clock.setTimer(fire, atMs - this.#now().monotonicMs);
    this.#sweep = { timer, atMs };
  }

  #drop(reason: DropReason, events: number): void {
    this.#droppedEvents += events;
    this.#dropped.add(events, { reason });
  }

  #logOnce(key: string, message: string, fields: LogFields): void {
    if (this.#logged.get(key) === true) return;
    this.#logged.set(key, true);
    this.#options.logger.warn(message, fields);
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
  }
}

function aboutOf({ regarding }: Event): string {
  const { kind = '', namespace, name = '' } = regarding ?? {};
  return describeObject({ kind, namespace, name });
}

/** What shares one bucket: all that this reporter says about one object. */
function spamKey({ regarding }: Event): string {
  const { apiVersion, kind, namespace, name, uid } = regarding ?? {};
  return JSON.stringify([apiVersion, kind, namespace, name, uid]);
}

/** Waits for `work`, but no longer than until `signal` is aborted. */
function unlessAborted(work: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const listening = work.finally(() => signal.removeEventListener('abort', onAbort));
    listening.then(resolve, reject);
  });
}
