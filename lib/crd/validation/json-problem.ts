/** Maximum nesting depth: the code that walks values is recursive. */
const deepest = 1000;

/**
 * Returns why JSON cannot represent a value: a cycle, a function, a bigint, NaN or too deep nesting; undefined
 * if it can. Members that are `undefined` count as absent.
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
    if (['function', 'symbol', 'bigint'].includes(typeof one))
      return `contains a ${typeof one}, which has no JSON form`;
    if (typeof one === 'number' && !Number.isFinite(one))
      return `contains ${one}, which is not a JSON number`;
    if (typeof one !== 'object' || one === null) continue;
    if (around.has(one)) return 'contains itself';
    if (around.size >= deepest) return `is nested more than ${deepest} levels deep`;
    around.add(one);
    left.push([undefined, one]);
    for (const inner of Object.values(one)) left.push([inner, undefined]);
  }
  return undefined;
}
