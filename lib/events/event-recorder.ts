import { hostname } from 'node:os';
import type { Client } from '../client/index.js';
import type { Event } from '../object/index.js';
import { qualifiedNameProblem } from '../object/index.js';
import {
  systemClock,
  refuseUnknownOptions,
  silentLogger,
  noMetrics,
  OperatorError,
  SpamFilter,
  systemRandom,
  untilAborted,
} from '../system/index.js';
import type { Clock, Timer, Logger, Metrics, Random, Resolved } from '../system/index.js';
import {
  BatchBook,
  combinedEvent,
  isUnwritten,
  SeriesBook,
  seriesKey,
  SummaryBook,
} from './event-books.js';
import type { Batch, EventSummary, Moment, SeriesEntry } from './event-books.js';
import { aboutOf, EventWriter } from './event-writer.js';
import {
  cutText,
  maxTextBytes,
  newEvent,
  referenceKey,
  refuseInvalidEvent,
  separator,
  toReference,
} from './recorder.js';
import type { ObjectEvent, Recorder } from './recorder.js';

/** Options of {@link EventRecorder}. */
export interface EventRecorderOptions {
  /** Client that writes the Events; it needs `create` and `patch` on `events.events.k8s.io`. */
  readonly client: Client;
  /** Reporting controller: a qualified name, for example `parseable-operator` or `example.com/operator`. */
  readonly controllerName: string;
  /** Reporting replica; cut to 128 bytes. @defaultValue controllerName-hostname */
  readonly instance?: string | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Spreads retries, and draws the names of Events. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** @defaultValue no metrics */
  readonly metrics?: Metrics | undefined;
  /**
   * Maximum number of Events in the write queue, at least 1; further events are summarized.
   * @defaultValue 1_000
   */
  readonly maxQueued?: number | undefined;
  /** Maximum attempts per write, at least 1. @defaultValue 12 */
  readonly maxTries?: number | undefined;
  /** Delay after the first failed attempt, in milliseconds; doubles with each attempt. @defaultValue 1_000 */
  readonly baseDelayMs?: number | undefined;
  /** Longest delay between two attempts, in milliseconds, before jitter. @defaultValue 30_000 */
  readonly maxDelayMs?: number | undefined;
  /**
   * Events of one type, Normal or Warning, that one object may have in one burst, at least 1. At most 10 of them
   * may have the same reason and action. Further events are summarized.
   * @defaultValue 25
   */
  readonly burst?: number | undefined;
  /**
   * Milliseconds until an object may have another event; also the shortest time between two summaries.
   * @defaultValue 300_000
   */
  readonly refillMs?: number | undefined;
  /** Milliseconds without another event after which a summary is written. @defaultValue 5_000 */
  readonly summaryDelayMs?: number | undefined;
  /** Milliseconds without another event of a series after which the series ends. @defaultValue 360_000 */
  readonly seriesFinishMs?: number | undefined;
  /**
   * Longest time between two similar events about objects of one owner that become one Event, in milliseconds; see
   * {@link ObjectEvent.item}. The Event is written after ten times this time at most.
   * @defaultValue 1_000
   */
  readonly combineMs?: number | undefined;
  /** Interval at which the count of a running series is written, in milliseconds. @defaultValue 1_800_000 */
  readonly seriesRefreshMs?: number | undefined;
}

// Maximum number of objects and Events to keep in memory. Beyond it, each repeated event becomes a new Event.
const capacity = 32_768;

/** Milliseconds until the recorder tries again to queue the Events that are due, after the queue was full. */
const fullQueueDelayMs = 1_000;

/** Events of one type, reason and action that one object may have in one burst. */
const topicBurst = 10;

