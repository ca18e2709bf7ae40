/*
 *   items:  [ -  -  -  c  d  e ]
 *                      ^head
 */

/** A queue in the order of arrival; both ends in constant time, on average. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The first, or undefined. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  clear(): void {
    if (this.#items.length > 0) this.#items = [];
    this.#head = 0;
  }

  /** Takes the first, or undefined. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    // Half of it is empty: moving the rest costs each item one step at most.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
