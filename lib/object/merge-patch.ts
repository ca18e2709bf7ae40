import isEqual from 'lodash/isEqual.js';
import { OperatorError } from '../system/operator-error.js';
import { isJsonObject, memberOf, setMember } from './json.js';

/**
 * Applies a JSON merge patch (RFC 7386): null removes a member, objects are merged, everything else
 * replaces. The target is not written to; the result shares what did not change.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, unknown> = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    // `delete` of an own `__proto__` removes just that.
    if (value === null) Reflect.deleteProperty(result, name);
    else setMember(result, name, applyMergePatch(memberOf(result, name), value));
  }
  return result;
}

/**
 * The smallest JSON merge patch (RFC 7386) that makes `to` of `from`; `{}` where nothing is to do.
 * Members that are undefined count as absent.
 * @throws OperatorError `InvalidPatch`: `to` has a null that `from` has not, which no merge patch can
 * say.
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
    if (after === undefined || isEqual(before, after)) continue;
    const inner = path === '' ? name : `${path}.${name}`;
    if (!isJsonObject(after)) setMember(patch, name, sayable(after, inner));
    else if (isJsonObject(before)) addMember(patch, name, patchOf(before, after, inner));
    else setMember(patch, name, patchOf({}, after, inner));
  }
  return patch;
}

/** Members that differ only in what is undefined give an empty patch: nothing to say. */
function addMember(patch: Record<string, unknown>, name: string, inner: object): void {
  if (Object.keys(inner).length > 0) setMember(patch, name, inner);
}

function sayable(value: unknown, path: string): unknown {
  if (value !== null) return value;
  const message = `merge patch: ${path} can't become null, for null removes: use a JSON patch`;
  throw new OperatorError('InvalidPatch', message);
}
