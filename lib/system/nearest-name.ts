/**
 * Returns the entry of `names` nearest to `written`: the fewest letters to change, add, drop or swap with the
 * next one. Ignores case. Returns undefined if more than a third of the letters differ.
 */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(written.length / 3)) + 1;
  for (const name of names) {
    const changes = changesBetween(written.toLowerCase(), name.toLowerCase(), least);
    if (changes >= least) continue;
    nearest = name;
    least = changes;
  }
  return nearest;
}

/** Counts the letters that differ, up to `limit`. */
function changesBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let changes = (last[column - 1] ?? 0) + (same ? 0 : 1);
      changes = Math.min(changes, (last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1);
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped && !same) changes = Math.min(changes, (beforeLast[column - 2] ?? limit) + 1);
      next.push(changes);
    }
    [beforeLast, last] = [last, next];
  }
  return last[other.length] ?? limit;
}
