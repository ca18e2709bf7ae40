import { canonicalText } from './document-key.js';

/** What a value is sorted by, worked out once. */
export interface SortKey {
  /** Of its kind, among the kinds. */
  readonly rank: number;
  /** Among values of its kind: of one kind all are numbers or all are texts. */
  readonly by: number | string;
}

/**
 * Sorts all JSON values: null, false, true, numbers, texts (by UTF-16 code units), lists and maps (by
 * their canonical text).
 */
export function sortKeyOf(value: unknown): SortKey {
  if (value === null || value === undefined) return { rank: 0, by: 0 };
  if (typeof value === 'boolean') return { rank: value ? 2 : 1, by: 0 };
  if (typeof value === 'number') return { rank: 3, by: value };
  if (typeof value === 'string') return { rank: 4, by: value };
  return { rank: Array.isArray(value) ? 5 : 6, by: canonicalText(value) };
}

/** Below 0: `one` comes first; 0: they are equal. */
export function compareSortKeys(one: SortKey, other: SortKey): number {
  return one.rank - other.rank || compareTexts(one.by, other.by);
}

/** By UTF-16 code units: the same on every machine. */
export function compareTexts<T extends number | string>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
