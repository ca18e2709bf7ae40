import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { LogEntry } from './log-entry.js';
import { SortedKeys } from './sorted-keys.js';

/** The objects of one collection as they are now, and the part of the log that is about them. */
export class Collection {
  readonly name: string;
  readonly #objects = new Map<string, UnstructuredObject>();
  readonly #keys = new SortedKeys();
  readonly #listeners = new Set<() => void>();
  #entries: (LogEntry | undefined)[] = [];
  // Entries in front of #head are compacted and empty; they are cut off now and then, not one by one.
  #head = 0;
  /** How many entries have been cut off #entries. */
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

  /** The keys that begin with `prefix`, from `from` on, ascending. */
  keys(prefix: string, from?: string): readonly string[] {
    return this.#keys.range(prefix, from);
  }

  /** The position after the last entry: a watch that begins now reads from here. */
  get end(): number {
    return this.#cut + this.#entries.length;
  }

  /** The position of the first entry with a revision above `revision`. */
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

  /** The entry at `position`. @returns undefined: there is none yet, or it is compacted. */
  entryAt(position: number): LogEntry | undefined {
    const index = position - this.#cut;
    return index < this.#head ? undefined : this.#entries[index];
  }

  /** Whether entries at or after `position` have been compacted. */
  lost(position: number): boolean {
    return position - this.#cut < this.#head;
  }

  /** All objects as they are now, by their keys; one map for as long as nothing changes. */
  contents(): ReadonlyMap<string, UnstructuredObject> {
    if (this.#contents?.end !== this.end) {
      this.#contents = { end: this.end, objects: new Map(this.#objects) };
    }
    return this.#contents.objects;
  }

  /**
   * The objects as they were at `revision`, by undoing what came later: what differs from now, by
   * key; undefined for a key that did not exist.
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

  /** Calls `listener` after each change. @returns what ends it. */
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

  /** The revision of the oldest entry that is kept. */
  get oldestRevision(): number | undefined {
    return this.#entries[this.#head]?.revision;
  }

  /** Forgets the oldest entry. */
  compactOne(): void {
    this.#entries[this.#head++] = undefined;
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#cut += this.#head;
    this.#head = 0;
  }
}
