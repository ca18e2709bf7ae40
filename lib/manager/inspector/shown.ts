/** The first items of a list, and the number of the others. */
export interface Shown<T> {
  readonly items: readonly T[];
  readonly more: number;
}

/** Maximum number of rows of a table. */
export const maxRows = 50;

/** Returns the first `count` of `items`; give `total` if `items` is cut already. */
export function firstOf<T>(items: readonly T[], count: number = maxRows, total = 0): Shown<T> {
  const first = items.slice(0, count);
  return { items: first, more: Math.max(items.length, total) - first.length };
}

/** Like {@link firstOf}, but maps only the items that are shown. */
export function firstMapped<T, R>(items: readonly T[], map: (item: T) => R): Shown<R> {
  const { items: first, more } = firstOf(items);
  return { items: first.map(map), more };
}

/** Returns the message of an error, or the thrown value, cut to 1,000 characters. */
export function shownError(error: unknown): string {
  // A message may be something other than a string.
  const message: unknown = error instanceof Error ? error.message : error;
  const isThing =
    (typeof message === 'object' && message !== null) || typeof message === 'function';
  const text = isThing ? `a value of type ${typeof message}` : String(message);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Formats milliseconds for people. */
export function shownDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats milliseconds since 1970 in UTC: `2026-01-01T00:00:00.000Z`. */
export function shownTime(ms: number): string {
  return new Date(ms).toISOString();
}

const maxLength = 1_000;
