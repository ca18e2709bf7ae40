import type { Random } from './random.js';

/** Delays that grow with each failure in a row. */
export interface DelayCurve {
  /** Delay after the first failure, in milliseconds. */
  readonly baseMs: number;
  /** Longest delay, in milliseconds. */
  readonly maxMs: number;
  /** Factor between one delay and the next. @defaultValue 2 */
  readonly factor?: number;
}

/**
 * Returns the delay after the nth failure in a row: `baseMs * factor ** (n - 1)`, at most `maxMs`.
 * @param failures - n, from 1
 */
export function delayAfter(failures: number, { baseMs, maxMs, factor = 2 }: DelayCurve): number {
  // `1 << n` would turn negative at the 32nd failure and cause a hot loop.
  return Math.min(baseMs * factor ** (failures - 1), maxMs);
}

/**
 * Multiplies a delay by a random number from `least` to `most`, so that clients that failed together do not
 * come again together.
 */
export function spread(delayMs: number, random: Random, least: number, most: number): number {
  return delayMs * (least + random.next() * (most - least));
}
