import { isJsonObject, memberOf, setMember } from '../../object/json.js';

type Map = Readonly<Record<string, unknown>>;

/**
 * Returns a map with the members of both, those of `later` over those of `earlier`. Maps in both are
 * merged too, and lists in both are appended, as dcontroller does.
 */
export function mergeMaps(earlier: Map, later: Map): Map {
  const merged: Record<string, unknown> = { ...earlier };
  for (const name of Object.keys(later)) {
    const before = memberOf(earlier, name);
    const value = memberOf(later, name);
    setMember(merged, name, mergeValues(before, value));
  }
  return merged;
}

function mergeValues(before: unknown, value: unknown): unknown {
  if (isJsonObject(before) && isJsonObject(value)) return mergeMaps(before, value);
  if (Array.isArray(before) && Array.isArray(value)) return (before as unknown[]).concat(value);
  return value;
}
