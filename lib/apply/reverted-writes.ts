import { hashObject } from '../hash/index.js';
import { LruMap } from '../system/index.js';

/** Options of {@link RevertedWrites}. */
export interface RevertedWritesOptions {
  /** The monotonic time, in milliseconds. @defaultValue time stands still */
  readonly nowMs?: () => number;
  /**
   * Time for which a write is kept, in milliseconds.
   * @defaultValue until it is deleted
   */
  readonly rememberedMs?: number;
  /**
   * Maximum number of writes to keep; the oldest ones are removed first.
   * @defaultValue unlimited
   */
  readonly capacity?: number;
}

/**
 * Writes after which an object still differs from the desired state, because the server or a webhook sets or
 * spells values differently. A writer that does not repeat them reaches a steady state. After a restart, it
 * sends each of them again, which changes nothing.
 */
export class RevertedWrites {
  readonly #nowMs: () => number;
  readonly #rememberedMs: number;
  readonly #writes: LruMap<string, { readonly hash: string; readonly untilMs: number }>;

  constructor(options: RevertedWritesOptions = {}) {
    const { nowMs = () => 0, rememberedMs = Infinity, capacity = Infinity } = options;
    this.#nowMs = nowMs;
    this.#rememberedMs = rememberedMs;
    this.#writes = new LruMap(capacity);
  }

  /**
   * Records that `write` left a difference; undefined if the last write left no difference.
   * @param place - identifies the written part of an object
   */
  record(place: string, write: unknown): void {
    const untilMs = this.#nowMs() + this.#rememberedMs;
    if (write === undefined) this.#writes.delete(place);
    else this.#writes.set(place, { hash: hashObject(write), untilMs });
  }

  /** Whether an equal write was the last one at `place`. */
  has(place: string, write: unknown): boolean {
    const known = this.#writes.get(place);
    if (known === undefined || this.#nowMs() >= known.untilMs) return false;
    return known.hash === hashObject(write);
  }
}
