/** How large a value may be: its characters, bytes or entries. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Stands for "without a bound". Sums and products stop here, as they do on the API server; smaller
 * ones than 2⁵³ are exact, and budgets are far below that.
 */
export const boundless = 2 ** 64;

/** The size of what nothing is known of. */
export const unknownSize: SizeRange = { min: 0, max: boundless };

/** A size that is known. */
export function fixedSize(size: number): SizeRange {
  return { min: size, max: size };
}

/** The sum, or {@link boundless}. */
export function plus(one: number, other: number): number {
  return Math.min(one + other, boundless);
}

/** The product, or {@link boundless}. */
export function times(one: number, other: number): number {
  return Math.min(one * other, boundless);
}

/** What going over so much costs, rounded up. */
export function scaled(size: number, costOfOne: number): number {
  return Math.min(Math.ceil(size * costOfOne), boundless);
}

/** The size of one thing behind the other. */
export function sumOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: plus(one.min, other.min), max: plus(one.max, other.max) };
}

/** The size of as many things of a size. */
export function productOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: times(one.min, other.min), max: times(one.max, other.max) };
}

/** The size of what is one thing or the other. */
export function unionOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}
