import { deepFreeze } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';

interface MvccLogOptions {
  /**
   * Maximum number of changes in the log, at least 1. Watches and continued lists that need older changes get
   * a 410.
   */
  readonly length: number;
  /**
   * Maximum size of the changes in the log, in bytes of JSON. The last change always stays.
   * @defaultValue Infinity
   */
  readonly bytes?: number | undefined;
  /** The revision before the first change, at least 1. @defaultValue 1 */
  readonly firstRevision?: number | undefined;
}

export interface Change {
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
   * The approximate size of the object's JSON in bytes.
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
  readonly #restoreListeners: (() => void)[] = [];
  // The collections of the entries in the log, oldest first. The array is used as a ring, so that compaction
  // moves no elements.
  readonly #order: Collection[] = [];
  /** The size of each entry in bytes; `#bytes` is their sum. */
  readonly #sizes: number[] = [];
  #bytes = 0;
  #oldest = 0;
  #kept = 0;
  readonly #undelivered: LogEntry[] = [];
  #delivering = false;
  /** The revision before the first change. */
  readonly firstRevision: number;
  #revision: number;
  #restoredRevision = 0;
  #compacted: number;

  constructor({ length, bytes = Infinity, firstRevision = 1 }: MvccLogOptions) {
    this.#length = length;
    this.#mostBytes = bytes;
    this.firstRevision = firstRevision;
    this.#revision = firstRevision;
    this.#compacted = firstRevision - 1;
  }

