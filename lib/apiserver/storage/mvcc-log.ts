import { deepFreeze } from '../../object/deep-freeze.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { Collection } from './collection.js';
import type { LogEntry } from './collection.js';

/** Options of {@link MvccLog}. */
interface MvccLogOptions {
  /**
   * Maximum number of changes in the log, at least 1. Watches and continued lists that need older
   * ones get a 410.
   */
  readonly length: number;
  /**
   * Maximum size of the changes in the log, in bytes of JSON. The last change always stays.
   * @defaultValue Infinity
   */
  readonly bytes?: number | undefined;
}

/** A change to commit. */
interface Change {
  readonly collection: string;
  readonly key: string;
  /** The new object, still mutable: the commit sets its `resourceVersion` and freezes it. */
  readonly object: UnstructuredObject;
  /**
   * Deletes the object.
   * @defaultValue false: the change is `ADDED` or `MODIFIED`, depending on whether the key exists
   */
  readonly deleted?: boolean;
  /**
   * The approximate size of its JSON in bytes.
   * @defaultValue computed if the size of the log is limited
   */
  readonly bytes?: number | undefined;
}

/**
 * The state of a server: the current objects of every collection and one log of changes. A revision
 * is the position of a change in that log, and the `resourceVersion` of the written object.
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
  // The collections of the entries in the log, oldest first. It is a ring, so that compaction moves
  // nothing.
  readonly #order: Collection[] = [];
  /** The size of each entry in bytes; `#bytes` is their sum. */
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

  /** Changes up to and including this revision are no longer in the log. */
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

  /** Returns the names of all collections that ever had an object. */
  collections(): Iterable<string> {
    return [...this.#collections.keys()];
  }

  /**
   * Calls `listener` after each change of any collection.
   * @returns a function that unsubscribes
   */
  subscribe(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Appends a change to the log and notifies the listeners. */
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

  // A listener may commit. All listeners get the current entry before the new one.
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

  /** Removes every change from the log; objects stay. Watches from older versions get a 410. */
  compact(): void {
    while (this.#kept > 0) this.#forgetOldest();
    this.#compacted = this.#revision;
  }

  #keep(collection: Collection, { object }: LogEntry, known: number | undefined): void {
    // Measure only if the size is limited.
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

/**
 * The state of a server's storage at one moment. Its objects are shared with the server and with
 * other snapshots; so are the indexes of collections without changes in between.
 */
export interface StoreSnapshot {
  /** The objects of each collection, by key. */
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, UnstructuredObject>>;
}

/**
 * Restores `snapshot`. It commits the differences as changes, so that watches receive them, too.
 * Unchanged objects stay as they are; restored ones get a new version.
 */
export function restoreSnapshot(log: MvccLog, { collections }: StoreSnapshot): void {
  const names = new Set([...log.collections(), ...collections.keys()]);
  for (const name of names) remove(log, name, collections.get(name) ?? new Map());
  for (const name of names) put(log, name, collections.get(name) ?? new Map());
}

type Wanted = ReadonlyMap<string, UnstructuredObject>;

/** Removes objects that the snapshot does not have, or has with another uid. */
function remove(log: MvccLog, name: string, wanted: Wanted): void {
  const collection = log.collection(name);
  for (const key of collection.keys('')) {
    const live = collection.get(key);
    if (live === undefined || live.metadata.uid === wanted.get(key)?.metadata.uid) continue;
    log.commit({ collection: name, key, object: copyOf(live), deleted: true });
  }
}

function put(log: MvccLog, name: string, wanted: Wanted): void {
  const collection = log.collection(name);
  for (const [key, object] of wanted) {
    if (collection.get(key) === object) continue;
    log.commit({ collection: name, key, object: copyOf(object) });
  }
}

function copyOf(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata } };
}
