import { defaultMaxListeners, getMaxListeners, setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../system/clock.js';

/**
 * The listener limit for one signal, that of Node's own `fetch`. A reconcile with this many concurrent
 * requests is not a leak.
 */
const maxRequestsAtOnce = 1500;

/**
 * A signal that the caller's signal or a time limit aborts. `AbortSignal.any` is unsuitable: on Node 20 its
 * signals stay in memory as long as a long-lived source.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #sources = new Map<AbortSignal, () => void>();
  #timer: Timer | undefined;
  /** Whether the time limit aborted the signal. */
  expired = false;

  constructor(source: AbortSignal | undefined, clock: Clock, timeoutMs: number) {
    this.follow(source);
    this.restart(clock, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Adds a signal that aborts this one. */
  follow(source: AbortSignal | undefined): void {
    if (source === undefined || this.#sources.has(source)) return;
    const onAbort = (): void => this.#controller.abort(source.reason);
    if (source.aborted) onAbort();
    // By default Node warns of a leak at the eleventh concurrent request.
    if (isLimited(source)) setMaxListeners(maxRequestsAtOnce, source);
    source.addEventListener('abort', onAbort, { once: true });
    this.#sources.set(source, onAbort);
  }

  /** Replaces the time limit by another that begins now; `Infinity` for no limit. */
  restart(clock: Clock, timeoutMs: number): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (timeoutMs === Infinity || this.signal.aborted) return;
    this.#timer = clock.setTimer(() => {
      this.expired = true;
      this.#controller.abort();
    }, timeoutMs);
  }

  /** Waits for `promise` until the signal is aborted. @throws the signal's reason. */
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

  /** Removes the timer and the listeners. */
  release(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const [source, onAbort] of this.#sources) source.removeEventListener('abort', onAbort);
    this.#sources.clear();
  }
}

/** Whether `signal` has Node's default listener limit, not one that the user set. */
function isLimited(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) === defaultMaxListeners;
  } catch {
    return false; // Node 20 throws for the limit 0, which means unlimited.
  }
}
