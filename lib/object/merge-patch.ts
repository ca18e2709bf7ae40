import { deepEqual } from './deep-equal.js';
import { OperatorError } from '../system/index.js';
import { isJsonObject, memberOf, setMember } from './json.js';

/**
 * Applies a JSON merge patch (RFC 7386): null removes a member, objects are merged, everything else is
 * replaced. The target stays unchanged; the result shares the unchanged parts of the target.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, unknown> = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    // `delete` of an own `__proto__` removes only that member.
    if (value === null) Reflect.deleteProperty(result, name);
    else setMember(result, name, applyMergePatch(memberOf(result, name), value));
  }
  return result;
}

/**
 * Returns the smallest JSON merge patch (RFC 7386) that changes `from` to `to`; `{}` if they are equal.
 * Members that are undefined count as absent.
 * @throws OperatorError `InvalidPatch`: `to` has a null that `from` does not have, which a merge patch cannot
 * express.
 */
export function createMergePatch(from: object, to: object): Record<string, unknown> {
  return patchOf(from as Record<string, unknown>, to as Record<string, unknown>, '');
}

function patchOf(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path: string,
): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const [name, before] of Object.entries(from)) {
    if (before !== undefined && memberOf(to, name) === undefined) setMember(patch, name, null);
  }
  for (const [name, after] of Object.entries(to)) {
    const before = memberOf(from, name);
    if (after === undefined || deepEqual(before, after)) continue;
    const inner = path === '' ? name : `${path}.${name}`;
    if (!isJsonObject(after)) setMember(patch, name, sayable(after, inner));
    else if (isJsonObject(before)) addMember(patch, name, patchOf(before, after, inner));
    else setMember(patch, name, patchOf({}, after, inner));
  }
  return patch;
}

/** Objects that differ only in undefined members give an empty patch, which is omitted. */
function addMember(patch: Record<string, unknown>, name: string, inner: object): void {
  if (Object.keys(inner).length > 0) setMember(patch, name, inner);
}

function sayable(value: unknown, path: string): unknown {
  if (value !== null) return value;
  const message = `merge patch: ${path} can't be set to null, because null removes a field: use a JSON patch`;
  throw new OperatorError('InvalidPatch', message);
}
