import { systemClock, refuseUnknownOptions, noMetrics, OperatorError } from '../system/index.js';
import type { Clock, Timer, OptionNames, Metrics } from '../system/index.js';
import { Backoff, DelayHeap } from './delays.js';
import type { BackoffOptions, Delayed } from './delays.js';
import { clusterIn, namespaceIn } from './keys.js';
import { newWorkQueueMetrics, PriorityLabels } from './metrics.js';
import type { WorkQueueMetrics } from './metrics.js';
import { Fifo, ReadyList } from './ready-list.js';
import type { Ticket } from './ready-list.js';

export interface WorkQueueOptions {
  /** The label value of the queue's metrics. */
  readonly name: string;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue no metrics */
  readonly metrics?: Metrics | undefined;
  /** The back-off of failing keys. @defaultValue 5 ms, doubling to 1,000 s */
  readonly backoff?: BackoffOptions | undefined;
  /**
   * Every nth key handed out is the one that has waited longest, regardless of priority; an integer, at least
   * 1. @defaultValue 8
   */
  readonly agingEvery?: number | undefined;
  /**
   * Called with each key as it is handed out, before it can be added again. It must not throw.
   * @defaultValue nothing
   */
  readonly onHandOut?: ((key: string) => void) | undefined;
}

/** Options of {@link WorkQueue.add}. */
export interface AddOptions {
  /** The priority; higher goes first, any number. @defaultValue 0 */
  readonly priority?: number | undefined;
  /** The minimum delay, in milliseconds. @defaultValue 0 */
  readonly afterMs?: number | undefined;
}

const addOptionNames: OptionNames<AddOptions> = { priority: true, afterMs: true };

/** A key that was handed out. */
export interface WorkItem {
  readonly key: string;
  readonly priority: number;
}

/** A key that waits for its delay to pass. */
export interface WaitingKey {
  readonly key: string;
  readonly priority: number;
  /** The remaining delay, in milliseconds. */
  readonly inMs: number;
}

/** A key that waits for a worker. */
export interface ReadyKeyStatus {
  readonly key: string;
  readonly priority: number;
  /** The waiting time so far, in milliseconds. */
  readonly waitedMs: number;
}

interface DelayedKey extends Delayed {
  readonly priority: number;
}

interface ReadyKey {
  readonly ticket: Ticket;
  readonly sinceMs: number;
}

/*
 *        add(afterMs)             due                get              done
 *   ──────────────► delayed ─────────────► ready ─────────► processing ─────► (gone)
 *        add ────────────────────────────►   ▲                  │  ▲
 *                                            │     done         │  │ add
 *                                            └──────── again ◄──┴──┘
 */

