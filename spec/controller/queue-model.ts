import type { AddOptions } from '../../lib/controller/queue.js';

interface ReadyEntry {
  readonly priority: number;
  /** Order of insertion into the queue. */
  readonly age: number;
  /** Order of insertion at its priority. */
  readonly place: number;
}

interface DelayedEntry {
  readonly priority: number;
  readonly dueMs: number;
  readonly order: number;
}

/** Reference model of a work queue, written for clarity instead of speed. */
export class QueueModel {
  readonly ready = new Map<string, ReadyEntry>();
  readonly delayed = new Map<string, DelayedEntry>();
  readonly processing = new Set<string>();
  readonly again = new Map<string, number>();
  readonly failures = new Map<string, number>();
  isShutDown = false;
  nowMs = 0;
  readonly #agingEvery: number;
  #handedOut = 0;
  #order = 0;

  constructor(agingEvery: number) {
    this.#agingEvery = agingEvery;
  }

  add(key: string, { priority = 0, afterMs = 0 }: AddOptions): void {
    if (this.isShutDown) return;
    if (afterMs <= 0) this.#makeReady(key, priority);
    else if (!this.ready.has(key) && !this.again.has(key)) {
      const known = this.delayed.get(key);
      this.delayed.set(key, {
        priority: Math.max(priority, known?.priority ?? -Infinity),
        dueMs: Math.min(this.nowMs + afterMs, known?.dueMs ?? Infinity),
        order: this.#order++,
      });
    }
  }

  /** @returns the delay in milliseconds */
  fail(key: string): number {
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures + 1);
    const afterMs = Math.min(5 * 2 ** failures, 1_000_000);
    this.add(key, { afterMs });
    return afterMs;
  }

  remove(key: string): void {
    for (const keys of [this.ready, this.delayed, this.again, this.failures]) keys.delete(key);
  }

  /** Returns the keys of which the queue must hand out one next. */
  candidates(): string[] {
    const all = [...this.ready].map(([key, entry]) => ({ key, ...entry }));
    if ((this.#handedOut + 1) % this.#agingEvery === 0) {
      return all
        .toSorted((one, other) => one.age - other.age)
        .slice(0, 1)
        .map(({ key }) => key);
    }
    const top = Math.max(...all.map(({ priority }) => priority));
    const band = all
      .filter(({ priority }) => priority === top)
      .toSorted((one, other) => one.place - other.place);
    const groups = new Map(band.toReversed().map(({ key }) => [groupOf(key), key]));
    return [...groups.values()];
  }

  take(key: string): void {
    this.#handedOut++;
    this.ready.delete(key);
    this.processing.add(key);
  }

  done(key: string): void {
    if (!this.processing.delete(key)) return;
    const priority = this.again.get(key);
    this.again.delete(key);
    if (priority !== undefined) this.#enqueue(key, priority);
  }

  advance(ms: number): void {
    this.nowMs += ms;
    const due = [...this.delayed]
      .filter(([, { dueMs }]) => dueMs <= this.nowMs)
      .toSorted(([, one], [, other]) => one.dueMs - other.dueMs || one.order - other.order);
    for (const [key, { priority }] of due) this.#makeReady(key, priority);
  }

  shutDown(): void {
    this.isShutDown = true;
    for (const keys of [this.ready, this.delayed, this.again]) keys.clear();
  }

  #makeReady(key: string, atLeast: number): void {
    const priority = Math.max(atLeast, this.delayed.get(key)?.priority ?? -Infinity);
    this.delayed.delete(key);
    const ready = this.ready.get(key);
    if (this.processing.has(key)) {
      this.again.set(key, Math.max(priority, this.again.get(key) ?? -Infinity));
    } else if (ready === undefined) {
      this.#enqueue(key, priority);
    } else if (priority > ready.priority) {
      this.ready.set(key, { ...ready, priority, place: this.#order++ });
    }
  }

  #enqueue(key: string, priority: number): void {
    const order = this.#order++;
    this.ready.set(key, { priority, age: order, place: order });
  }
}

/** Returns the namespace of a key, with its slash. The queue is fair between these groups. */
export function groupOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}