/**
 * Writes events.k8s.io/v1 Events in the background. Those of a namespace are written in the order of recording, but
 * an Event that fails is retried after the others.
 *
 * Flow: Normal events with an `item`, about several objects of one owner and within a second, become one
 * event that names all of them. An event like one recorded in the last six minutes only increases a count
 * (`series`); a Warning with another note is not like it. Any other event becomes an Event if its object is
 * within its limits: 10 events of one reason and action, 25 Normal and 25 Warning events in all, then one every
 * five minutes. Further events are combined into one summary Event per reason, with their number and the kinds
 * of the related objects. The summary is written after five seconds without another one.
 *
 * Guarantees: {@link EventRecorder.record} returns at once and never throws. The limits lose no event: a
 * summary counts each event beyond them. Events that the server does not accept are counted and logged.
 * Events not yet written when the process ends are lost: call {@link EventRecorder.flush} first.
 *
 * Caveats: a running series or an unwritten event holds a timer, and so keeps the process alive, until
 * {@link EventRecorder.stop}.
 */
export class EventRecorder implements Recorder {
  readonly #options: Resolved<EventRecorderOptions>;
  readonly #writer: EventWriter;
  readonly #batches: BatchBook;
  readonly #series: SeriesBook;
  readonly #objects: SpamFilter;
  readonly #topics: SpamFilter;
  readonly #summaries: SummaryBook;
  #closing: Timer | undefined;
  #sweep: { readonly timer: Timer; readonly atMs: number } | undefined;

