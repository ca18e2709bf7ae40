/** The size of a value in characters, bytes or entries. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Represents "unbounded". Sums and products never exceed this number, as on the API server. Values below 2⁵³ are exact,
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

/** Returns the total size of several values of the same size range. One argument is their number. */
export function productOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: times(one.min, other.min), max: times(one.max, other.max) };
}

/** Returns the range that includes the sizes of two values, of which either may occur. */
export function unionOf(one: SizeRange, other: SizeRange): SizeRange {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}

/** Returns the size of a string after each `old` in it is replaced with a `next`. */
export function replacedSize(text: SizeRange, old: SizeRange, next: SizeRange): SizeRange {
  const most = replacedParts(text.max, old.min, next.max > old.min);
  const least = replacedParts(text.min, old.max, next.min < old.max);
  const replaced = { min: times(least.count, next.min), max: times(most.count, next.max) };
  return sumOf(replaced, { min: least.kept, max: most.kept });
}

/**
 * Returns the number of replacements, and the number of characters that are not replaced. An empty `old` matches before
 * each character and at the end.
 * @param isExtreme - whether each replacement makes the longest result longer, or the shortest one shorter
 */
function replacedParts(text: number, old: number, isExtreme: boolean) {
  if (old === 0) return { count: plus(text, 1), kept: text };
  return isExtreme ? { count: Math.ceil(text / old), kept: 0 } : { count: 0, kept: text };
}
