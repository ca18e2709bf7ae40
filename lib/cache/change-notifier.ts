import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';

/** How long {@link ChangeNotifier.until} waits. */
export interface UntilOptions {
  /** Ends the wait; it throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up after this long; needs a clock. Absent: waits on. */
  readonly timeout?: { readonly clock: Clock; readonly ms: number } | undefined;
}

/** Tells listeners that something changed, and lets others wait until a condition holds. */
export class ChangeNotifier {
  readonly #listeners = new Set<() => void>();

  /** Call after each change that a condition may depend on. */
  notify(): void {
    if (this.#listeners.size === 0) return;
    for (const listener of [...this.#listeners]) listener();
  }

  /** How many listen or wait; a leak spec counts. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Calls `listener` on each change. @returns what ends it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Waits until `condition` holds. No timer and no listener stays behind, however it ends.
   * @returns whether it held in time
   * @throws the signal's reason, as soon as the signal is aborted
   */
  async until(condition: () => boolean, options: UntilOptions = {}): Promise<boolean> {
    const { signal, timeout } = options;
    signal?.throwIfAborted();
    if (condition()) return true;
    const over = new AbortController();
    const held = new Promise<true>((resolve, reject) => {
      const listener = (): void => {
        if (condition()) resolve(true);
      };
      const onAbort = (): void => reject(signal?.reason as Error);
      this.#listeners.add(listener);
      signal?.addEventListener('abort', onAbort, { once: true });
      over.signal.addEventListener('abort', () => {
        this.#listeners.delete(listener);
        signal?.removeEventListener('abort', onAbort);
      });
    });
    try {
      if (timeout === undefined) return await held;
      const late = sleep(timeout.clock, timeout.ms, over.signal).then(() => false);
      late.catch(() => undefined); // Cancelled below.
      return await Promise.race([held, late]);
    } finally {
      over.abort();
    }
  }
}
