import type { UnstructuredObject } from '../../object/kubernetes-object.js';

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
   * @returns undefined: there is no entry yet, or it is compacted
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
   * Computes the differences between the state at `revision` and now, by undoing later changes. The
   * value is the object at `revision`; undefined for a key that did not exist.
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

  /**
   * Calls `listener` after each change.
   * @returns a function that unsubscribes
   */
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
      if (!this.#objects.has(entry.key)) this.#keys.add(entry.key);
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
    // Keys are ASCII, so all code units are below this one.
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
