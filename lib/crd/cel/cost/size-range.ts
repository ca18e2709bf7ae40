/** The size of a value in characters, bytes or entries. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Represents "unbounded". Sums and products saturate here, as on the API server. Values below 2⁵³ are exact,
 * and budgets are far below that.
 */
export const boundless = 2 ** 64;

/** The size of an unknown value. */
export const unknownSize: SizeRange = { min: 0, max: boundless };

/** Returns the range of a known size. */
export function fixedSize(size: number): SizeRange {
  return { min: size, max: size };
}

/** Returns the sum, at most {@link boundless}. */
export function plus(one: number, other: number): number {
  return Math.min(one + other, boundless);
}

/** Returns the product, at most {@link boundless}. */
export function times(one: number, other: number): number {
  return Math.min(one * other, boundless);
}

/** Returns the cost of traversing `size`, rounded up. */
export function scaled(size: number, costOfOne: number): number {
  return Math.min(Math.ceil(size * costOfOne), boundless);
}

/** Returns the size of two values in sequence. */
export function sumOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: plus(one.min, other.min), max: plus(one.max, other.max) };
}

/** Returns the size of several values of one size. */
export function productOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: times(one.min, other.min), max: times(one.max, other.max) };
}

/** Returns the size of either of two values. */
export function unionOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}
