import type { Event } from '../object/index.js';
import { LruMap } from '../system/index.js';
import { cutText, maxNoteBytes, referenceKey, separator } from './recorder.js';

/**
 * Returns the identity of a series: all fields except the times, and except the note of a Normal event. The series
 * keeps the note of the first event. client-go leaves out the note of every event, but then the note of another
 * failure with the same reason would be lost.
 */
export function seriesKey({ type, reason, action, regarding, related, note }: Event): string {
  const parts = [type, reason, action, referenceKey(regarding), referenceKey(related)];
  return [...parts, ...(type === 'Warning' ? [note] : [])].join(separator);
}

/*
 * States of a series, which begins with an Event and continues with events of the same key:
 *
 *   first ──> singleton ──same key within seriesFinishMs──> series ──more──> series
 *                 │                                            │
 *                 └───────── none for seriesFinishMs ──────────┴──> finished: the next event is a first
 *
 * The first event is written at once, and so is the second, which starts the series. After that only the
 * count grows; it is written every seriesRefreshMs and when the series is finished.
 */

/** An Event that was recorded and may repeat. */
export interface SeriesEntry {
  readonly key: string;
  /** The Event as it was first recorded. */
  readonly event: Event;
  /** Number of times that the Event was recorded. */
  count: number;
  /** The count that the server has; 0 if the Event is not created yet. */
  writtenCount: number;
  /** Time of the last recording, in milliseconds since 1970. */
  lastObservedMs: number;
  /** Time of the last recording by the monotonic clock, which decides when a series ends. */
  touchedMs: number;
  /** Time of the last write, or of the first recording, by the monotonic clock. */
  writtenMs: number;
}

/** The current time by the wall clock and by the monotonic clock. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Options of {@link SeriesBook}. */
export interface SeriesBookOptions {
  readonly finishMs: number;
  readonly refreshMs: number;
  /** Maximum number of Events to keep in memory. */
  readonly capacity: number;
}

/** Result of `SeriesBook.observe`. */
export type Observation =
  { readonly type: 'first' } | { readonly type: 'repeated'; readonly entry: SeriesEntry };

/** Remembers recent Events, so that a repeated event only increases a count. */
export class SeriesBook {
  readonly #options: SeriesBookOptions;
  readonly #entries: LruMap<string, SeriesEntry>;
  /** The entries with an unwritten count, and some that were written since: a small part of all entries. */
  readonly #open = new Set<SeriesEntry>();

  constructor(options: SeriesBookOptions) {
    this.#options = options;
    this.#entries = new LruMap(options.capacity);
  }

  /** Counts an event if one with the same key was recorded recently. */
  observe(key: string, now: Moment): Observation {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isFinished(entry, now.monotonicMs)) return { type: 'first' };
    this.#open.add(entry);
    entry.count++;
    entry.lastObservedMs = now.wallMs;
    entry.touchedMs = now.monotonicMs;
    return { type: 'repeated', entry };
  }

  /** Adds an entry. @returns the entry, and replaced entries whose counts may be unwritten */
  add(key: string, event: Event, now: Moment): { entry: SeriesEntry; replaced: SeriesEntry[] } {
    const { wallMs, monotonicMs } = now;
    const times = { lastObservedMs: wallMs, touchedMs: monotonicMs, writtenMs: monotonicMs };
    const entry: SeriesEntry = { key, event, count: 1, writtenCount: 0, ...times };
    this.#dropFinished(now.monotonicMs);
    const finished = this.#entries.get(key);
    const evicted = this.#entries.set(key, entry);
    const replaced = [finished, evicted].filter((each) => each !== undefined);
    for (const each of replaced) this.#open.delete(each);
    this.#open.add(entry);
    return { entry, replaced };
  }

  /** Removes an entry, so that the next event with its key becomes a new Event. */
  forget(entry: SeriesEntry): void {
    if (this.#entries.get(entry.key) === entry) this.#remove(entry);
  }

  /**
   * Removes finished entries, and calls `take` with those whose count must be written now. An entry for which it
   * returns false is kept for the next sweep.
   */
  sweep(nowMs: number, take: (entry: SeriesEntry) => boolean): void {
    for (const entry of this.unwritten()) {
      const isFinished = this.#isFinished(entry, nowMs);
      const isDue = isFinished || nowMs >= this.#staleMs(entry);
      if (isDue && take(entry) && isFinished) this.#remove(entry);
    }
    this.#dropFinished(nowMs);
  }

  /**
   * Returns the time when {@link sweep} is next due for one of `entries`, by the monotonic clock; undefined if
   * all of them are written.
   */
  nextSweepMs(entries: Iterable<SeriesEntry>): number | undefined {
    const { finishMs } = this.#options;
    let next: number | undefined;
    for (const entry of entries) {
      if (!isUnwritten(entry)) continue;
      const dueMs = Math.min(entry.touchedMs + finishMs, this.#staleMs(entry));
      next = Math.min(next ?? dueMs, dueMs);
    }
    return next;
  }

  /** Returns the entries whose count is not written yet. */
  unwritten(): SeriesEntry[] {
    for (const entry of this.#open) if (!isUnwritten(entry)) this.#open.delete(entry);
    return [...this.#open];
  }

  /** Frees the memory of the oldest entries. */
  #dropFinished(nowMs: number): void {
    for (const entry of this.#entries.values()) {
      if (isUnwritten(entry) || !this.#isFinished(entry, nowMs)) return;
      this.#remove(entry);
    }
  }

  #remove(entry: SeriesEntry): void {
    this.#entries.delete(entry.key);
    this.#open.delete(entry);
  }

  /** Returns when the count of a running series is due; at once if the queue had no place for its Event. */
  #staleMs({ writtenCount, writtenMs }: SeriesEntry): number {
    return writtenCount === 0 ? writtenMs : writtenMs + this.#options.refreshMs;
  }

  #isFinished(entry: SeriesEntry, nowMs: number): boolean {
    // Compares the same sum as `nextSweepMs`: a rounded difference could make a sweep due again and again.
    return nowMs >= entry.touchedMs + this.#options.finishMs;
  }
}

