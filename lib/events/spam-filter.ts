import { LruMap } from '../system/lru-map.js';

/** Options of {@link SpamFilter}. */
export interface SpamFilterOptions {
  /** Events that one object may have at once, at least 1. */
  readonly burst: number;
  /** Milliseconds until an object may have one more, more than 0. */
  readonly refillMs: number;
  /** Objects to remember. */
  readonly capacity: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * A token bucket for each object: an object that fails in a new way each second must not fill the
 * cluster's store with Events. The limits are those of client-go.
 */
export class SpamFilter {
  readonly #options: SpamFilterOptions;
  readonly #buckets: LruMap<string, Bucket>;

  constructor(options: SpamFilterOptions) {
    this.#options = options;
    this.#buckets = new LruMap(options.capacity);
  }

  /** Takes a token of `key`. @returns false: there was none, the event is to be dropped */
  allow(key: string, nowMs: number): boolean {
    const { burst, refillMs } = this.#options;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    const filled = Math.min(burst, tokens + (nowMs - atMs) / refillMs);
    const isAllowed = filled >= 1;
    this.#buckets.set(key, { tokens: isAllowed ? filled - 1 : filled, atMs: nowMs });
    return isAllowed;
  }
}
