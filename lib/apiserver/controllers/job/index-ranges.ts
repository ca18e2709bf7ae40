/** Parses a text such as `0-2,5`. */
export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',').filter(Boolean)) {
    const [first = NaN, last = first] = part.split('-').map(Number);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** Formats numbers as ascending ranges: `0-2,5`; only two in a row as `0,1`. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] ?? NaN) + 1) end++;
    const [first = 0, last = 0] = [sorted[at], sorted[end]];
    if (end === at) parts.push(String(first));
    else parts.push(end === at + 1 ? `${first},${last}` : `${first}-${last}`);
    at = end + 1;
  }
  return parts.join(',');
}
