import { asError, waited } from '../system/index.js';
import type { Clock } from '../system/index.js';

/** Limits of the wait in {@link ChangeNotifier.until}. */
export interface UntilOptions {
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait after `ms`, by `clock`. Absent: no time limit. */
  readonly timeout?: { readonly clock: Clock; readonly ms: number } | undefined;
}

/** Notifies listeners of changes, and waits until a condition holds. */
export class ChangeNotifier {
  readonly #listeners = new Set<() => void>();

  /** Call after each change that a condition may depend on. */
  notify(): void {
    if (this.#listeners.size === 0) return;
    for (const listener of [...this.#listeners]) listener();
  }

  /** The number of listeners and waits; specs use it to detect leaks. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /**
   * Calls `listener` on each change.
   * @returns a function that removes the listener
   */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Waits until `condition` holds. Removes its timer and listeners however the wait ends.
   * @returns true if the condition held in time
   * @throws the signal's reason, as soon as the signal is aborted; what the condition throws
   */
  async until(condition: () => boolean, options: UntilOptions = {}): Promise<boolean> {
    const { signal, timeout } = options;
    signal?.throwIfAborted();
    if (condition()) return true;
    const over = new AbortController();
    const held = new Promise<true>((resolve, reject) => {
      const listener = (): void => {
        try {
          if (condition()) resolve(true);
        } catch (error) {
          // The error belongs to this waiter, not to the caller that notifies of the change.
          reject(asError(error));
        }
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
      const late = waited(timeout.clock, timeout.ms, over.signal).then(() => false);
      return await Promise.race([held, late]);
    } finally {
      over.abort();
    }
  }
}
