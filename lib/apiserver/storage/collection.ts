import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { LogEntry } from './log-entry.js';
import { SortedKeys } from './sorted-keys.js';

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
