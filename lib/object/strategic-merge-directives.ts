import { isJsonObject, setMember } from './json.js';

type JsonMap = Readonly<Record<string, unknown>>;

/** The member that makes a map of a strategic merge patch an instruction. */
export const patchDirective = '$patch';

/** `value` without members that are null, at any depth. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return mapMembers(value, (member) => (member === null ? undefined : withoutNulls(member)));
}

/** `value` without maps that are directives, at any depth; `undefined` if it is one itself. */
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
