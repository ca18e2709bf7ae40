import { heldBy, knownList } from './known-list.js';

/**
 * Whether two JSON values are equal. The order of members is irrelevant, and a member that is `undefined`
 * counts as absent.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left === null || right === null) return false;
  if (Array.isArray(left)) return Array.isArray(right) && sameItems(left, right);
  return !Array.isArray(right) && sameMembers(left, right);
}

function sameItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  const [one, other] = [knownList(left), knownList(right)];
  if (one !== undefined && other !== undefined) return one.digest === other.digest;
  for (let index = 0; index < left.length; index++) {
    if (!deepEqual(left[index], right[index])) return false;
  }
  return true;
}

/** Whether the items of two lists are identical (`===`), not only equal. */
export function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, place) => item === other[place]);
}

type Members = Readonly<Record<string, unknown>>;
const noNames: readonly string[] = [];

/** Whether two objects have equal members, ignoring the names in `except`. */
export function sameMembers(left: object, right: object, except = noNames): boolean {
  // Lazy lists are compared by their digests, without reading them.
  const [one, other] = [heldBy(left), heldBy(right)];
  let count = 0;
  for (const name of Object.keys(left)) {
    if (except.includes(name)) continue;
    if (one !== undefined && name === one.name && name === other?.name) {
      if (one.list.known.digest !== other.list.known.digest) return false;
    } else {
      const value = (left as Members)[name];
      if (value === undefined) continue;
      if (!Object.hasOwn(right, name) || !deepEqual(value, (right as Members)[name])) return false;
    }
    count++;
  }
  const names = Object.keys(right);
  if (names.length === count && count > 0) return true;
  // A Date has no members: compare the JSON texts.
  if (names.length === 0 && except.length === 0) {
    return count === 0 && JSON.stringify(left) === JSON.stringify(right);
  }
  const isPresent = (name: string): boolean =>
    !except.includes(name) && (name === other?.name || (right as Members)[name] !== undefined);
  return names.filter(isPresent).length === count;
}
