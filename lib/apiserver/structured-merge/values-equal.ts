import { isJsonObject, memberOf } from '../../object/json.js';

/** Whether two JSON values are the same; members that are `undefined` count as absent. */
export function valuesEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => valuesEqual(item, (b as unknown[])[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = presentNames(a);
  if (names.length !== presentNames(b).length) return false;
  return names.every((name) => valuesEqual(a[name], memberOf(b, name)));
}

function presentNames(object: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(object);
  return names.some((name) => object[name] === undefined)
    ? names.filter((name) => object[name] !== undefined)
    : names;
}