  /** @throws OperatorError `InvalidOption`: an option is out of its range. */
  constructor(options: EventRecorderOptions) {
    const resolved = resolveOptions(options);
    const { burst, refillMs, seriesFinishMs: finishMs, seriesRefreshMs: refreshMs } = resolved;
    const { summaryDelayMs, combineMs, maxQueued } = resolved;
    this.#options = resolved;
    this.#batches = new BatchBook({ delayMs: combineMs, capacity: maxQueued });
    this.#objects = new SpamFilter({ burst, refillMs, capacity });
    this.#topics = new SpamFilter({ burst: Math.min(burst, topicBurst), refillMs, capacity });
    this.#summaries = new SummaryBook({ delayMs: summaryDelayMs, intervalMs: refillMs, capacity });
    this.#series = new SeriesBook({ finishMs, refreshMs, capacity });
    this.#writer = new EventWriter({
      ...resolved,
      onDropped: (entry) => this.#series.forget(entry),
      onSettled: (entry) => this.#sweepAt(this.#nextSweepMs([entry])),
      onIdle: () => this.#sweepAgain(),
    });
  }

  /** The number of events dropped so far, for any reason. */
  get droppedEvents(): number {
    return this.#writer.droppedEvents;
  }

  record(event: ObjectEvent): void {
    if (this.#writer.isStopped) {
      this.#writer.drop('stopped', 1);
      return;
    }
    try {
      this.#record(event, this.#now());
    } catch (error) {
      this.#writer.drop('invalid', 1);
      // Plain JavaScript can pass nothing at all.
      const { reason } = (event as ObjectEvent | null | undefined) ?? {};
      this.#options.logger.error('event dropped: it is invalid', { reason, error });
    }
  }

  /**
   * Writes all recorded events, summaries, and counts of running series. Events whose write failed are retried at once.
   * @throws the signal's reason when `signal` is aborted; writing continues.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#closeBatches(Infinity);
    this.#sumUp(Infinity);
    // Does not wait for counts that grow meanwhile: otherwise a flush would not end while events are recorded.
    const counts = new Map(this.#series.unwritten().map((entry) => [entry, entry.count]));
    this.#enqueueBelow(counts);
    this.#writer.retryNow();
    while (this.#writer.draining !== undefined) {
      const { draining } = this.#writer;
      await (signal === undefined ? draining : untilAborted(draining, signal));
      this.#closeBatches(Infinity);
      this.#sumUp(Infinity);
      // The queue may have had no place for all counts.
      this.#enqueueBelow(counts);
    }
  }

  /** Queues the series whose written count is below that of `counts`. */
  #enqueueBelow(counts: ReadonlyMap<SeriesEntry, number>): void {
    if (this.#writer.isStopped) return;
    for (const entry of this.#series.unwritten()) {
      if (entry.writtenCount < (counts.get(entry) ?? 0)) this.#writer.enqueue(entry);
    }
  }

  /**
   * Stops permanently: aborts the current writes, drops and counts the unwritten events, and cancels all
   * timers. Resolves when this is done.
   */
  async stop(): Promise<void> {
    this.#closing?.cancel();
    this.#sweep?.timer.cancel();
    this.#sweep = undefined;
    const entries = new Set(await this.#writer.stop());
    // The counts of running series are queued only when they are due.
    this.#series.sweep(Infinity, (entry) => {
      entries.add(entry);
      return true;
    });
    const counted = [...entries].map(({ count, writtenCount }) => count - writtenCount);
    const collected = [...this.#summaries.take(Infinity)].map(({ events }) => events);
    const combined = this.#batches.take(Infinity).map(({ items }) => items.size);
    const events = [...counted, ...collected, ...combined].reduce((sum, each) => sum + each, 0);
    if (events === 0) return;
    this.#writer.drop('stopped', events);
    const message = 'events dropped: the recorder was stopped before they were written';
    this.#options.logger.warn(message, { events });
  }

  #record(event: ObjectEvent, now: Moment): void {
    const { controllerName, instance, random } = this.#options;
    const origin = { controllerName, instance, random, nowMs: now.wallMs };
    const { type, item: text, related, name, reason, action } = event;
    if (text === undefined || related === undefined || name !== undefined || type === 'Warning') {
      const single = newEvent(event, origin);
      this.#observe(single, { key: seriesKey(single), now, objects: [single.related] });
      return;
    }
    refuseInvalidEvent(event);
    const key = [reason, action, referenceKey(toReference(event.regarding))].join(separator);
    const item = { text, related: toReference(related) };
    const ended = this.#batches.add(key, item, now, () => newEvent(event, origin));
    if (ended !== undefined) this.#closeBatch(ended);
    this.#closing ??= this.#closeLater();
  }

  #closeLater(): Timer | undefined {
    const { clock } = this.#options;
    const dueMs = this.#batches.nextMs();
    if (dueMs === undefined) return undefined;
    return clock.setTimer(
      () => this.#closeBatches(clock.monotonicMs()),
      dueMs - clock.monotonicMs(),
    );
  }

  #closeBatches(nowMs: number): void {
    this.#closing?.cancel();
    for (const batch of this.#batches.take(nowMs)) this.#closeBatch(batch);
    this.#closing = this.#closeLater();
  }

  #closeBatch(batch: Batch): void {
    const event = combinedEvent(batch);
    const objects = [...batch.items.values()].map(({ related }) => related);
    const key = objects.length === 1 ? seriesKey(event) : notedKey(event);
    this.#observe(event, { key, now: batch.at, objects });
  }

  #observe(event: Event, { key, now, objects }: Observed): void {
    if (this.#isRepeated(key, now)) return;
    const topic = this.#crowdedTopic(event, now.monotonicMs);
    if (topic === undefined) {
      this.#begin(key, event, now);
      return;
    }
    const { dueMs, evicted } = this.#summaries.add(topic, event, now.monotonicMs, objects);
    if (evicted !== undefined) this.#writeSummary(evicted, now);
    this.#sweepAt(dueMs);
  }

  #isRepeated(key: string, now: Moment): boolean {
    const observation = this.#series.observe(key, now);
    if (observation.type === 'first') return false;
    // The second event starts a series. Later events only increase its count until the next sweep.
    if (observation.entry.count === 2) this.#writer.enqueue(observation.entry);
    this.#sweepAt(this.#nextSweepMs([observation.entry]));
    return true;
  }

  /** Returns the topic under which `event` is summarized; undefined if it becomes an Event of its own. */
  #crowdedTopic(event: Event, nowMs: number): string | undefined {
    // Warnings have limits of their own, so that many creations do not hide a failure.
    const object = [event.type, referenceKey(event.regarding)].join(separator);
    const topic = [object, event.reason, event.action].join(separator);
    if (this.#writer.isFull) return topic;
    if (!this.#topics.allow(topic, nowMs)) return topic;
    return this.#objects.allow(object, nowMs) ? undefined : object;
  }

  #begin(key: string, event: Event, now: Moment): void {
    const { entry, replaced } = this.#series.add(key, event, now);
    for (const each of replaced) if (isUnwritten(each)) this.#writer.enqueue(each);
    if (!this.#writer.enqueue(entry)) this.#sweepAt(this.#nextSweepMs([entry]));
  }

  #sumUp(nowMs: number): void {
    // Summaries stay collected while the queue is full.
    for (const summary of this.#writer.isFull ? [] : this.#summaries.take(nowMs)) {
      this.#writeSummary(summary, this.#now());
      if (this.#writer.isFull) return;
    }
  }

  #writeSummary({ event, events }: EventSummary, now: Moment): void {
    const key = notedKey(event);
    if (this.#isRepeated(key, now)) return;
    if (!this.#writer.isFull) {
      this.#begin(key, event, now);
      return;
    }
    this.#writer.drop('queue_full', events);
    const about = aboutOf(event);
    this.#writer.logOnce('queue_full', 'events dropped: too many wait to be written', { about });
  }

  #sweepAt(dueMs: number | undefined): void {
    if (dueMs === undefined || this.#writer.isStopped) return;
    const nowMs = this.#now().monotonicMs;
    const atMs = this.#writer.isFull ? Math.max(dueMs, nowMs + fullQueueDelayMs) : dueMs;
    if (this.#sweep !== undefined && this.#sweep.atMs <= atMs) return;
    this.#sweep?.timer.cancel();
    const fire = (): void => {
      this.#sumUp(this.#now().monotonicMs);
      this.#series.sweep(this.#now().monotonicMs, (entry) => this.#writer.enqueue(entry));
      this.#sweepAgain();
    };
    this.#sweep = { timer: this.#options.clock.setTimer(fire, atMs - nowMs), atMs };
  }

  #sweepAgain(): void {
    this.#sweep?.timer.cancel();
    this.#sweep = undefined;
    this.#sweepAt(this.#summaries.nextMs());
    this.#sweepAt(this.#nextSweepMs(this.#series.unwritten()));
  }

  /** Returns when one of `entries` is next due; undefined if no entry is due. */
  #nextSweepMs(entries: readonly SeriesEntry[]): number | undefined {
    // `onSettled` schedules the entries that the writer still holds.
    return this.#series.nextSweepMs(entries.filter((entry) => !this.#writer.has(entry)));
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
  }
}

