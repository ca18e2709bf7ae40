/** Deeper ones are refused: what looks at them goes down call by call. */
const deepest = 1000;

/**
 * Why a value can't be written as JSON: it contains itself, a function, a bigint, or is nested too
 * deeply. undefined: it can; members that are `undefined` count as absent.
 */
export function jsonProblem(value: unknown): string | undefined {
  const around = new Set<object>();
  const left: (readonly [value: unknown, leaves: object | undefined])[] = [[value, undefined]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [one, leaves] = next;
    if (leaves !== undefined) {
      around.delete(leaves);
      continue;
    }
    if (['function', 'symbol', 'bigint'].includes(typeof one)) return `contains a ${typeof one}`;
    if (typeof one !== 'object' || one === null) continue;
    if (around.has(one)) return 'contains itself';
    if (around.size >= deepest) return `is nested more than ${deepest} levels deep`;
    around.add(one);
    left.push([undefined, one]);
    for (const inner of Object.values(one)) left.push([inner, undefined]);
  }
  return undefined;
}
