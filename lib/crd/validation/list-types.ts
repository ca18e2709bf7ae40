import { isJsonObject } from '../../object/json.js';
import type { SchemaCheck } from './validate-schema.js';

/** Checks that set entries are unique, and list-map entries unique by key. */
export function validateListType(
  items: readonly unknown[],
  { schema, path, errors }: SchemaCheck,
): void {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    if (type === 'map' && !isJsonObject(item)) {
      const why = 'must be an object for an array of list-type map';
      errors.invalid(`${path}[${index}]`, item, why);
      continue;
    }
    const id = canonical(type === 'set' ? item : keyOf(item, keys));
    const text = JSON.stringify(id);
    const count = seen.get(text) ?? 0;
    // Report each duplicate once.
    if (count === 1) errors.duplicate(`${path}[${index}]`, id);
    seen.set(text, count + 1);
  }
}

function keyOf(item: unknown, keys: readonly string[]): unknown {
  if (!isJsonObject(item)) return item;
  return Object.fromEntries(keys.map((key) => [key, item[key]]));
}

/** Sorts the members of objects: their order has no meaning, and Go prints them sorted. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, canonical(value[name])]));
}
