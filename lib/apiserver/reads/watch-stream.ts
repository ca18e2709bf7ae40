import { deepFreeze } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { Clock, Timer } from '../../system/index.js';
import { Unconverted } from '../custom/webhook-converter.js';
import { objectToProtobuf, watchEventToProtobuf } from '../protobuf/objects.js';
import { isStatusError } from '../status-error.js';
import type { Collection, LogEntry } from '../storage/mvcc-log.js';
import type { Selection } from './selection.js';

/** Serialises the events of a watch. */
export interface WatchFormat {
  /** Returns the JSON of a stored object. */
  object(stored: UnstructuredObject): string;
  /** Returns the protobuf encoding of a stored object. Undefined if the watch sends JSON. */
  readonly protobuf?: (stored: UnstructuredObject) => Uint8Array;
  /** Returns a stored object as the watch sends it, frozen. Undefined if the watch sends another form than objects. */
  shared?(stored: UnstructuredObject): UnstructuredObject;
  /** Returns the JSON of a bookmark; `initialEventsEnd` marks the end of a streaming list. */
  bookmark(revision: number, initialEventsEnd: boolean): string;
  /** Converts many objects in one call, if a webhook does the conversion. Never rejects. */
  prepare?(stored: readonly UnstructuredObject[]): Promise<void> | undefined;
  /** Returns the JSON of the `Status` for a watch whose position is no longer in the log. */
  tooOld(): string;
}

interface WatchStreamOptions {
  readonly collection: Collection;
  readonly selection: Selection;
  readonly format: WatchFormat;
  readonly clock: Clock;
  readonly alarms: SharedAlarms;
  /** Returns the revision of the last change of any collection. */
  readonly revision: () => number;
  /** Objects to send first, each as `ADDED`. */
  readonly initial: readonly UnstructuredObject[];
  /** The position in the collection's log at which the watch continues. */
  readonly position: number;
  /** True if the first changes that the watch needs are no longer in the log. */
  readonly compacted: boolean;
  /** The revision of a bookmark after `initial`; undefined: no bookmark. */
  readonly endOfInitialEvents: number | undefined;
  /**
   * The interval of bookmarks: the server sends them when the clock is at a multiple of this interval;
   * undefined: no bookmarks.
   */
  readonly bookmarkEveryMs: number | undefined;
  /** Milliseconds until the server ends the watch. */
  readonly timeoutMs: number;
  /** Returns how often to send the event of a changed object; faults drop and repeat events. */
  readonly copiesOf: (object: UnstructuredObject) => number;
}

const chunkLength = 64 * 1024;
/** Maximum number of events per batch for a reader in this process. */
const sharedEvents = 256;
const encoder = new TextEncoder();

/** A real server sends the last bookmark two seconds before the time-out. */
const shortestWithLastBookmarkMs = 2000;

/**
 * The body of a watch. The stream has no queue, but reads the log from its own position when the reader
 * requests more. So a slow reader uses no memory, and gets an `ERROR` event (410) once its position is no
 * longer in the log.
 */
export class WatchStream implements AsyncIterableIterator<Uint8Array> {
  readonly #options: WatchStreamOptions;
  #deadlineMs: number;
  #position: number;
  /** The position of the first change that the watch does not send. */
  #end = Infinity;
  #initial: readonly UnstructuredObject[];
  #sent = 0;
  /**
   * How often the event at `#position` must still be sent; undefined until the fault rules have decided about the
   * event.
   */
  #copies: number | undefined;
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

