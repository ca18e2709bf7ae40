/** Longest chunk; a longer one is split in two. */
const chunkLength = 512;

/**
 * A sorted list of any size. A change copies one chunk and the list of chunks; chunks are never modified.
 * Items may repeat.
 */
export class SortedList<T> {
  readonly #compare: (one: T, other: T) => number;
  #chunks: readonly (readonly T[])[] = [];
  #size = 0;

  /** @param compare - 0 for the same item only */
  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  /** All current items, in parts that never change. */
  get chunks(): readonly (readonly T[])[] {
    return this.#chunks;
  }

  add(item: T): void {
    const { number, chunk, at } = this.#find(item);
    const longer = chunk.toSpliced(at, 0, item);
    const middle = longer.length >> 1;
    const isLong = longer.length > chunkLength;
    const parts = isLong ? [longer.slice(0, middle), longer.slice(middle)] : [longer];
    this.#chunks = this.#chunks.toSpliced(number, 1, ...parts);
    this.#size++;
  }

  /** Removes an item, which must be present. */
  delete(item: T): void {
    const { number, chunk, at } = this.#find(item);
    const parts = chunk.length > 1 ? [chunk.toSpliced(at, 1)] : [];
    this.#chunks = this.#chunks.toSpliced(number, 1, ...parts);
    this.#size--;
  }

  /** Returns the place of the first equal item, or the place for insertion. */
  #find(item: T): { readonly number: number; readonly chunk: readonly T[]; readonly at: number } {
    const comesBefore = (other: T | undefined): boolean =>
      other !== undefined && this.#compare(other, item) < 0;
    const last = this.#chunks.length - 1;
    const number = Math.min(
      firstNot(last + 1, (n) => comesBefore(this.#chunks[n]?.at(-1))),
      Math.max(last, 0),
    );
    const chunk = this.#chunks[number] ?? [];
    return { number, chunk, at: firstNot(chunk.length, (n) => comesBefore(chunk[n])) };
  }
}

/**
 * Returns the lowest number below `end` for which `holds` is false, else `end`; `holds` must be true before
 * it.
 */
function firstNot(end: number, holds: (number: number) => boolean): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
