import type { Clock, Timer } from '../../system/clock.js';
import { nextTurn } from '../../system/event-loop.js';
import type { Logger } from '../../system/logger.js';

/** Counts what is under way, so that one can wait until nothing is. */
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

  /** Something begins. @returns what ends it. */
  begin(): () => void {
    this.#running++;
    return () => {
      this.#running--;
      this.#wake();
    };
  }

  /** A timer that stands for work to come: {@link Workload.settled} waits for it. */
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

  /** Whether something runs now. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Milliseconds until the next timer that stands for work, or undefined when none is set. */
  get nextTimerMs(): number | undefined {
    if (this.#timers.size === 0) return undefined;
    return Math.max(0, Math.min(...this.#timers.values()) - this.clock.monotonicMs());
  }

  /** Resolves when nothing runs; timers may be set. */
  async quiet(): Promise<void> {
    await this.#until(() => this.#running === 0);
  }

  /** Resolves when nothing runs and no timer that stands for work is set. */
  async settled(): Promise<void> {
    await this.#until(() => this.#running === 0 && this.#timers.size === 0);
  }

  async #until(done: () => boolean): Promise<void> {
    for (;;) {
      // A write that was answered just now may still have to tell the queues.
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
