import type { Clock, Timer } from '../../system/clock.js';

/** A chain of so many writes of one controller, each because of the one before, is free. */
const freeDepth = 50;
/** So many writes of longer chains are free within a window, for all objects of a controller. */
const freeWrites = 20;
const windowMs = 60_000;
const baseDelayMs = 1_000;
const maxDelayMs = 60_000;
/** From so many own writes in a chain on, what it makes counts as growth. */
const growthDepth = 3;

/** Most that a controller makes of its own results. */
export interface GrowthLimit {
  readonly objects: number;
  readonly bytes: number;
}

/** The limit of each controller. */
export const defaultGrowthLimit: GrowthLimit = { objects: 10_000, bytes: 64 * 1024 ** 2 };

/** A write that the controller's own writes have caused. */
export interface FeedbackWrite {
  /** The object, as text. */
  readonly object: string;
  /** How often the controller has written along the chain that led to it; 0: something else caused it. */
  readonly depth: number;
}

/** How the brake holds a controller back. */
export interface Braked {
  /** The write that was too many. */
  readonly object: string;
  readonly delayMs: number;
  readonly writesPerMinute: number;
}

/**
 * Slows a controller that feeds itself, and bounds what it makes of its own results. Counted for the
 * controller, so that a chain whose names grow is found as well. Writes that other causes have are
 * never held.
 */
export class FeedbackBrake {
  readonly #clock: Clock;
  readonly #limit: GrowthLimit;
  readonly #changed: () => void;
  /** When the last writes of long chains were, the oldest first. */
  readonly #timesMs: number[] = [];
  /** Bytes of what was made by feedback, by object. */
  readonly #grown = new Map<string, number>();
  #bytes = 0;
  #delayMs = 0;
  #nextMs = -Infinity;
  #braked: Braked | undefined;
  #calming: Timer | undefined;

  /** @param changed - called when {@link FeedbackBrake.braked} is another */
  constructor(clock: Clock, limit: GrowthLimit, changed: () => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#changed = changed;
  }

  /** How it holds writes back now; undefined: it does not. */
  get braked(): Braked | undefined {
    return this.#braked;
  }

  /** How long a write has to wait, in milliseconds; 0: it may begin now, and counts. */
  take({ object, depth }: FeedbackWrite): number {
    if (depth <= freeDepth) return 0;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextMs) return this.#nextMs - nowMs;
    this.#timesMs.push(nowMs);
    if (this.#timesMs.length > freeWrites + 1) this.#timesMs.shift();
    const [firstMs = nowMs] = this.#timesMs;
    const isOften = this.#timesMs.length > freeWrites && nowMs - firstMs <= windowMs;
    if (isOften || this.#braked !== undefined) this.#slowDown(object, nowMs);
    return 0;
  }

  /** Whether a write would let what the controller makes of its own results grow beyond all bounds. */
  refuses({ object, depth }: FeedbackWrite, bytes: number): boolean {
    if (depth < growthDepth) return false;
    const known = this.#grown.get(object);
    const objects = this.#grown.size + (known === undefined ? 1 : 0);
    const total = this.#bytes - (known ?? 0) + bytes;
    return objects > this.#limit.objects || total > this.#limit.bytes;
  }

  /** Notes what a write left; `bytes` 0: the object is gone. */
  wrote({ object, depth }: FeedbackWrite, bytes: number): void {
    const known = this.#grown.get(object);
    if (known === undefined && (bytes === 0 || depth < growthDepth)) return;
    this.#bytes += bytes - (known ?? 0);
    if (bytes === 0) this.#grown.delete(object);
    else this.#grown.set(object, bytes);
  }

  /** Ends it; it may be used again. */
  stop(): void {
    this.#calming?.cancel();
    this.#release();
  }

  #slowDown(object: string, nowMs: number): void {
    this.#delayMs = Math.min(Math.max(baseDelayMs, this.#delayMs * 2), maxDelayMs);
    this.#nextMs = nowMs + this.#delayMs;
    const spanMs = Math.max(1, nowMs - (this.#timesMs[0] ?? nowMs));
    const writesPerMinute = Math.round(((this.#timesMs.length - 1) * 60_000) / spanMs);
    const isNew = this.#braked === undefined;
    const { object: first = object } = this.#braked ?? {};
    this.#braked = { object: first, delayMs: this.#delayMs, writesPerMinute };
    this.#calming?.cancel();
    this.#calming = this.#clock.setTimer(() => this.#calmDown(), this.#delayMs + windowMs);
    if (isNew) this.#changed();
  }

  /** A window without such a write: the loop is broken. */
  #calmDown(): void {
    this.#release();
    this.#changed();
  }

  #release(): void {
    this.#timesMs.length = 0;
    this.#delayMs = 0;
    this.#nextMs = -Infinity;
    this.#braked = undefined;
  }
}
