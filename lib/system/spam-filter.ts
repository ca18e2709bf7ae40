import { LruMap } from './lru-map.js';

/** Options of {@link SpamFilter}. */
interface SpamFilterOptions {
  /** Events that one object may have in one burst, at least 1. */
  readonly burst: number;
  /** Milliseconds until an object may have another event, more than 0. */
  readonly refillMs: number;
  /** Maximum number of objects to keep in memory. */
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
   * @returns false if no token is left: the caller must not write a separate Event for this event
   */
  allow(key: string, nowMs: number): boolean {
    const { burst } = this.#options;
    this.#dropFull(nowMs);
    const bucket = this.#buckets.get(key);
    const filled = bucket === undefined ? burst : this.#tokensOf(bucket, nowMs);
    const isAllowed = filled >= 1;
    this.#buckets.set(key, { tokens: isAllowed ? filled - 1 : filled, atMs: nowMs });
    return isAllowed;
  }

  /** The number of objects in memory. */
  get size(): number {
    return this.#buckets.size;
  }

  #tokensOf({ tokens, atMs }: Bucket, nowMs: number): number {
    const { burst, refillMs } = this.#options;
    return Math.min(burst, tokens + (nowMs - atMs) / refillMs);
  }

  /** Drops the oldest full buckets. An object without a bucket has as many tokens as one with a full bucket. */
  #dropFull(nowMs: number): void {
    for (const [key, bucket] of this.#buckets.entries()) {
      if (this.#tokensOf(bucket, nowMs) < this.#options.burst) return;
      this.#buckets.delete(key);
    }
  }
}
