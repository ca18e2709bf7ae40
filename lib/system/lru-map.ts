/**
 * A map of at most `capacity` entries, which evicts the least recently used one. A Map keeps the order of
 * insertion, so its first entry is the oldest.
 */
export class LruMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #capacity: number;

  /** @param capacity - at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Reads an entry and marks it as most recently used. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Sets an entry and marks it as most recently used. @returns the value that was evicted, if any */
  set(key: Key, value: Value): Value | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return undefined;
    const [oldest] = this.#entries;
    if (oldest === undefined) return undefined;
    this.#entries.delete(oldest[0]);
    return oldest[1];
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  /** The entries, oldest first. */
  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  /** The values, oldest first. */
  values(): IterableIterator<Value> {
    return this.#entries.values();
  }
}
