import { LruMap } from './lru-map.js';

/** Options of {@link SpamFilter}. */
interface SpamFilterOptions {
  /** Events that one object may have in one burst, at least 1. */
  readonly burst: number;
  /** Milliseconds until an object may have another event, more than 0. */
  readonly refillMs: number;
  /** Maximum number of objects to remember. */
  readonly capacity: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * Limits events with a token bucket per object, as client-go does. An object that fails in a new way every
 * second must not fill the cluster's store with Events.
 */
export class SpamFilter {
  readonly #options: SpamFilterOptions;
  readonly #buckets: LruMap<string, Bucket>;

  constructor(options: SpamFilterOptions) {
    this.#options = options;
    this.#buckets = new LruMap(options.capacity);
  }

  /**
   * Takes a token of `key`.
   * @returns false if no token is left: the event must not get an Event of its own
   */
  allow(key: string, nowMs: number): boolean {
    const { burst, refillMs } = this.#options;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    const filled = Math.min(burst, tokens + (nowMs - atMs) / refillMs);
    const isAllowed = filled >= 1;
    this.#buckets.set(key, { tokens: isAllowed ? filled - 1 : filled, atMs: nowMs });
    return isAllowed;
  }
}