  /**
   * Resolves with the next bytes as soon as there are any.
   * @throws the error that {@link fail} received.
   */
  async next(): Promise<IteratorResult<Uint8Array>> {
    const { format } = this.#options;
    const chunk = await this.#next(() => {
      const { protobuf } = format;
      return protobuf === undefined ? new TextChunk(format) : new FrameChunk(protobuf);
    });
    return chunk === undefined
      ? { done: true, value: undefined }
      : { done: false, value: chunk.bytes() };
  }

  /**
   * Returns the events with the stored objects themselves instead of bytes, for readers in this
   * process.
   * @returns undefined if the watch sends another form than objects
   */
  events(): AsyncIterable<readonly SharedEvent[]> | undefined {
    const { format } = this.#options;
    return format.shared === undefined ? undefined : this.#events(format);
  }

  async *#events(format: WatchFormat): AsyncGenerator<readonly SharedEvent[]> {
    try {
      for (;;) {
        const chunk = await this.#next(() => new SharedChunk(format));
        if (chunk === undefined) return;
        yield chunk.events;
      }
    } finally {
      this.end();
    }
  }

  /** Resolves with the next part to send; undefined once the stream has ended. */
  async #next<C extends Chunk>(newChunk: () => C): Promise<C | undefined> {
    const { format } = this.#options;
    if (format.prepare !== undefined && this.#state === 'initial') {
      await format.prepare(this.#initial);
    }
    for (;;) {
      const chunk = newChunk();
      const unconverted = this.#attempt(chunk);
      if (!chunk.isEmpty) return chunk;
      if (unconverted !== undefined) {
        await unconverted.convert();
        continue;
      }
      if (this.#error !== undefined) throw this.#takeError();
      if (this.#state === 'ended') return undefined;
      await this.#change();
    }
  }

  /** Ends the watch because the reader stops. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    this.end();
    return { done: true, value: undefined };
  }

  /** Calls `listener` once the watch has ended, for any reason. */
  onceEnded(listener: () => void): void {
    if (this.#state === 'ended') listener();
    else this.#onEnd.push(listener);
  }

  /** Ends the watch immediately, without its remaining changes. */
  end(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    for (const listener of this.#onEnd.splice(0)) listener();
    this.#wake?.();
  }

  /** Ends the watch as soon as it has sent every change up to now, without a bookmark. */
  finish(): void {
    this.#deadlineMs = -Infinity;
    this.#end = Math.min(this.#end, this.#options.collection.end);
    this.#bookmarkDue = undefined;
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

  /**
   * Fills a chunk with the data that is ready to send.
   * @returns the object that a webhook must convert first; the next attempt continues with it
   */
  #attempt(chunk: Chunk): Unconverted | undefined {
    try {
      this.#take(chunk);
      return undefined;
    } catch (error) {
      if (error instanceof Unconverted) return error;
      if (!isStatusError(error)) throw error;
      this.end();
      chunk.addText('ERROR', JSON.stringify(error.body));
      return undefined;
    }
  }

  #take(chunk: Chunk): void {
    if (this.#state === 'initial') {
      this.#takeInitial(chunk);
      if (!chunk.isEmpty) return;
    }
    if (this.#state === 'ended') return;
    const { collection, clock, compacted, format } = this.#options;
    if (compacted || collection.lost(this.#position)) {
      chunk.addText('ERROR', format.tooOld());
      this.end();
      return;
    }
    this.#takeEvents(chunk);
    if (!chunk.isEmpty) return;
    const now = clock.monotonicMs();
    const isOver = now >= this.#deadlineMs;
    const ends = isOver && this.#options.timeoutMs > shortestWithLastBookmarkMs;
    if (this.#bookmarkDue !== undefined && (ends || now >= this.#bookmarkDue)) {
      chunk.addText('BOOKMARK', format.bookmark(this.#options.revision(), false));
      if (!isOver) this.#scheduleBookmark(now);
    }
    if (isOver) this.end();
  }

  #takeInitial(chunk: Chunk): void {
    const { format, endOfInitialEvents } = this.#options;
    while (!chunk.isFull && this.#sent < this.#initial.length) {
      const object = this.#initial[this.#sent];
      if (object !== undefined) chunk.add('ADDED', object);
      this.#sent++;
    }
    if (this.#sent < this.#initial.length) return;
    this.#state = 'following';
    this.#initial = [];
    if (endOfInitialEvents === undefined) return;
    chunk.addText('BOOKMARK', format.bookmark(endOfInitialEvents, true));
  }

  #takeEvents(chunk: Chunk): void {
    while (!chunk.isFull && this.#position < this.#end) {
      const entry = this.#options.collection.entryAt(this.#position);
      if (entry === undefined) break;
      if (entry.key.startsWith(this.#options.selection.prefix)) this.#takeCopies(entry, chunk);
      this.#position++;
    }
  }

  #takeCopies(entry: LogEntry, chunk: Chunk): void {
    this.#copies ??= this.#options.copiesOf(entry.object);
    for (; this.#copies > 0; this.#copies--) this.#takeEvent(entry, chunk);
    this.#copies = undefined;
  }

  #takeEvent(entry: LogEntry, chunk: Chunk): void {
    const { selection } = this.#options;
    if (selection.all) {
      chunk.add(entry.type, entry.object);
      return;
    }
    const { previous } = entry;
    const is = entry.type !== 'DELETED' && selection.matches(entry.object);
    const was = previous !== undefined && selection.matches(previous);
    if (is) chunk.add(was ? 'MODIFIED' : 'ADDED', entry.object);
    if (is || !was) return;
    chunk.add('DELETED', lastStateOf(entry, previous));
  }

  #scheduleBookmark(now: number): void {
    const { bookmarkEveryMs: every } = this.#options;
    // All watches have the same due times, so that they wake together. With Infinity, a watch sends only its last
    // bookmark.
    if (every === Infinity) this.#bookmarkDue = Infinity;
    else if (every !== undefined) this.#bookmarkDue = (Math.floor(now / every) + 1) * every;
  }

  /** Resolves when there may be something to send. Only a waiting watch has a subscription and a timer. */
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

/** Conversions are cached by the identity of an object: a new object at each attempt would never be converted. */
const lastStates = new WeakMap<LogEntry, UnstructuredObject>();

/** Returns the last state of an object that left a selection, with the version of the change. */
function lastStateOf(entry: LogEntry, previous: UnstructuredObject): UnstructuredObject {
  const known = lastStates.get(entry);
  if (known !== undefined) return known;
  const metadata = { ...previous.metadata, resourceVersion: String(entry.revision) };
  const state = deepFreeze({ ...previous, metadata });
  lastStates.set(entry, state);
  return state;
}

/** An event of a watch, with the stored object itself. */
interface SharedEvent {
  readonly type: string;
  readonly object: unknown;
}

/** A batch of events that is sent as one piece. */
interface Chunk {
  readonly isEmpty: boolean;
  /** True if further events belong to the next chunk. */
  readonly isFull: boolean;
  add(type: LogEntry['type'], stored: UnstructuredObject): void;
  /** Adds an event without a stored object, as JSON. */
  addText(type: 'BOOKMARK' | 'ERROR', object: string): void;
}

class TextChunk implements Chunk {
  #text = '';
  readonly #format: WatchFormat;

  constructor(format: WatchFormat) {
    this.#format = format;
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  get isFull(): boolean {
    return this.#text.length >= chunkLength;
  }

  bytes(): Uint8Array {
    return encoder.encode(this.#text);
  }

  add(type: string, stored: UnstructuredObject): void {
    this.addText(type, this.#format.object(stored));
  }

  addText(type: string, object: string): void {
    this.#text += `{"type":"${type}","object":${object}}\n`;
  }
}

/** Events in protobuf: each is preceded by its length. */
class FrameChunk implements Chunk {
  readonly #frames: Uint8Array[] = [];
  readonly #encode: (stored: UnstructuredObject) => Uint8Array;
  #size = 0;

  constructor(encode: (stored: UnstructuredObject) => Uint8Array) {
    this.#encode = encode;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get isFull(): boolean {
    return this.#size >= chunkLength;
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#frames);
  }

  add(type: string, stored: UnstructuredObject): void {
    this.#push(type, this.#encode(stored));
  }

  addText(type: string, object: string): void {
    this.#push(type, objectToProtobuf(JSON.parse(object) as UnstructuredObject));
  }

  #push(type: string, object: Uint8Array): void {
    const frame = watchEventToProtobuf(type, object);
    this.#frames.push(frame);
    this.#size += frame.length;
  }
}

class SharedChunk implements Chunk {
  readonly events: SharedEvent[] = [];
  readonly #format: WatchFormat;

  constructor(format: WatchFormat) {
    this.#format = format;
  }

  get isEmpty(): boolean {
    return this.events.length === 0;
  }

  get isFull(): boolean {
    return this.events.length >= sharedEvents;
  }

  add(type: string, stored: UnstructuredObject): void {
    const object = this.#format.shared?.(stored) ?? stored;
    this.events.push({ type, object: deepFreeze(object) });
  }

  addText(type: string, object: string): void {
    this.events.push({ type, object: JSON.parse(object) as unknown });
  }
}

interface Group {
  readonly timer: Timer;
  readonly callbacks: Set<() => void>;
}

/**
 * Shares one timer of the clock between all callbacks with the same due time: many watches wait for the same minute. A
 * virtual clock lets all pending promises settle before each of its timers.
 */
export class SharedAlarms {
  readonly #clock: Clock;
  readonly #groups = new Map<number, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Calls `callback` at `dueMs` of the monotonic clock.
   * @returns a function that cancels the call
   */
  set(dueMs: number, callback: () => void): () => void {
    const group = this.#groups.get(dueMs) ?? this.#open(dueMs);
    group.callbacks.add(callback);
    return () => {
      if (!group.callbacks.delete(callback) || group.callbacks.size > 0) return;
      group.timer.cancel();
      if (this.#groups.get(dueMs) === group) this.#groups.delete(dueMs);
    };
  }

  #open(dueMs: number): Group {
    const callbacks = new Set<() => void>();
    const ring = (): void => {
      this.#groups.delete(dueMs);
      for (const callback of [...callbacks]) callback();
    };
    const timer = this.#clock.setTimer(ring, dueMs - this.#clock.monotonicMs());
    const group = { timer, callbacks };
    this.#groups.set(dueMs, group);
    return group;
  }
}
