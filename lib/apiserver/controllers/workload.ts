import type { Clock, Timer } from '../../system/clock.js';
import { nextTurn } from '../../system/event-loop.js';
import type { Logger } from '../../system/logger.js';

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

  /** Marks the start of work. @returns marks its end */
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

  /** True if work is running. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Milliseconds until the next timer for pending work, or undefined if none is set. */
  get nextTimerMs(): number | undefined {
    if (this.#timers.size === 0) return undefined;
    return Math.max(0, Math.min(...this.#timers.values()) - this.clock.monotonicMs());
  }

  /** Resolves when no work is running; timers may be set. */
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