/**
 * A queue of keys to process.
 *
 * ## Guarantees
 * - A key waits only once, however often it is added. The earliest due time and the highest priority win.
 * - A key is never processed concurrently. If it is added during processing, it is handed out again after
 *   `done`.
 * - An added key is handed out after the addition, unless the queue is shut down.
 * - Priorities, turns of clusters and namespaces, and aging follow `ReadyList`: no key starves.
 * - A delay ends on the millisecond, by the clock's monotonic time; never early.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #metrics: WorkQueueMetrics;
  readonly #labels: { readonly name: string; readonly controller: string };
  readonly #onHandOut: (key: string) => void;
  readonly #backoff: Backoff;
  readonly #delayed = new Map<string, DelayedKey>();
  readonly #heap = new DelayHeap<DelayedKey>();
  readonly #readyList: ReadyList;
  readonly #ready = new Map<string, ReadyKey>();
  /** The monotonic start times of the keys in process. */
  readonly #processing = new Map<string, number>();
  /** The priorities of keys that were added while they were processed. */
  readonly #again = new Map<string, number>();
  readonly #getters = new Fifo<(item: WorkItem | undefined) => void>();
  readonly #endCollecting: (() => void) | undefined;
  readonly #priorities: PriorityLabels;
  #timer: { readonly dueMs: number; readonly timer: Timer } | undefined;
  #order = 0;
  #isServing = false;
  #isShutDown = false;

  /** @throws OperatorError `InvalidOption`: an option is out of its range. */
  constructor(options: WorkQueueOptions) {
    const { name, clock = systemClock, metrics = noMetrics, backoff, agingEvery = 8 } = options;
    const { onHandOut = () => undefined } = options;
    refuseUnknownOptions<WorkQueueOptions>('WorkQueue', options, {
      ...{ name, clock, metrics, backoff, agingEvery, onHandOut },
    });
    if (!(Number.isInteger(agingEvery) && agingEvery >= 1)) {
      throw new OperatorError('InvalidOption', `WorkQueue: agingEvery ${agingEvery}: want 1, 2, …`);
    }
    this.#clock = clock;
    this.#onHandOut = onHandOut;
    this.#backoff = new Backoff(backoff);
    this.#readyList = new ReadyList(agingEvery);
    this.#labels = { name, controller: name };
    this.#priorities = new PriorityLabels(this.#labels);
    this.#metrics = newWorkQueueMetrics(metrics);
    // Creates the series before the first retry, so that rates over it are defined.
    this.#metrics.retries.add(0, this.#labels);
    this.#endCollecting = this.#metrics.unfinishedWork.onCollect?.(() => this.#age());
  }

  /** The number of keys that wait for a worker. */
  get depth(): number {
    return this.#ready.size;
  }

  /** The number of keys that wait for their delay to pass. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Returns the delayed keys, the soonest first, at most `count`. */
  soonest(count: number): WaitingKey[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#heap
      .soonest(count)
      .map(({ key, priority, dueMs }) => ({ key, priority, inMs: Math.max(0, dueMs - nowMs) }));
  }

  /** Returns the ready keys, the longest waiting first, at most `count`. */
  longestWaiting(count: number): ReadyKeyStatus[] {
    const nowMs = this.#clock.monotonicMs();
    const found: ReadyKeyStatus[] = [];
    for (const [key, { ticket, sinceMs }] of this.#ready) {
      if (found.length >= count) break;
      found.push({ key, priority: ticket.priority, waitedMs: nowMs - sinceMs });
    }
    return found;
  }

  /** Returns the keys that are ready, delayed, or will be handed out again. */
  waiting(): string[] {
    return [...this.#ready.keys(), ...this.#delayed.keys(), ...this.#again.keys()];
  }

  /** Adds `key`; does nothing once the queue is shut down. */
  add(key: string, options: AddOptions = {}): void {
    const { priority = 0, afterMs = 0 } = options;
    refuseUnknownOptions('add', options, addOptionNames);
    if (this.#isShutDown) return;
    // With this negated comparison, NaN means no delay.
    if (!(afterMs > 0)) {
      this.#makeReady(key, priority);
      return;
    }
    // As in controller-runtime, every addition with a delay counts.
    this.#metrics.retries.add(1, this.#labels);
    this.#delay(key, priority, this.#clock.monotonicMs() + afterMs);
  }

  /** Drops `key` if it waits, and resets its back-off; current processing continues. */
  remove(key: string): void {
    this.#backoff.forget(key);
    this.#again.delete(key);
    const delayed = this.#delayed.get(key);
    if (delayed !== undefined) this.#undelay(delayed);
    const ready = this.#ready.get(key);
    if (ready === undefined) return;
    this.#ready.delete(key);
    this.#readyList.remove(ready.ticket);
    this.#countDepth(-1, ready.ticket.priority);
  }

  /**
   * Adds `key` after a failure, delayed by its back-off or by `atLeastMs` if that is longer.
   * @returns the delay, in milliseconds
   */
  addRateLimited(key: string, priority = 0, atLeastMs = 0): number {
    const afterMs = Math.max(this.#backoff.next(key), atLeastMs);
    this.add(key, { priority, afterMs });
    return afterMs;
  }

  /** Resets the back-off of `key`; call it on success. */
  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** Returns the number of consecutive failures of `key`. */
  failures(key: string): number {
    return this.#backoff.failures(key);
  }

  /** Waits for the next key; undefined once the queue is shut down. */
  async get(): Promise<WorkItem | undefined> {
    if (this.#isShutDown) return undefined;
    return this.take() ?? new Promise((resolve) => this.#getters.push(resolve));
  }

  /** Returns the next key if one is ready; does not wait. */
  take(): WorkItem | undefined {
    return this.#isShutDown ? undefined : this.#handOut();
  }

  /** Ends the processing of `key`; call it once for each key handed out. */
  done(key: string): void {
    const sinceMs = this.#processing.get(key);
    if (sinceMs === undefined) return;
    this.#processing.delete(key);
    const workMs = this.#clock.monotonicMs() - sinceMs;
    this.#metrics.workDuration.observe(workMs / 1000, this.#labels);
    const priority = this.#again.get(key);
    this.#again.delete(key);
    // The metrics already count this addition.
    if (priority !== undefined) this.#enqueue(key, priority);
  }

  /** Hands out no more keys and drops the waiting ones; current processing continues. */
  shutDown(): void {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.#timer?.timer.cancel();
    this.#endCollecting?.();
    for (const { ticket } of this.#ready.values()) this.#countDepth(-1, ticket.priority);
    for (const keys of [this.#delayed, this.#ready, this.#again, this.#heap]) keys.clear();
    for (let get = this.#getters.shift(); get; get = this.#getters.shift()) get(undefined);
  }

  #makeReady(key: string, atLeast: number): void {
    const delayed = this.#delayed.get(key);
    if (delayed !== undefined) this.#undelay(delayed);
    const priority = Math.max(atLeast, delayed?.priority ?? -Infinity);
    const again = this.#again.get(key);
    const ready = this.#ready.get(key);
    if (this.#processing.has(key)) {
      if (again === undefined) this.#metrics.adds.add(1, this.#labels);
      this.#again.set(key, Math.max(priority, again ?? -Infinity));
    } else if (ready === undefined) {
      this.#metrics.adds.add(1, this.#labels);
      this.#enqueue(key, priority);
    } else if (priority > ready.ticket.priority) {
      this.#countDepth(-1, ready.ticket.priority);
      this.#readyList.raise(ready.ticket, priority);
      this.#countDepth(1, priority);
    }
  }

  #enqueue(key: string, priority: number): void {
    const [section, group] = [clusterIn(key), namespaceIn(key)];
    const ticket = { key, section, group, priority, taken: false };
    this.#ready.set(key, { ticket, sinceMs: this.#clock.monotonicMs() });
    this.#readyList.add(ticket);
    this.#countDepth(1, priority);
    if (this.#getters.size > 0) void this.#serve();
  }

  /** Hands out keys to waiting callers after a microtask, so that repeated additions of a key merge. */
  async #serve(): Promise<void> {
    if (this.#isServing) return;
    this.#isServing = true;
    await Promise.resolve();
    this.#isServing = false;
    while (this.#ready.size > 0) {
      const get = this.#getters.shift();
      if (get === undefined) return;
      get(this.#handOut());
    }
  }

  #handOut(): WorkItem | undefined {
    const ticket = this.#readyList.take();
    if (ticket === undefined) return undefined;
    const { key, priority } = ticket;
    const nowMs = this.#clock.monotonicMs();
    const waitedMs = nowMs - (this.#ready.get(key)?.sinceMs ?? nowMs);
    this.#ready.delete(key);
    this.#processing.set(key, nowMs);
    this.#onHandOut(key);
    this.#countDepth(-1, priority);
    this.#metrics.queueDuration.observe(waitedMs / 1000, this.#labels);
    return { key, priority };
  }

  #delay(key: string, priority: number, dueMs: number): void {
    // The key is handed out sooner anyway.
    if (this.#ready.has(key) || this.#again.has(key)) return;
    const known = this.#delayed.get(key);
    if (known !== undefined) this.#undelay(known);
    const delayed: DelayedKey = {
      key,
      priority: Math.max(priority, known?.priority ?? -Infinity),
      dueMs: Math.min(dueMs, known?.dueMs ?? Infinity),
      order: this.#order++,
      index: 0,
    };
    this.#delayed.set(key, delayed);
    this.#heap.add(delayed);
    this.#arm();
  }

  #undelay(delayed: DelayedKey): void {
    this.#delayed.delete(delayed.key);
    this.#heap.remove(delayed);
    this.#arm();
  }

  /** Sets the timer to the earliest due time. */
  #arm(): void {
    const soonest = this.#heap.peek();
    if (soonest?.dueMs === this.#timer?.dueMs) return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    if (soonest === undefined) return;
    // Round up: a timer may truncate a fraction and fire early.
    const waitMs = Math.ceil(soonest.dueMs - this.#clock.monotonicMs());
    const timer = this.#clock.setTimer(() => this.#due(), waitMs);
    this.#timer = { dueMs: soonest.dueMs, timer };
  }

  #due(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (let next = this.#heap.peek(); next && next.dueMs <= nowMs; next = this.#heap.peek()) {
      this.#delayed.delete(next.key);
      this.#heap.remove(next);
      this.#makeReady(next.key, next.priority);
    }
    this.#arm();
  }

  #countDepth(change: number, priority: number): void {
    this.#metrics.depth.add(change, this.#priorities.of(priority));
  }

  #age(): void {
    const nowMs = this.#clock.monotonicMs();
    let [sumMs, longestMs] = [0, 0];
    for (const sinceMs of this.#processing.values()) {
      sumMs += nowMs - sinceMs;
      longestMs = Math.max(longestMs, nowMs - sinceMs);
    }
    this.#metrics.unfinishedWork.set(sumMs / 1000, this.#labels);
    this.#metrics.longestRunning.set(longestMs / 1000, this.#labels);
  }
}
