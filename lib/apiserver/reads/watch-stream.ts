import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Clock } from '../../system/clock.js';
import { Unconverted } from '../custom/webhook-converter.js';
import { isStatusError } from '../status-error.js';
import type { Collection } from '../storage/collection.js';
import type { LogEntry } from '../storage/log-entry.js';
import type { SharedAlarms } from './shared-alarms.js';
import type { Selection } from './selection.js';

/** How a watch shows what it sends. */
export interface WatchFormat {
  /** The JSON of a stored object. */
  object(stored: UnstructuredObject): string;
  /** The JSON of a bookmark; `initialEventsEnd` marks the end of a streaming list. */
  bookmark(revision: number, initialEventsEnd: boolean): string;
  /** Has objects converted, many at once, where somebody else does that. Never rejects. */
  prepare?(stored: readonly UnstructuredObject[]): Promise<void> | undefined;
  /** The JSON of the `Status` of a watch that fell behind the log. */
  tooOld(): string;
}

/** Options of {@link WatchStream}. */
export interface WatchStreamOptions {
  readonly collection: Collection;
  readonly selection: Selection;
  readonly format: WatchFormat;
  readonly clock: Clock;
  readonly alarms: SharedAlarms;
  /** The revision of the last change of any collection. */
  readonly revision: () => number;
  /** Objects to begin with, each as `ADDED`. */
  readonly initial: readonly UnstructuredObject[];
  /** Where in the collection's log the watch goes on. */
  readonly position: number;
  /** What the watch should begin with is not in the log any more. */
  readonly compacted: boolean;
  /** A bookmark of this revision after `initial`; undefined: none. */
  readonly endOfInitialEvents: number | undefined;
  /** Bookmarks are sent when the clock is at a multiple of it; undefined: none are sent. */
  readonly bookmarkEveryMs: number | undefined;
  /** Milliseconds until the server ends the watch. */
  readonly timeoutMs: number;
}

const chunkLength = 64 * 1024;
const encoder = new TextEncoder();

/**
 * The body of a watch. Nothing is queued for it: it reads the log from its own position whenever the
 * reader asks for more, so that a slow reader holds no memory, and gets an `ERROR` event (410) when
 * the log has gone on without it.
 */
