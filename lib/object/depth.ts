import { OperatorError } from '../system/operator-error.js';

/**
 * How deep an object may nest: objects and arrays within each other. API servers accept about 10,000
 * levels where a CRD preserves unknown fields; recursive functions end there with a RangeError, and
 * V8 may even abort. At 500 levels each of them has 2 kB of the main thread's stack for a level;
 * worker threads have more. Objects that people write stay below 50.
 */
export const maxDepth = 500;

/** Whether `value` nests deeper than `limit`. It recurses no deeper than that itself. */
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
 * Checks that recursive functions survive `value`.
 * @param what - opens the message, for example `get Widget shop/web`
 * @returns `value`
 * @throws OperatorError `TooDeep`: it nests deeper than {@link maxDepth}.
 */
export function checkDepth<T>(value: T, what: string): T {
  if (isDeeperThan(value, maxDepth)) throw tooDeep(what);
  return value;
}

/** The error for a value, named by `what`, that nests deeper than {@link maxDepth}. */
export function tooDeep(what: string): OperatorError {
  return new OperatorError(
    'TooDeep',
    `${what}: nests deeper than ${maxDepth} levels; flatten or delete what is nested so deeply`,
  );
}