/** Returns true if the server does not have the entry's current count. */
export function isUnwritten(entry: SeriesEntry): boolean {
  return entry.count > entry.writtenCount;
}

/** Events of one owner that differ only in the object that they are about. */
export interface Batch {
  /** The first event. */
  readonly event: Event;
  readonly at: Moment;
  readonly items: Map<string, BatchItem>;
  dueMs: number;
}

export interface BatchItem {
  readonly related: Event['related'];
  readonly text: string;
}

/**
 * Collects the events of one reconcile that differ only in their objects, so that they become one Event. A batch is due
 * `delayMs` after its last event, and takes events for ten times `delayMs` at most. If an object occurs again, the
 * event belongs to the next reconcile and begins the next batch.
 */
export class BatchBook {
  readonly #options: { readonly delayMs: number; readonly capacity: number };
  /** The batches, in the order of their last events. They are due in the same order. */
  readonly #batches = new Map<string, Batch>();

  constructor(options: { readonly delayMs: number; readonly capacity: number }) {
    this.#options = options;
  }

  /**
   * Adds an event to the batch of `key`.
   * @param newEvent - called for the first event of a batch
   * @returns a batch that ended to make room
   */
  add(key: string, item: BatchItem, at: Moment, newEvent: () => Event): Batch | undefined {
    const object = referenceKey(item.related);
    const open = this.#batches.get(key);
    const { delayMs } = this.#options;
    const dueMs = at.monotonicMs + delayMs;
    if (open?.items.has(object) === false && dueMs - open.at.monotonicMs <= 10 * delayMs) {
      open.items.set(object, item);
      open.dueMs = dueMs;
      this.#batches.delete(key);
      this.#batches.set(key, open);
      return undefined;
    }
    const batch = { event: newEvent(), at, items: new Map([[object, item]]), dueMs };
    const isFull = open === undefined && this.#batches.size >= this.#options.capacity;
    const [oldest] = isFull ? this.#batches : [];
    const ended = oldest?.[1] ?? open;
    this.#batches.delete(oldest?.[0] ?? key);
    this.#batches.set(key, batch);
    return ended;
  }

  /** Removes and returns the batches that are due at `nowMs`; `Infinity` returns all. */
  take(nowMs: number): Batch[] {
    const due: Batch[] = [];
    for (const [key, batch] of this.#batches) {
      if (batch.dueMs > nowMs) break;
      this.#batches.delete(key);
      due.push(batch);
    }
    return due;
  }