/** An event's series, the time of its recording, and its objects. */
interface Observed {
  readonly key: string;
  readonly now: Moment;
  readonly objects: readonly Event['related'][];
}

/** Returns the key of an Event about several objects: such Events form a series only if their notes are equal too. */
function notedKey(event: Event): string {
  return [seriesKey(event), event.note].join(separator);
}

/** @throws OperatorError `InvalidOption`: an option is out of its range. */
function resolveOptions(options: EventRecorderOptions): Resolved<EventRecorderOptions> {
  const { client, controllerName, instance = `${controllerName}-${hostname()}` } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const { logger = silentLogger, metrics = noMetrics } = options;
  const { maxQueued = 1_000, maxTries = 12, baseDelayMs = 1_000, maxDelayMs = 30_000 } = options;
  const { burst = 25, refillMs = 300_000, summaryDelayMs = 5_000, combineMs = 1_000 } = options;
  const { seriesFinishMs = 360_000, seriesRefreshMs = 1_800_000 } = options;
  const problem = qualifiedNameProblem(controllerName);
  if (problem !== undefined) refuse(`controllerName: ${problem}`);
  if (instance === '') refuse('instance is empty');
  const limits = { maxQueued, burst, refillMs, summaryDelayMs, combineMs };
  const series = { seriesFinishMs, seriesRefreshMs };
  const delays = { maxTries, baseDelayMs, maxDelayMs };
  for (const [name, value] of Object.entries({ ...limits, ...series, ...delays })) {
    // The negated comparison also rejects NaN.
    if (!(value >= 1)) refuse(`${name}: want at least 1, got ${value}`);
  }
  const services = { client, controllerName, clock, random, logger, metrics };
  const texts = { instance: cutText(instance, maxTextBytes) };
  const resolved = { ...services, ...texts, ...delays, ...limits, ...series };
  refuseUnknownOptions<EventRecorderOptions>('EventRecorder', options, resolved);
  return resolved;
}

function refuse(why: string): never {
  throw new OperatorError('InvalidOption', `EventRecorder: ${why}`);
}