  /**
   * The revision of the last change by a snapshot; 0 without one. Objects up to this revision may not fit the current
   * schema of their kind, even if their `resourceVersion` is newer than the schema.
   */
  get restoredRevision(): number {
    return this.#restoredRevision;
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

  /** Calls `listener` after each change of any collection. @returns a function that unsubscribes */
  subscribe(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `listener` before a snapshot is restored. */
  onRestore(listener: () => void): void {
    this.#restoreListeners.push(listener);
  }

  /** Calls the listeners of {@link MvccLog.onRestore}, then restores a snapshot by `restore`. */
  restoring(restore: () => void): void {
    for (const listener of this.#restoreListeners) listener();
    this.#restoredRevision = Infinity;
    try {
      restore();
    } finally {
      this.#restoredRevision = this.#revision;
    }
  }

  /** Appends a change to the log and notifies the listeners. */
  commit(change: Change): LogEntry {
    const entry = this.#append(change);
    this.#deliver();
    return entry;
  }

  /** Appends changes to the log, then notifies the listeners of each change. They find the state after all changes. */
  commitAll(changes: Iterable<Change>): void {
    for (const change of changes) this.#append(change);
    this.#deliver();
  }

  #append({ collection: name, key, object, deleted = false, bytes }: Change): LogEntry {
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
 * The state of a server's storage at one moment. Its objects are shared with the server and with other
 * snapshots; so are the indexes of collections that have not changed in between.
 */
export interface StoreSnapshot {
  /** The objects of each collection, by key. */
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, UnstructuredObject>>;
}

/**
 * Restores `snapshot`. Commits the differences as changes, so that watches receive them, too. Unchanged
 * objects stay as they are; restored ones get a new version.
 */
export function restoreSnapshot(log: MvccLog, { collections }: StoreSnapshot): void {
  log.restoring(() => {
    const names = new Set([...log.collections(), ...collections.keys()]);
    for (const name of names) remove(log, name, collections.get(name) ?? new Map());
    for (const name of names) put(log, name, collections.get(name) ?? new Map());
  });
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

/** The current objects of a collection and its part of the log. */
export class Collection {
  readonly name: string;
  readonly #objects = new Map<string, UnstructuredObject>();
  readonly #keys = new SortedKeys();
  readonly #listeners = new Set<() => void>();
  #entries: (LogEntry | undefined)[] = [];
  // Entries before #head are compacted and empty. They are removed in blocks, not one by one.
  #head = 0;
  /** The number of entries removed from the start of #entries. */
  #cut = 0;
  #contents:
    { readonly end: number; readonly objects: ReadonlyMap<string, UnstructuredObject> } | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): UnstructuredObject | undefined {
    return this.#objects.get(key);
  }

  /** Returns the keys that begin with `prefix`, starting at `from`, in ascending order. */
  keys(prefix: string, from?: string): readonly string[] {
    return this.#keys.range(prefix, from);
  }

  /** The position after the last entry: a watch that starts now reads from here. */
  get end(): number {
    return this.#cut + this.#entries.length;
  }

  /** Returns the position of the first entry with a revision above `revision`. */
  positionAfter(revision: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#cut + low;
  }

  /**
   * Returns the entry at `position`.
   * @returns undefined if there is no entry yet, or it is compacted
   */
  entryAt(position: number): LogEntry | undefined {
    const index = position - this.#cut;
    return index < this.#head ? undefined : this.#entries[index];
  }

  /** Returns whether entries at or after `position` are compacted. */
  lost(position: number): boolean {
    return position - this.#cut < this.#head;
  }

  /** Returns all current objects by key. The map is reused as long as nothing changes. */
  contents(): ReadonlyMap<string, UnstructuredObject> {
    if (this.#contents?.end !== this.end) {
      this.#contents = { end: this.end, objects: new Map(this.#objects) };
    }
    return this.#contents.objects;
  }

  /**
   * Returns the objects that have changed since `revision`, by key, each as it was at `revision`. The value is undefined
   * if the object did not exist at `revision`.
   */
  differencesAt(revision: number): ReadonlyMap<string, UnstructuredObject | undefined> {
    const before = new Map<string, UnstructuredObject | undefined>();
    for (let at = this.#entries.length - 1; at >= this.#head; at--) {
      const entry = this.#entries[at];
      if (entry === undefined || entry.revision <= revision) break;
      before.set(entry.key, entry.previous);
    }
    return before;
  }

  /** Calls `listener` after each change. @returns a function that unsubscribes */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  append(entry: LogEntry): void {
    this.#entries.push(entry);
    if (entry.type === 'DELETED') {
      this.#objects.delete(entry.key);
      this.#keys.remove(entry.key);
    } else {
      if (entry.type === 'ADDED') this.#keys.add(entry.key);
      this.#objects.set(entry.key, entry.object);
    }
  }

  notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** The revision of the oldest entry in the log. */
  get oldestRevision(): number | undefined {
    return this.#entries[this.#head]?.revision;
  }

  /** Removes the oldest entry. */
  compactOne(): void {
    this.#entries[this.#head++] = undefined;
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#cut += this.#head;
    this.#head = 0;
  }
}

/** A committed change. Objects are frozen and in the kind's storage version. */
export interface LogEntry {
  /** The position in the order of all changes; the `resourceVersion` of `object`. */
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The collection, for example `apps/deployments`. */
  readonly collection: string;
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string;
  /** The object after the change; for `DELETED` the last state, with this change's version. */
  readonly object: UnstructuredObject;
  /** The object before the change; absent for `ADDED`. */
  readonly previous: UnstructuredObject | undefined;
}

/**
 * The keys of a map in order. Adding and removing does not sort; the next read merges all changes
 * at once, so that a burst of creates costs one merge.
 */
export class SortedKeys {
  #sorted: readonly string[] = [];
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  add(key: string): void {
    if (!this.#removed.delete(key)) this.#added.add(key);
  }

  remove(key: string): void {
    if (!this.#added.delete(key)) this.#removed.add(key);
  }

  /** Returns all keys that begin with `prefix` and are at or after `from`, in ascending order. */
  range(prefix: string, from = ''): readonly string[] {
    const sorted = this.#merged();
    const start = lowerBound(sorted, from > prefix ? from : prefix);
    if (prefix === '') return start === 0 ? sorted : sorted.slice(start);
    // Keys are ASCII, so all their code units are below U+FFFF.
    const end = lowerBound(sorted, `${prefix}\uffff`);
    return sorted.slice(start, end);
  }

  #merged(): readonly string[] {
    if (this.#added.size === 0 && this.#removed.size === 0) return this.#sorted;
    const kept = this.#sorted.filter((key) => !this.#removed.has(key));
    const added = [...this.#added].sort();
    this.#added.clear();
    this.#removed.clear();
    this.#sorted = merge(kept, added);
    return this.#sorted;
  }
}

function merge(left: readonly string[], right: readonly string[]): readonly string[] {
  if (right.length === 0) return left;
  const merged: string[] = [];
  let at = 0;
  for (const key of right) {
    for (let next = left[at]; next !== undefined && next < key; next = left[++at])
      merged.push(next);
    merged.push(key);
  }
  for (; at < left.length; at++) merged.push(left[at] ?? '');
  return merged;
}

function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
