/** Whether two JSON values are the same; a field that is undefined is the same as an absent one. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return arraysEqual(a, b);
  return fieldsEqual(a as JsonFields, b as JsonFields);
}

type JsonFields = Readonly<Record<string, unknown>>;

function arraysEqual(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, index) => jsonEqual(item, b[index]));
}

function fieldsEqual(a: JsonFields, b: JsonFields): boolean {
  for (const key of Object.keys(a)) if (!jsonEqual(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (b[key] !== undefined && !(key in a)) return false;
  return true;
}