  /** Returns the time when {@link take} is next due; undefined if no batch is open. */
  nextMs(): number | undefined {
    for (const { dueMs } of this.#batches.values()) return dueMs;
    return undefined;
  }
}

/** Returns the Event of a batch: the only event, or one that names all objects. */
export function combinedEvent({ event, items }: Batch): Event {
  if (items.size === 1) return event;
  const note = combinedNote(`${event.reason ?? ''} ${items.size} objects`, [...items.values()]);
  const combined = { ...event, note };
  delete combined.related;
  return combined;
}

function combinedNote(start: string, items: readonly BatchItem[]): string {
  const restOf = (shown: number): string =>
    shown === items.length ? '' : ` and ${items.length - shown} more`;
  let note = `${start}: ${groupedText(items.slice(0, 1))}`;
  for (let shown = 2; shown <= items.length; shown++) {
    const longer = `${start}: ${groupedText(items.slice(0, shown))}`;
    if (Buffer.byteLength(longer + restOf(shown)) > maxNoteBytes) {
      const rest = restOf(shown - 1);
      return cutText(note, maxNoteBytes - rest.length) + rest;
    }
    note = longer;
  }
  return note;
}

/** Objects of one kind with the same changes. */
interface Group {
  readonly start: string;
  readonly names: string[];
  readonly changes: string;
}

/** Names each kind once for the objects with the same changes: `ConfigMap a, b: data.key; Service c`. */
function groupedText(items: readonly BatchItem[]): string {
  const groups = new Map<string, Group>();
  for (const { text, related } of items) {
    const kind = `${related?.kind ?? ''} `;
    const start = text.startsWith(kind) ? kind : '';
    const [name = ''] = text.slice(start.length).split(/: | \(/, 1);
    const changes = text.slice(start.length + name.length);
    const group = groups.get(start + changes) ?? { start, names: [], changes };
    group.names.push(name);
    groups.set(start + changes, group);
  }
  const texts = [...groups.values()].map(
    ({ start, names, changes }) => start + names.join(', ') + changes,
  );
  // Changed fields and the names of a group are separated by commas.
  const isListed = texts.length < items.length || texts.some((text) => text.includes(': '));
  return texts.join(isListed ? '; ' : ', ');
}

/*
 * States of the summary of one topic. It collects the events that get no Event of their own:
 *
 *   first ──> collecting ──none for delayMs, or 12 delays after the first──> written as one Event
 *                 ▲                                                                │
 *                 └───── the next one; not written within intervalMs ──────────────┘
 */

/** Options of {@link SummaryBook}. */
export interface SummaryBookOptions {
  /** Milliseconds without another event after which a summary is due. */
  readonly delayMs: number;
  /** Shortest time between two summaries of one topic, in milliseconds. */
  readonly intervalMs: number;
  /** Maximum number of topics to keep in memory. */
  readonly capacity: number;
}

/** Several events combined into one. */
export interface EventSummary {
  readonly event: Event;
  /** Number of events in the summary. */
  readonly events: number;
}

interface Collected {
  last: Event;
  events: number;
  readonly objects: Set<string>;
  readonly kinds: Map<string, number>;
  readonly latestMs: number;
  dueMs: number;
}

/**
 * Summarizes the events by which an object exceeds its limits, so that every event is reported. A summary has the
 * number of events, the kinds of the related objects, and the last note.
 */
export class SummaryBook {
  readonly #options: SummaryBookOptions;
  readonly #collected: LruMap<string, Collected>;
  /** Earliest time of the next summary, by topic. */
  readonly #notBefore: LruMap<string, number>;

  constructor(options: SummaryBookOptions) {
    this.#options = options;
    this.#collected = new LruMap(options.capacity);
    this.#notBefore = new LruMap(options.capacity);
  }

  /** Adds an event about `objects`. @returns when its summary is due, and a summary that was evicted to make room */
  add(
    topic: string,
    event: Event,
    nowMs: number,
    objects: readonly Event['related'][],
  ): { readonly dueMs: number; readonly evicted: EventSummary | undefined } {
    const known = this.#collected.get(topic);
    const collected = known ?? this.#begin(topic, event, nowMs);
    collected.last = event;
    collected.events++;
    for (const object of objects) count(collected, object);
    const quietMs = nowMs + this.#options.delayMs;
    collected.dueMs = Math.max(
      Math.min(quietMs, collected.latestMs),
      this.#notBefore.get(topic) ?? 0,
    );
    const { dueMs } = collected;
    if (known !== undefined) return { dueMs, evicted: undefined };
    const evicted = this.#collected.set(topic, collected);
    return { dueMs, evicted: evicted && summaryOf(evicted) };
  }

  /** Removes and yields the summaries that are due at `nowMs`, one by one; `Infinity` yields all. */
  *take(nowMs: number): Generator<EventSummary> {
    for (const [topic, collected] of this.#collected.entries()) {
      if (collected.dueMs > nowMs) continue;
      this.#collected.delete(topic);
      const from = nowMs === Infinity ? collected.dueMs : nowMs;
      this.#notBefore.set(topic, from + this.#options.intervalMs);
      yield summaryOf(collected);
    }
  }

  /** Returns the time when {@link take} is next due; undefined if no events are collected. */
  nextMs(): number | undefined {
    let next: number | undefined;
    for (const [, { dueMs }] of this.#collected.entries()) next = Math.min(next ?? dueMs, dueMs);
    return next;
  }

  #begin(topic: string, last: Event, nowMs: number): Collected {
    const latestMs = nowMs + 12 * this.#options.delayMs;
    return { last, events: 0, objects: new Set(), kinds: new Map(), latestMs, dueMs: latestMs };
  }
}

/** Counts each object once: a retry may fail for the same objects again. */
function count({ objects, kinds }: Collected, related: Event['related']): void {
  if (related === undefined) return;
  const { kind = '', namespace, name } = related;
  const id = [kind, namespace, name].join(separator);
  if (objects.has(id)) return;
  objects.add(id);
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
}

function summaryOf({ last, events, objects, kinds }: Collected): EventSummary {
  if (events === 1) return { event: last, events };
  const event = { ...last };
  delete event.related;
  const byKind = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ');
  const what = objects.size === 0 ? `${events} more events` : `${objects.size} more: ${byKind}`;
  return {
    event: { ...event, note: cutText(`${what}; last: ${last.note ?? ''}`, maxNoteBytes) },
    events,
  };
}
