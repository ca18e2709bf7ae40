/*
 *   items:  [ -  -  -  c  d  e ]
 *                      ^head
 */

/** A queue in the order of arrival, with amortized constant time at both ends. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Returns the first item, or undefined. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  clear(): void {
    if (this.#items.length > 0) this.#items = [];
    this.#head = 0;
  }

  /** Removes and returns the first item, or undefined. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    // Half of the array is empty, so moving the rest costs at most one step per item.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
