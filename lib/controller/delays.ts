import {
  delayAfter,
  refuseNonNumbers,
  refuseUnknownOptions,
  OperatorError,
} from '../system/index.js';
import type { Resolved } from '../system/index.js';

/** An item with a due time; the heap maintains its index. */
export interface Delayed {
  readonly key: string;
  readonly dueMs: number;
  /** Order among items that are due at the same time: the lowest comes first. */
  readonly order: number;
  /** The position in the heap, maintained by the heap. */
  index: number;
}

/*
 *              items[0]              the soonest
 *           /            \
 *      items[1]        items[2]      the children of i are 2i+1 and 2i+2, never sooner than it
 *      /     \
 *  items[3]  items[4]
 */

/** A heap of delayed items, the soonest first. Any item can be removed, so no stale items accumulate. */
export class DelayHeap<T extends Delayed> {
  readonly #items: T[] = [];

  /** Returns the soonest item, or undefined. */
  peek(): T | undefined {
    return this.#items[0];
  }

  /** Returns the soonest items in order, at most `count`, without visiting all others. */
  soonest(count: number): T[] {
    const found: T[] = [];
    // The next item is a child of one already found.
    const candidates = this.#items.slice(0, 1);
    while (found.length < count) {
      candidates.sort((one, other) => (isSooner(one, other) ? -1 : 1));
      const next = candidates.shift();
      if (next === undefined) break;
      found.push(next);
      candidates.push(...this.#items.slice(2 * next.index + 1, 2 * next.index + 3));
    }
    return found;
  }

  add(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Removes `item`, which must be in the heap. */
  remove(item: T): void {
    const { index } = item;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#rise(last, index);
    this.#sink(last, last.index);
  }

  clear(): void {
    this.#items.length = 0;
  }

  #rise(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#items[parent];
      if (above === undefined || !isSooner(item, above)) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(item, index);
  }

  #sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      const [left, right] = [this.#items[2 * index + 1], this.#items[2 * index + 2]];
      const child =
        right !== undefined && left !== undefined && isSooner(right, left) ? right : left;
      if (child === undefined || !isSooner(child, item)) break;
      const next = child.index;
      this.#put(child, index);
      index = next;
    }
    this.#put(item, index);
  }

  #put(item: T, index: number): void {
    this.#items[index] = item;
    item.index = index;
  }
}

function isSooner(one: Delayed, other: Delayed): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);
}

/** Options of {@link Backoff}. */
export interface BackoffOptions {
  /** Delay after the first failure, in milliseconds; at least 1. @defaultValue 5 */
  readonly baseDelayMs?: number | undefined;
  /** Maximum delay, in milliseconds; at least `baseDelayMs`. @defaultValue 1_000_000 */
  readonly maxDelayMs?: number | undefined;
}

/**
 * Exponential back-off per key: the nth consecutive failure waits `baseDelayMs * 2 ** (n - 1)`, at most
 * `maxDelayMs`. The curve and the defaults are those of client-go's workqueue.
 */
export class Backoff {
  readonly #options: Resolved<BackoffOptions>;
  readonly #failures = new Map<string, number>();

  /** @throws OperatorError `InvalidOption`: an option is out of its range. */
  constructor(options: BackoffOptions = {}) {
    this.#options = resolveBackoffOptions(options);
  }

  /** Counts a failure of `key` and returns the delay, in milliseconds. */
  next(key: string): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    const { baseDelayMs: baseMs, maxDelayMs: maxMs } = this.#options;
    return delayAfter(failures, { baseMs, maxMs });
  }

  /** Returns the number of failures of `key` since its last `forget`. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Resets `key`. Call it on success: every key that failed stays in memory until then. */
  forget(key: string): void {
    this.#failures.delete(key);
  }
}

function resolveBackoffOptions(options: BackoffOptions): Resolved<BackoffOptions> {
  const names = { baseDelayMs: true, maxDelayMs: true };
  refuseUnknownOptions<BackoffOptions>('backoff', options, names);
  const { baseDelayMs = 5, maxDelayMs = 1_000_000 } = options;
  refuseNonNumbers('backoff', { baseDelayMs, maxDelayMs });
  // The negated comparison also rejects NaN.
  if (!(1 <= baseDelayMs && baseDelayMs <= maxDelayMs)) {
    const got = `baseDelayMs ${baseDelayMs}, maxDelayMs ${maxDelayMs}`;
    throw new OperatorError(
      'InvalidOption',
      `Backoff: want 1 <= baseDelayMs <= maxDelayMs, got ${got}`,
    );
  }
  return { baseDelayMs, maxDelayMs };
}
