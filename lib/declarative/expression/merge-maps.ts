import { isJsonObject, memberOf, setMember } from '../../object/json.js';

type Map = Readonly<Record<string, unknown>>;

/** A map with the members of `later` laid over those of `earlier`; maps in both are merged, too. */
export function mergeMaps(earlier: Map, later: Map): Map {
  const merged: Record<string, unknown> = { ...earlier };
  for (const name of Object.keys(later)) {
    const before = memberOf(earlier, name);
    const value = memberOf(later, name);
    const both = isJsonObject(before) && isJsonObject(value);
    setMember(merged, name, both ? mergeMaps(before, value) : value);
  }
  return merged;
}
