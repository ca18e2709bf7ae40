import type { Event } from '../object/kinds.js';
import { cutText } from './cut-text.js';
import { LruMap } from '../system/lru-map.js';

/*
 * States of the events of one topic that get no Event of their own:
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
  /** Maximum number of topics to remember. */
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

/** Maximum bytes of an Event's note. */
const maxNoteBytes = 1_024;

/**
 * Summarizes events that exceed an object's limits. A summary has the number of events, the kinds of the
 * related objects, and the last note. The limits lose no event.
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

  /** Adds an event. @returns a summary that was evicted to make room */
  add(topic: string, event: Event, nowMs: number): EventSummary | undefined {
    const known = this.#collected.get(topic);
    const collected = known ?? this.#begin(topic, event, nowMs);
    collected.last = event;
    collected.events++;
    note(collected, event);
    const quietMs = nowMs + this.#options.delayMs;
    collected.dueMs = Math.max(
      Math.min(quietMs, collected.latestMs),
      this.#notBefore.get(topic) ?? 0,
    );
    if (known !== undefined) return undefined;
    const evicted = this.#collected.set(topic, collected);
    return evicted === undefined ? undefined : summaryOf(evicted);
  }

  /** Removes and returns the summaries that are due at `nowMs`; `Infinity` returns all. */
  take(nowMs: number): EventSummary[] {
    const summaries: EventSummary[] = [];
    for (const [topic, collected] of [...this.#collected.entries()]) {
      if (collected.dueMs > nowMs) continue;
      this.#collected.delete(topic);
      const from = nowMs === Infinity ? collected.dueMs : nowMs;
      this.#notBefore.set(topic, from + this.#options.intervalMs);
      summaries.push(summaryOf(collected));
    }
    return summaries;
  }

  /** Returns the time when {@link take} is next due; undefined if no events are collected. */
  nextMs(): number | undefined {
    let next: number | undefined;
    for (const [, { dueMs }] of this.#collected.entries()) {
      if (next === undefined || dueMs < next) next = dueMs;
    }
    return next;
  }

  #begin(topic: string, last: Event, nowMs: number): Collected {
    const latestMs = nowMs + 12 * this.#options.delayMs;
    return { last, events: 0, objects: new Set(), kinds: new Map(), latestMs, dueMs: latestMs };
  }
}

/** Counts each object once: a retry may fail for the same objects again. */
function note({ objects, kinds }: Collected, { related }: Event): void {
  if (related === undefined) return;
  const { kind = '', namespace, name } = related;
  const id = JSON.stringify([kind, namespace, name]);
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
