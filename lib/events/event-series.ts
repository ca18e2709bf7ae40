import type { Event } from '../object/kinds.js';
import { LruMap } from '../system/lru-map.js';

/*
 * An Event and those like it:
 *
 *   first ──> singleton ──like it within seriesFinishMs──> series ──more──> series
 *                 │                                           │
 *                 └───────── none for seriesFinishMs ─────────┴──> finished: the next one is a first
 *
 * A first is written at once, and so is the second, which makes a series of it. From then on only the
 * count grows; it is written every seriesRefreshMs and when the series is finished.
 */

/** An Event that was recorded and may be recorded again. */
export interface SeriesEntry {
  readonly key: string;
  /** The Event as it was recorded first. */
  readonly event: Event;
  /** How often it was recorded. */
  count: number;
  /** How many of them the server knows of; 0: the Event was not created yet. */
  writtenCount: number;
  /** When it was recorded last, in milliseconds since 1970. */
  lastObservedMs: number;
  /** The same by the monotonic clock, which alone decides when a series ends. */
  touchedMs: number;
  /** When it was written last, or recorded first, by the monotonic clock. */
  writtenMs: number;
}

/** The present, by both clocks. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Options of {@link SeriesBook}. */
export interface SeriesBookOptions {
  readonly finishMs: number;
  readonly refreshMs: number;
  /** Events to remember. */
  readonly capacity: number;
}

/** What an Event turned out to be. */
export type Observation =
  { readonly type: 'first' } | { readonly type: 'repeated'; readonly entry: SeriesEntry };

/** Which Events were recorded lately, so that one that comes again only counts. */
export class SeriesBook {
  readonly #options: SeriesBookOptions;
  readonly #entries: LruMap<string, SeriesEntry>;

  constructor(options: SeriesBookOptions) {
    this.#options = options;
    this.#entries = new LruMap(options.capacity);
  }

  /** Counts an event where one like it was recorded lately. */
  observe(key: string, now: Moment): Observation {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isFinished(entry, now.monotonicMs)) return { type: 'first' };
    entry.count++;
    entry.lastObservedMs = now.wallMs;
    entry.touchedMs = now.monotonicMs;
    return { type: 'repeated', entry };
  }

  /** Begins an entry. @returns entries that had to make room, their counts perhaps not written */
  add(key: string, event: Event, now: Moment): { entry: SeriesEntry; replaced: SeriesEntry[] } {
    const { wallMs, monotonicMs } = now;
    const times = { lastObservedMs: wallMs, touchedMs: monotonicMs, writtenMs: monotonicMs };
    const entry: SeriesEntry = { key, event, count: 1, writtenCount: 0, ...times };
    const finished = this.#entries.get(key);
    const evicted = this.#entries.set(key, entry);
    return { entry, replaced: [finished, evicted].filter((each) => each !== undefined) };
  }

  /** Forgets an entry, so that the next event like it is a first. */
  forget(entry: SeriesEntry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  /** Forgets what is finished. @returns the entries whose count is to be written now */
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
   * When {@link sweep} is next due, by the monotonic clock; undefined: nothing is unwritten.
   * @param entries - those to look at, by default all
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

  /** The entries whose count is not written yet. */
  unwritten(): SeriesEntry[] {
    return [...this.#entries.values()].filter(isUnwritten);
  }

  #isFinished(entry: SeriesEntry, nowMs: number): boolean {
    return nowMs - entry.touchedMs >= this.#options.finishMs;
  }
}

/** Whether the server does not know the entry's count. */
export function isUnwritten(entry: SeriesEntry): boolean {
  return entry.count > entry.writtenCount;
}

/**
 * What makes two Events one series, as in client-go: all but the note and the times. The note of the
 * first stands for all.
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
