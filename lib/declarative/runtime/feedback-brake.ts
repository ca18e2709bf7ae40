import type { Clock, Timer } from '../../system/index.js';

/** Number of writes, each caused by the write before it, that are never slowed. */
const freeDepth = 50;
/** Number of writes deeper in a chain than `freeDepth` that one controller may make at full speed within `windowMs`. */
const freeWrites = 20;
const windowMs = 60_000;
const baseDelayMs = 1_000;
const maxDelayMs = 60_000;
/** An object counts towards the growth limit if at least this many of the controller's own writes led to its write. */
const growthDepth = 3;

/** Limits the objects, and their size, that a controller may create from its own results. */
export interface GrowthLimit {
  readonly objects: number;
  readonly bytes: number;
}

/** The default limit of a controller. */
export const defaultGrowthLimit: GrowthLimit = { objects: 10_000, bytes: 64 * 1024 ** 2 };

/** A write that may be caused by the controller's own writes. */
export interface FeedbackWrite {
  /** The object, as text. */
  readonly object: string;
  /** Number of the controller's own writes in the chain that led to this one; 0 if it has another cause. */
  readonly depth: number;
}

/** State of an active brake. */
export interface Braked {
  /** The object of the write that activated the brake. */
  readonly object: string;
  readonly delayMs: number;
  readonly writesPerMinute: number;
}

/**
 * Slows a controller whose writes cause further writes of its own, and limits the objects that it creates
 * from its own results. The brake counts per controller, so it also detects a chain that writes a new name
 * each time. It never delays writes with other causes.
 */
export class FeedbackBrake {
  readonly #clock: Clock;
  readonly #limit: GrowthLimit;
  readonly #changed: () => void;
  /** Times of the last writes in chains longer than `freeDepth`, oldest first. */
  readonly #timesMs: number[] = [];
  /** Bytes of each object that the controller created from its own results. */
  readonly #grown = new Map<string, number>();
  #bytes = 0;
  #delayMs = 0;
  #nextMs = -Infinity;
  #braked: Braked | undefined;
  #calming: Timer | undefined;

  /** @param changed - called when {@link FeedbackBrake.braked} changes */
  constructor(clock: Clock, limit: GrowthLimit, changed: () => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#changed = changed;
  }

  /** Returns the state of the brake while it slows the controller; otherwise undefined. */
  get braked(): Braked | undefined {
    return this.#braked;
  }

  /** Returns the delay of a write in milliseconds. With 0 the write may start, and is counted. */
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

  /** Whether a write would exceed the limit of objects and bytes that the controller creates from its own results. */
  refuses({ object, depth }: FeedbackWrite, bytes: number): boolean {
    if (depth < growthDepth) return false;
    const known = this.#grown.get(object);
    const objects = this.#grown.size + (known === undefined ? 1 : 0);
    const total = this.#bytes - (known ?? 0) + bytes;
    return objects > this.#limit.objects || total > this.#limit.bytes;
  }

  /** Records the size of a written object; `bytes` 0: the object is gone. */
  wrote({ object, depth }: FeedbackWrite, bytes: number): void {
    const known = this.#grown.get(object);
    if (known === undefined && (bytes === 0 || depth < growthDepth)) return;
    this.#bytes += bytes - (known ?? 0);
    if (bytes === 0) this.#grown.delete(object);
    else this.#grown.set(object, bytes);
  }

  /** Releases the brake and its timer. It may be used again. */
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

  /** Releases the brake: no write of a long chain came for a whole window, so the loop of writes has ended. */
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
