import type { Event } from '../object/kinds.js';
import { LruMap } from '../system/lru-map.js';

/*
 * States of an Event and the like ones that follow:
 *
 *   first ──> singleton ──like it within seriesFinishMs──> series ──more──> series
 *                 │                                           │
 *                 └───────── none for seriesFinishMs ─────────┴──> finished: the next event is a first
 *
 * The first event is written at once, and so is the second, which starts the series. After that only the
 * count grows; it is written every seriesRefreshMs and when the series is finished.
 */

/** An Event that was recorded and may repeat. */
export interface SeriesEntry {
  readonly key: string;
  /** The Event as it was first recorded. */
  readonly event: Event;
  /** Number of times it was recorded. */
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

/** The current time by both clocks. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Options of {@link SeriesBook}. */
export interface SeriesBookOptions {
  readonly finishMs: number;
  readonly refreshMs: number;
  /** Maximum number of Events to remember. */
  readonly capacity: number;
}

/** Result of `SeriesBook.observe`. */
export type Observation =
  { readonly type: 'first' } | { readonly type: 'repeated'; readonly entry: SeriesEntry };

/** Remembers recent Events, so that a repeated event only increases a count. */
export class SeriesBook {
  readonly #options: SeriesBookOptions;
  readonly #entries: LruMap<string, SeriesEntry>;

  constructor(options: SeriesBookOptions) {
    this.#options = options;
    this.#entries = new LruMap(options.capacity);
  }

  /** Counts an event if a like one was recorded recently. */
  observe(key: string, now: Moment): Observation {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isFinished(entry, now.monotonicMs)) return { type: 'first' };
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
    const finished = this.#entries.get(key);
    const evicted = this.#entries.set(key, entry);
    return { entry, replaced: [finished, evicted].filter((each) => each !== undefined) };
  }

  /** Removes an entry, so that the next event like it starts a new one. */
  forget(entry: SeriesEntry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  /** Removes finished entries. @returns the entries whose count must be written now */
  sweep(nowMs: number): SeriesEntry[] {
    const due: SeriesEntry[] = [];
    for (const entry of [...this.#entries.values()]) {
      const isFinished = this.#isFinished(entry, nowMs);
      if (isFinished) this.#entries.delete(entry.key);
      const isStale = nowMs - entry.writtenMs >= this.#options.refreshMs;
      if (isUnwritten(entry) && (isFinished || isStale)) due.push(entry);
    }
    return due;
  }

  /**
   * Returns the time when {@link sweep} is next due, by the monotonic clock; undefined if everything is
   * written.
   * @param entries - the entries to consider, by default all
   */
  nextSweepMs(entries: Iterable<SeriesEntry> = this.#entries.values()): number | undefined {
    const { finishMs, refreshMs } = this.#options;
    let next: number | undefined;
    for (const entry of entries) {
      const dueMs = Math.min(entry.touchedMs + finishMs, entry.writtenMs + refreshMs);
      if (isUnwritten(entry) && (next === undefined || dueMs < next)) next = dueMs;
    }
    return next;
  }

  /** Returns the entries whose count is not written yet. */
  unwritten(): SeriesEntry[] {
    return [...this.#entries.values()].filter(isUnwritten);
  }

  #isFinished(entry: SeriesEntry, nowMs: number): boolean {
    return nowMs - entry.touchedMs >= this.#options.finishMs;
  }
}

/** Returns true if the server does not have the entry's current count. */
export function isUnwritten(entry: SeriesEntry): boolean {
  return entry.count > entry.writtenCount;
}

/**
 * Returns the identity of a series, as in client-go: all fields but the note and the times. The series keeps
 * the note of the first event.
 */
export function seriesKey(event: Event): string {
  const { type, action, reason, reportingController, reportingInstance } = event;
  const { regarding, related } = event;
  return JSON.stringify([
    [type, action, reason, reportingController, reportingInstance],
    [regarding, related].map((reference) => [
      reference?.apiVersion,
      reference?.kind,
      reference?.namespace,
      reference?.name,
      reference?.uid,
    ]),
  ]);
}