export class WatchStream implements AsyncIterableIterator<Uint8Array> {
  readonly #options: WatchStreamOptions;
  #deadlineMs: number;
  #position: number;
  #initial: readonly UnstructuredObject[];
  #sent = 0;
  #bookmarkDue: number | undefined;
  #state: 'initial' | 'following' | 'ended' = 'initial';
  #error: unknown;
  #wake: (() => void) | undefined;
  readonly #onEnd: (() => void)[] = [];

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.#position = options.position;
    this.#initial = options.initial;
    const now = options.clock.monotonicMs();
    this.#deadlineMs = now + options.timeoutMs;
    this.#scheduleBookmark(now);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next bytes, as soon as there are any. @throws what {@link fail} was given. */
  async next(): Promise<IteratorResult<Uint8Array>> {
    const { format } = this.#options;
    if (format.prepare !== undefined && this.#state === 'initial') {
      await format.prepare(this.#initial);
    }
    for (;;) {
      const chunk = this.#attempt();
      if (typeof chunk !== 'string') {
        await chunk.convert();
        continue;
      }
      if (chunk !== '') return { done: false, value: encoder.encode(chunk) };
      if (this.#error !== undefined) throw this.#takeError();
      if (this.#state === 'ended') return { done: true, value: undefined };
      await this.#change();
    }
  }

  /** The reader leaves. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    this.end();
    return { done: true, value: undefined };
  }

  /** Calls `listener` when the watch has ended, whoever ends it. */
  onceEnded(listener: () => void): void {
    if (this.#state === 'ended') listener();
    else this.#onEnd.push(listener);
  }

  /** Ends the watch, as a server that has had enough of it. */
  end(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#initial = [];
    for (const listener of this.#onEnd.splice(0)) listener();
    this.#wake?.();
  }

  /** Ends the watch as soon as it has shown every change up to now. */
  finish(): void {
    this.#deadlineMs = -Infinity;
    this.#wake?.();
  }

  /** Ends the watch with an error for its reader. */
  fail(error: unknown): void {
    if (this.#state === 'ended') return;
    this.#error = error;
    this.end();
  }

  #takeError(): unknown {
    const error = this.#error;
    this.#error = undefined;
    return error;
  }

  /** What there is to send, unless an object in it must be converted first. */
  #attempt(): string | Unconverted {
    const [sent, position, state, initial] = [
      this.#sent,
      this.#position,
      this.#state,
      this.#initial,
    ];
    try {
      return this.#take();
    } catch (error) {
      if (error instanceof Unconverted) {
        [this.#sent, this.#position, this.#state, this.#initial] = [sent, position, state, initial];
        return error;
      }
      if (!isStatusError(error)) throw error;
      this.end();
      return event('ERROR', JSON.stringify(error.body));
    }
  }

  #take(): string {
    if (this.#state === 'initial') {
      const chunk = this.#takeInitial();
      if (chunk !== '') return chunk;
    }
    if (this.#state === 'ended') return '';
    const { collection, clock, compacted } = this.#options;
    if (compacted || collection.lost(this.#position)) return this.#fallBehind();
    const chunk = this.#takeEvents();
    if (chunk !== '') return chunk;
    const now = clock.monotonicMs();
    if (now >= this.#deadlineMs) {
      const last = this.#bookmarkDue === undefined ? '' : this.#bookmark();
      this.end();
      return last;
    }
    if (this.#bookmarkDue === undefined || now < this.#bookmarkDue) return '';
    this.#scheduleBookmark(now);
    return this.#bookmark();
  }

  #takeInitial(): string {
    const { format, endOfInitialEvents } = this.#options;
    let chunk = '';
    while (chunk.length < chunkLength && this.#sent < this.#initial.length) {
      const object = this.#initial[this.#sent++];
      if (object !== undefined) chunk += event('ADDED', format.object(object));
    }
    if (this.#sent < this.#initial.length) return chunk;
    this.#state = 'following';
    this.#initial = [];
    if (endOfInitialEvents === undefined) return chunk;
    return chunk + event('BOOKMARK', format.bookmark(endOfInitialEvents, true));
  }

  #takeEvents(): string {
    let chunk = '';
    while (chunk.length < chunkLength) {
      const entry = this.#options.collection.entryAt(this.#position);
      if (entry === undefined) break;
      this.#position++;
      chunk += this.#eventOf(entry);
    }
    return chunk;
  }

  #eventOf(entry: LogEntry): string {
    const { selection, format } = this.#options;
    if (!entry.key.startsWith(selection.prefix)) return '';
    if (selection.all) return event(entry.type, format.object(entry.object));
    const { previous } = entry;
    const is = entry.type !== 'DELETED' && selection.matches(entry.object);
    const was = previous !== undefined && selection.matches(previous);
    if (is) return event(was ? 'MODIFIED' : 'ADDED', format.object(entry.object));
    if (!was) return '';
    // It left the selection: shown as it was last seen, with the version of the change.
    const resourceVersion = String(entry.revision);
    const last = { ...previous, metadata: { ...previous.metadata, resourceVersion } };
    return event('DELETED', format.object(last));
  }

  #fallBehind(): string {
    const text = event('ERROR', this.#options.format.tooOld());
    this.end();
    return text;
  }

  #bookmark(): string {
    const { format, revision } = this.#options;
    return event('BOOKMARK', format.bookmark(revision(), false));
  }

  #scheduleBookmark(now: number): void {
    const { bookmarkEveryMs: every } = this.#options;
    // The same moments for all watches, so that they wake together. Infinity: only the last one.
    if (every === Infinity) this.#bookmarkDue = Infinity;
    else if (every !== undefined) this.#bookmarkDue = (Math.floor(now / every) + 1) * every;
  }

  /** Resolves when there may be something to do: nothing is subscribed or timed but while it waits. */
  #change(): Promise<void> {
    const { collection, alarms } = this.#options;
    const due = Math.min(this.#deadlineMs, this.#bookmarkDue ?? Infinity);
    return new Promise((resolve) => {
      const wake = (): void => {
        unsubscribe();
        cancel();
        this.#wake = undefined;
        resolve();
      };
      const unsubscribe = collection.subscribe(wake);
      const cancel = alarms.set(due, wake);
      this.#wake = wake;
    });
  }
}

function event(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}
