import { isJsonObject } from './json.js';
import { knownList } from './known-list.js';

/** Whether two JSON values are the same; the order of members does not count. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    const [one, other] = [knownList(left), knownList(right)];
    if (one !== undefined && other !== undefined) return one.digest === other.digest;
    return left.every((item, index) => deepEqual(item, right[index]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && deepEqual(left[name], right[name]));
}
