import { isConflict, isNamespaceTerminating, isNotFound } from '../../object/index.js';
import { delayAfter, nextTurn } from '../../system/index.js';
import type { Clock, Timer, Logger } from '../../system/index.js';

/** Brings the object of `key` one step closer to its desired state. A rejection requeues the key. */
export type Reconcile<Key> = (key: Key) => Promise<void>;

interface WorkQueueOptions<Key> {
  /** The name of the queue in the log. */
  readonly name: string;
  readonly reconcile: Reconcile<Key>;
  /** Returns the id of a key. Keys with the same id are the same. */
  readonly idOf: (key: Key) => string;
  readonly workload: Workload;
}

const retryDelays = { baseMs: 5, maxMs: 30_000 };
/** The number of consecutive failures after which a key no longer counts as pending work. */
const patience = 5;
/** Number of reconciles before the queue yields to the event loop. */
const runLength = 64;

/**
 * A queue of unique keys: a key that is added twice runs once, and never twice at the same time. A failed key
 * is requeued with back-off. One reconcile runs at a time, in the order of the keys.
 *
 * ```text
 *   add ──> waiting (a set, in order) ──> running ──> done
 *            ^         ^                    │
 *            │         └── added meanwhile ─┤
 *         timers <──── failed: back-off ────┘
 * ```
 */
export class WorkQueue<Key> {
  readonly #options: WorkQueueOptions<Key>;
  readonly #waiting = new Map<string, Key>();
  readonly #timers = new Map<string, { readonly dueMs: number; readonly timer: Timer }>();
  readonly #failures = new Map<string, number>();
  #draining = false;
  #stopped = false;

  constructor(options: WorkQueueOptions<Key>) {
    this.#options = options;
  }

  /** Adds `key` at the end of the queue, unless it already waits there. */
  add(key: Key): void {
    if (this.#stopped) return;
    this.#waiting.set(this.#options.idOf(key), key);
    if (!this.#draining) void this.#drain();
  }

  /** Reconciles `key` in `delayMs` milliseconds. The timer counts as pending work: `settled` waits for it. */
  addSoon(key: Key, delayMs: number): void {
    this.#addAt(key, delayMs, 'work');
  }

  /** Reconciles `key` in `delayMs` milliseconds. The timer does not count as pending work. */
  addLater(key: Key, delayMs: number): void {
    this.#addAt(key, delayMs, 'idle');
  }

  /** Discards all keys and timers. A running reconcile completes. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    for (const { timer } of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  // If a key has several delays of one kind, the earliest counts, as in client-go's AddAfter.
  #addAt(key: Key, delayMs: number, kind: 'work' | 'idle'): void {
    if (this.#stopped) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const { idOf, workload } = this.#options;
    const id = `${kind}:${idOf(key)}`;
    const dueMs = workload.clock.monotonicMs() + delayMs;
    const current = this.#timers.get(id);
    if (current !== undefined) {
      if (current.dueMs <= dueMs) return;
      current.timer.cancel();
    }
    const onDue = (): void => {
      this.#timers.delete(id);
      this.add(key);
    };
    const timer =
      kind === 'work'
        ? workload.setWorkTimer(onDue, delayMs)
        : workload.clock.setTimer(onDue, delayMs);
    this.#timers.set(id, { dueMs, timer });
  }

  async #drain(): Promise<void> {
    const { workload } = this.#options;
    this.#draining = true;
    const end = workload.begin();
    // Yield, so that the server first answers the write whose event added the key.
    await Promise.resolve();
    for (let run = 1; this.#waiting.size > 0; run++) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      this.#waiting.delete(next[0]);
      await this.#run(next[0], next[1]);
      if (run % runLength === 0) await nextTurn();
    }
    this.#draining = false;
    end();
  }

  async #run(id: string, key: Key): Promise<void> {
    try {
      await this.#options.reconcile(key);
      this.#failures.delete(id);
    } catch (error) {
      this.#failed(id, key, error);
    }
  }

  #failed(id: string, key: Key, error: unknown): void {
    if (this.#stopped) return;
    // Nothing can be created in this namespace, and the rest of its content will be deleted.
    if (isNamespaceTerminating(error)) return;
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    const { name, workload } = this.#options;
    const fields = { queue: name, key: id, error };
    // The object was changed or deleted concurrently: that needs no warning.
    if (isConflict(error) || isNotFound(error)) {
      workload.logger.debug('an embedded controller looks again', fields);
    } else {
      workload.logger.warn('an embedded controller failed', fields);
    }
    const delayMs = delayAfter(failures, retryDelays);
    if (failures <= patience) this.addSoon(key, delayMs);
    else this.addLater(key, delayMs);
  }
}

/** Counts running reconciles and pending timers, so that callers can wait until no work is left. */
export class Workload {
  readonly clock: Clock;
  readonly logger: Logger;
  #running = 0;
  readonly #timers = new Map<Timer, number>();
  readonly #waiters = new Set<() => void>();

  constructor(clock: Clock, logger: Logger) {
    this.clock = clock;
    this.logger = logger;
  }

  /** Marks the start of work. @returns a function that marks its end */
  begin(): () => void {
    this.#running++;
    return () => {
      this.#running--;
      this.#wake();
    };
  }

  /** Sets a timer for pending work: {@link Workload.settled} waits for it. */
  setWorkTimer(callback: () => void, delayMs: number): Timer {
    const inner = this.clock.setTimer(() => {
      this.#timers.delete(timer);
      callback();
      this.#wake();
    }, delayMs);
    const timer: Timer = {
      cancel: () => {
        inner.cancel();
        if (this.#timers.delete(timer)) this.#wake();
      },
    };
    this.#timers.set(timer, this.clock.monotonicMs() + delayMs);
    return timer;
  }

  /** Milliseconds until the next timer for pending work, or undefined if none is set. */
  get nextTimerMs(): number | undefined {
    if (this.#timers.size === 0) return undefined;
    return Math.max(0, Math.min(...this.#timers.values()) - this.clock.monotonicMs());
  }

  /** Resolves when no work is running, even if timers for later work are set. */
  async quiet(): Promise<void> {
    await this.#until(() => this.#running === 0);
  }

  /** Resolves when no work is running and no timer for pending work is set. */
  async settled(): Promise<void> {
    await this.#until(() => this.#running === 0 && this.#timers.size === 0);
  }

  async #until(done: () => boolean): Promise<void> {
    for (;;) {
      // The change of a write that was just answered may not have reached the queues yet.
      await nextTurn();
      if (done()) return;
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const resolve of waiters) resolve();
  }
}
