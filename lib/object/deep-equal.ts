import { isJsonObject } from './json.js';
import { heldBy, knownList } from './known-list.js';

/** Whether two JSON values are equal; the order of members is irrelevant. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    const [one, other] = [knownList(left), knownList(right)];
    if (one !== undefined && other !== undefined) return one.digest === other.digest;
    return left.every((item, index) => deepEqual(item, right[index]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  return sameMembers(left, right);
}

/** Whether two objects have equal members, ignoring the names in `except`. */
export function sameMembers(left: object, right: object, except: readonly string[] = []): boolean {
  const namesOf = (object: object): string[] =>
    except.length === 0
      ? Object.keys(object)
      : Object.keys(object).filter((name) => !except.includes(name));
  const names = namesOf(left);
  if (names.length !== namesOf(right).length) return false;
  const [one, other] = [heldBy(left), heldBy(right)];
  return names.every((name) => {
    if (!Object.hasOwn(right, name)) return false;
    if (name === one?.name && name === other?.name) {
      return one.list.known.digest === other.list.known.digest;
    }
    return deepEqual(left[name as keyof typeof left], right[name as keyof typeof right]);
  });
}
