/** How {@link intOrPercent} rounds a percentage. */
export type Rounding = 'up' | 'down';

/**
 * The number that an int-or-string field stands for: itself, or a percentage of `total`.
 * A string that is no percentage counts as 0, as the API server lets none pass.
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
