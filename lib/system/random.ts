import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness in this package, so that tests can control it. */
export interface Random {
  /** A number from 0 up to, and not including, 1. */
  next(): number;
  /** A random (version 4) UUID. */
  uuid(): string;
}

/** The system's randomness; its UUIDs are cryptographically strong. */
export const systemRandom: Random = {
  next: () => randomBytes(4).readUInt32BE() / 2 ** 32,
  uuid: () => randomUUID(),
};

/** A repeatable sequence for `seed` (mulberry32), so that a failing run can be replayed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
  const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  return { next, uuid };
}

/** Delays that grow with each failure in a row. */
interface DelayCurve {
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
 * retry together.
 */
export function spread(delayMs: number, random: Random, least: number, most: number): number {
  return delayMs * (least + random.next() * (most - least));
}
