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
  for (const key of Object.keys(a)) if (!jsonEqual(a[key], field(b, key))) return false;
  for (const key of Object.keys(b))
    if (b[key] !== undefined && !Object.hasOwn(a, key)) return false;
  return true;
}

/** A field of its own: every object inherits a `constructor` and a `__proto__`, which nobody wrote. */
function field(fields: JsonFields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}
