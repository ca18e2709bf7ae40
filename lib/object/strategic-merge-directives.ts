import { isJsonObject, setMember } from './json.js';

type JsonMap = Readonly<Record<string, unknown>>;

/** The member that turns a map of a strategic merge patch into a directive. */
export const patchDirective = '$patch';

/** Returns `value` without null members, at any depth. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return mapMembers(value, (member) => (member === null ? undefined : withoutNulls(member)));
}

/**
 * Returns `value` without maps that are directives, at any depth; `undefined` if it is a directive itself.
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutDirectives).filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  return Object.hasOwn(value, patchDirective) ? undefined : mapMembers(value, withoutDirectives);
}

function mapMembers(value: JsonMap, change: (member: unknown) => unknown): JsonMap {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const changed = change(value[name]);
    if (changed !== undefined) setMember(result, name, changed);
  }
  return result;
}
