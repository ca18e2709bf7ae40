import type { Random } from '../../../../lib/system/random.js';

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly action: () => void;
}

/** The time of a simulation, which runs actions one after the other when they are due. */
export class VirtualTime {
  readonly random: Random;
  #nowMs = 0;
  #order = 0;
  // A binary heap by time, then by order of scheduling.
  readonly #heap: Due[] = [];

  constructor(random: Random) {
    this.random = random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, action: () => void): void {
    this.#heap.push({ atMs: Math.max(atMs, this.#nowMs), order: this.#order++, action });
    let at = this.#heap.length - 1;
    for (;;) {
      const parent = (at - 1) >> 1;
      if (at === 0 || !this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  after(delayMs: number, action: () => void): void {
    this.at(this.#nowMs + delayMs, action);
  }

  /** Returns a random number from `least` up to `most`. */
  between(least: number, most: number): number {
    return least + this.random.next() * (most - least);
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.random.next() * items.length)];
  }

  /** Runs the actions that are due up to `endMs`. */
  runUntil(endMs: number): void {
    for (let due = this.#heap[0]; due !== undefined && due.atMs <= endMs; due = this.#heap[0]) {
      this.#pop();
      this.#nowMs = due.atMs;
      due.action();
    }
    this.#nowMs = endMs;
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#heap.length && this.#isBefore(child, least)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}
