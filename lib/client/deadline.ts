import { defaultMaxListeners, getMaxListeners, setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../system/clock.js';

/** So many requests of one reconcile at once are no leak; the number is that of Node's own `fetch`. */
const maxRequestsAtOnce = 1500;

/**
 * A signal that is aborted by the caller's or by the time. Not `AbortSignal.any`: on Node 20 every
 * one of those stays in memory for as long as a long-lived source.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #sources = new Map<AbortSignal, () => void>();
  #timer: Timer | undefined;
  /** Whether it was the time. */
  expired = false;

  constructor(source: AbortSignal | undefined, clock: Clock, timeoutMs: number) {
    this.follow(source);
    this.restart(clock, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Is aborted by `source`, too. */
  follow(source: AbortSignal | undefined): void {
    if (source === undefined || this.#sources.has(source)) return;
    const onAbort = (): void => this.#controller.abort(source.reason);
    if (source.aborted) onAbort();
    // Node would warn of a leak at the eleventh request under way.
    if (isLimited(source)) setMaxListeners(maxRequestsAtOnce, source);
    source.addEventListener('abort', onAbort, { once: true });
    this.#sources.set(source, onAbort);
  }

  /** Drops the time limit that holds and sets another, from now; `Infinity` for none. */
  restart(clock: Clock, timeoutMs: number): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (timeoutMs === Infinity || this.signal.aborted) return;
    this.#timer = clock.setTimer(() => {
      this.expired = true;
      this.#controller.abort();
    }, timeoutMs);
  }

  /** Waits for `promise`, but no longer than the signal. @throws the signal's reason. */
  async until<T>(promise: T | Promise<T>): Promise<T> {
    if (!(promise instanceof Promise)) return promise;
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(this.signal.reason as Error);
      if (this.signal.aborted) onAbort();
      else this.signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([promise, aborted]);
    } finally {
      if (onAbort !== undefined) this.signal.removeEventListener('abort', onAbort);
    }
  }

  /** Leaves neither a timer nor a listener. */
  release(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const [source, onAbort] of this.#sources) source.removeEventListener('abort', onAbort);
    this.#sources.clear();
  }
}

/** Whether `signal` has Node's own limit of listeners, and not one that somebody chose. */
function isLimited(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) === defaultMaxListeners;
  } catch {
    return false; // Node 20 throws where the limit is 0, which is none.
  }
}
