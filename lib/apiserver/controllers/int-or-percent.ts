/** Rounding of a percentage by {@link intOrPercent}. */
export type Rounding = 'up' | 'down';

/**
 * Returns the number of an int-or-string field, which is a number or a percentage of `total`. Other strings
 * count as 0; the API server does not admit them.
 */
export function intOrPercent(
  value: string | number | undefined,
  total: number,
  rounding: Rounding,
): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return 0;
  const exact = (Number(percent) * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
