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
import { LruMap } from '../system/lru-map.js';
import { newEvent } from './new-event.js';
import type { ObjectEvent, Recorder } from './recorder.js';
import { SpamFilter } from './spam-filter.js';
import { SummaryBook } from './summary-book.js';
import type { EventSummary } from './summary-book.js';

/**
 * Reason for which an event was not written; the label `reason` of `operator_builder_events_dropped_total`.
 */
export type DropReason = 'invalid' | 'queue_full' | 'refused' | 'exhausted' | 'stopped';

// Maximum number of objects and Events to remember; the same as in client-go.
const capacity = 4_096;

/** Events of one type, reason and action that one object may have at once. */
const topicBurst = 10;

/**
 * Writes events.k8s.io/v1 Events in the background and in order.
 *
 * Flow: an event like one recorded in the last six minutes only increases a count (`series`). Any other event
 * becomes an Event if its object is within its limits: 10 events of one reason and action, 25 Normal and 25
 * Warning events in all, then one every five minutes. Further events are combined into one summary Event per
 * reason, with their number and the kinds of the related objects, written when no more came for five seconds.
 *
 * Guarantees: {@link EventRecorder.record} returns at once and never throws. The limits lose no event. Events
 * that the server does not accept are counted and logged. Events still queued when the process ends are lost:
 * call {@link EventRecorder.flush} first.
 *
 * Caveats: a running series or an unwritten summary holds a timer, and so keeps the process alive, until
 * {@link EventRecorder.stop}.
 */
export class EventRecorder implements Recorder {
  readonly #options: ResolvedEventRecorderOptions;
  readonly #series: SeriesBook;
  readonly #objects: SpamFilter;
  readonly #topics: SpamFilter;
  readonly #summaries: SummaryBook;
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
    const { summaryDelayMs: delayMs } = this.#options;
    this.#objects = new SpamFilter({ burst, refillMs, capacity });
    this.#topics = new SpamFilter({ burst: Math.min(burst, topicBurst), refillMs, capacity });
    this.#summaries = new SummaryBook({ delayMs, intervalMs: refillMs, capacity });
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

  /** The number of events dropped so far, for any reason. */
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
   * Writes all queued events, summaries, and counts of running series.
   * @throws the signal's reason when `signal` is aborted; writing continues.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#sumUp(Infinity);
    for (const entry of this.#series.unwritten()) this.#enqueue(entry);
    while (this.#draining !== undefined) {
      await unlessAborted(this.#draining, signal);
      this.#sumUp(Infinity);
    }
  }

  /**
   * Stops permanently: aborts the current write, drops and counts the queued events, and cancels all timers.
   * Resolves when this is done.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#sweep?.timer.cancel();
    this.#sweep = undefined;
    await this.#draining;
    const waiting = [...this.#queue].reduce((sum, one) => sum + one.count - one.writtenCount, 0);
    const collected = this.#summaries.take(Infinity).reduce((sum, { events }) => sum + events, 0);
    this.#queue.clear();
    if (waiting + collected === 0) return;
    this.#drop('stopped', waiting + collected);
    const message = 'events dropped: the recorder was stopped before they were written';
    this.#options.logger.warn(message, { events: waiting + collected });
  }

  #observe(event: Event, now: Moment): void {
    const key = seriesKey(event);
    if (this.#isRepeated(key, now)) return;
    const topic = this.#crowdedTopic(event, now.monotonicMs);
    if (topic === undefined) {
      this.#begin(key, event, now);
      return;
    }
    const evicted = this.#summaries.add(topic, event, now.monotonicMs);
    if (evicted !== undefined) this.#writeSummary(evicted, now);
    this.#sweepAt(this.#summaries.nextMs());
  }

  #isRepeated(key: string, now: Moment): boolean {
    const observation = this.#series.observe(key, now);
    if (observation.type === 'first') return false;
    // The second event starts a series. Later events only increase its count until the next sweep.
    if (observation.entry.count === 2) this.#enqueue(observation.entry);
    this.#sweepAt(this.#series.nextSweepMs([observation.entry]));
    return true;
  }

  /** Returns the topic under which `event` is summarized; undefined if it becomes an Event of its own. */
  #crowdedTopic(event: Event, nowMs: number): string | undefined {
    // Warnings have limits of their own, so that many creations do not hide a failure.
    const object = JSON.stringify([event.type, regardingKey(event)]);
    const topic = JSON.stringify([object, event.reason, event.action]);
    if (this.#queue.size >= this.#options.maxQueued) return topic;
    if (!this.#topics.allow(topic, nowMs)) return topic;
    return this.#objects.allow(object, nowMs) ? undefined : object;
  }

  #begin(key: string, event: Event, now: Moment): void {
    const { entry, replaced } = this.#series.add(key, event, now);
    for (const each of replaced) if (isUnwritten(each)) this.#enqueue(each);
    this.#enqueue(entry);
  }

  #sumUp(nowMs: number): void {
    // Summaries stay collected while the queue is full; the end of the drain schedules them again.
    if (this.#queue.size >= this.#options.maxQueued) return;
    for (const summary of this.#summaries.take(nowMs)) this.#writeSummary(summary, this.#now());
  }

  #writeSummary({ event, events }: EventSummary, now: Moment): void {
    // Summaries belong to one series only if their notes are equal.
    const key = `${seriesKey(event)} ${event.note ?? ''}`;
    if (this.#isRepeated(key, now)) return;
    if (this.#queue.size < this.#options.maxQueued) {
      this.#begin(key, event, now);
      return;
    }
    this.#drop('queue_full', events);
    const about = aboutOf(event);
    this.#logOnce('queue_full', 'events dropped: too many wait to be written', { about });
  }

  #enqueue(entry: SeriesEntry): void {
    // A full queue loses no counts: the next sweep or flush writes them.
    if (this.#queue.size >= this.#options.maxQueued && !this.#queue.has(entry)) return;
    this.#queue.add(entry);
    this.#draining ??= this.#drain();
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
    this.#sweep?.timer.cancel();
    this.#sweep = undefined;
    this.#sweepAt(this.#nextSweepMs());
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
    // No sweep during a drain; the drain schedules the next sweep when it ends.
    if (atMs === undefined || this.#draining !== undefined || this.#isStopped) return;
    if (this.#sweep !== undefined && this.#sweep.atMs <= atMs) return;
    this.#sweep?.timer.cancel();
    const fire = (): void => {
      this.#sweep = undefined;
      this.#sumUp(this.#now().monotonicMs);
      for (const entry of this.#series.sweep(this.#now().monotonicMs)) this.#enqueue(entry);
      this.#sweepAt(this.#nextSweepMs());
    };
    const timer = this.#options.clock.setTimer(fire, atMs - this.#now().monotonicMs);
    this.#sweep = { timer, atMs };
  }

  #nextSweepMs(): number | undefined {
    const times = [this.#series.nextSweepMs(), this.#summaries.nextMs()];
    const next = Math.min(...times.map((time) => time ?? Infinity));
    return next === Infinity ? undefined : next;
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

function regardingKey({ regarding }: Event): readonly (string | undefined)[] {
  const { apiVersion, kind, namespace, name, uid } = regarding ?? {};
  return [apiVersion, kind, namespace, name, uid];
}

/** Waits for `work` until `signal` is aborted. */
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
