import { isJsonObject } from '../../object/json.js';
import type { SchemaCheck } from './validate-schema.js';

/** Entries of sets must differ, those of list-maps in their keys. */
export function validateListType(
  items: readonly unknown[],
  { schema, path, errors }: SchemaCheck,
): void {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const id = type === 'set' ? item : keyOf(item, keys);
    const text = JSON.stringify(id);
    if (seen.has(text)) errors.duplicate(`${path}[${index}]`, id);
    seen.add(text);
  }
}

function keyOf(item: unknown, keys: readonly string[]): unknown {
  if (!isJsonObject(item)) return item;
  return Object.fromEntries(keys.map((key) => [key, item[key]]));
}
