import { deepFreeze } from '../../object/deep-freeze.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { Collection } from './collection.js';
import type { LogEntry } from './log-entry.js';

/** Options of {@link MvccLog}. */
export interface MvccLogOptions {
  /**
   * How many changes are kept, at least 1: watches and continued lists that need older ones get 410.
   */
  readonly length: number;
  /**
   * The most bytes of JSON that the kept changes have together; the last one is always kept.
   * @defaultValue Infinity
   */
  readonly bytes?: number | undefined;
}

/** A change to commit. */
export interface Change {
  readonly collection: string;
  readonly key: string;
  /** The new object, still mutable: it gets its `resourceVersion` and is frozen. */
  readonly object: UnstructuredObject;
  /** @defaultValue `ADDED` or `MODIFIED`, by whether the key exists */
  readonly deleted?: boolean;
  /** The bytes of its JSON, about. @defaultValue they are counted, where they are bounded */
  readonly bytes?: number | undefined;
}

/**
 * All that the server stores: the current objects of every collection and one log of changes. A
 * revision is the place of a change in that log and the `resourceVersion` of what it wrote.
 *
 * ```
 *   compacted          kept in the log                 now
 *  ─────────────┼───────────────────────────────────┼──────▶ revisions
 *               │ watches begin, pages go on here   │ objects
 * ```
 */
export class MvccLog {
  readonly #length: number;
  readonly #mostBytes: number;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  // The collections of the kept entries, oldest first; a ring, so that compaction moves nothing.
  readonly #order: Collection[] = [];
  /** The bytes of each of them, and of all. */
  readonly #sizes: number[] = [];
  #bytes = 0;
  #oldest = 0;
  #kept = 0;
  readonly #undelivered: LogEntry[] = [];
  #delivering = false;
  #revision = 1;
  #compacted = 0;

  constructor({ length, bytes = Infinity }: MvccLogOptions) {
    this.#length = length;
    this.#mostBytes = bytes;
  }

  /** The revision of the last change. */
  get revision(): number {
    return this.#revision;
  }

  /** Changes up to and with this revision are forgotten. */
  get compactedRevision(): number {
    return this.#compacted;
  }

  collection(name: string): Collection {
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      collection = new Collection(name);
      this.#collections.set(name, collection);
    }
    return collection;
  }

  /** The names of all collections that ever had an object. */
  collections(): Iterable<string> {
    return [...this.#collections.keys()];
  }

  /** Calls `listener` after each change of any collection. @returns what ends it. */
  subscribe(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Appends a change. */
  commit({ collection: name, key, object, deleted = false, bytes }: Change): LogEntry {
    const collection = this.collection(name);
    const previous = collection.get(key);
    const revision = ++this.#revision;
    object.metadata.resourceVersion = String(revision);
    const entry: LogEntry = {
      revision,
      type: deleted ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED',
      collection: name,
      key,
      object: deepFreeze(object),
      previous,
    };
    collection.append(entry);
    this.#keep(collection, entry, bytes);
    this.#undelivered.push(entry);
    this.#deliver();
    return entry;
  }

  // A listener may commit: what it commits is delivered after what it was told of, to everyone.
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#undelivered.shift(); next; next = this.#undelivered.shift()) {
        this.collection(next.collection).notify();
        for (const listener of [...this.#listeners]) listener(next);
      }
    } finally {
      this.#delivering = false;
    }
  }

  /** Forgets every change up to now; objects stay. Watches from older versions get 410. */
  compact(): void {
    while (this.#kept > 0) this.#forgetOldest();
    this.#compacted = this.#revision;
  }

  #keep(collection: Collection, { object }: LogEntry, known: number | undefined): void {
    // What is not bounded need not be measured.
    const isBounded = this.#mostBytes !== Infinity;
    const bytes = isBounded ? (known ?? JSON.stringify(object).length) : 0;
    if (this.#kept === this.#length) this.#forgetOldest();
    while (this.#kept > 0 && this.#bytes + bytes > this.#mostBytes) this.#forgetOldest();
    const place = (this.#oldest + this.#kept) % this.#length;
    this.#order[place] = collection;
    this.#sizes[place] = bytes;
    this.#bytes += bytes;
    this.#kept++;
  }

  #forgetOldest(): void {
    const collection = this.#order[this.#oldest];
    const oldest = collection?.oldestRevision;
    collection?.compactOne();
    this.#compacted = oldest ?? this.#compacted;
    this.#bytes -= this.#sizes[this.#oldest] ?? 0;
    this.#oldest = (this.#oldest + 1) % this.#length;
    this.#kept--;
  }
}
