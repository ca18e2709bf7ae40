import { canonicalText } from './document-key.js';

/** The precomputed sort key of a value. */
export interface SortKey {
  /** Rank of the value's type among the types. */
  readonly rank: number;
  /** Order within the type: either all numbers or all texts. */
  readonly by: number | string;
}

/**
 * Returns a sort key that orders all JSON values: null, false, true, numbers, texts (by UTF-16 code units),
 * lists and maps (by their canonical text).
 */
export function sortKeyOf(value: unknown): SortKey {
  if (value === null || value === undefined) return { rank: 0, by: 0 };
  if (typeof value === 'boolean') return { rank: value ? 2 : 1, by: 0 };
  if (typeof value === 'number') return { rank: 3, by: value };
  if (typeof value === 'string') return { rank: 4, by: value };
  return { rank: Array.isArray(value) ? 5 : 6, by: canonicalText(value) };
}

/** Returns a number below 0 if `one` comes first; 0 if both are equal. */
export function compareSortKeys(one: SortKey, other: SortKey): number {
  return one.rank - other.rank || compareTexts(one.by, other.by);
}

/** Compares by UTF-16 code units: the same on every machine. */
export function compareTexts<T extends number | string>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
