import { OperatorError } from '../system/index.js';

/**
 * The maximum nesting of objects and arrays. API servers accept about 10,000 levels in unknown fields that a
 * CRD preserves. Recursive functions would throw a RangeError there, and V8 may even abort. At 500 levels,
 * each level has 2 kB of the main thread's stack; worker threads have more. Objects that people write stay
 * below 50 levels.
 */
export const maxDepth = 500;

/** Whether `value` nests deeper than `limit`. Recurses at most that deep. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit <= 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isDeeperThan(item, limit - 1)) return true;
    return false;
  }
  for (const name in value) {
    if (isDeeperThan(value[name as keyof typeof value], limit - 1)) return true;
  }
  return false;
}

/**
 * Checks that recursive functions can process `value`.
 * @param what - begins the message, for example `get Widget shop/web`
 * @returns `value`
 * @throws OperatorError `TooDeep`: it nests deeper than {@link maxDepth}.
 */
export function checkDepth<T>(value: T, what: string): T {
  if (isDeeperThan(value, maxDepth)) throw tooDeep(what);
  return value;
}

/** Returns the error for a value, named `what`, that nests deeper than {@link maxDepth}. */
export function tooDeep(what: string): OperatorError {
  return new OperatorError(
    'TooDeep',
    `${what}: nests deeper than ${maxDepth} levels; flatten or delete what is nested so deeply`,
  );
}
