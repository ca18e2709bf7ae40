import isEqual from 'lodash/isEqual.js';
import { isJsonObject, memberOf, setMember } from '../../object/json.js';
import { strategiesOf } from '../../object/list-keys.js';
import type { Schema } from '../../object/schema.js';
import type { Json } from './json-values.js';
import { isNothing, scalarText } from './json-values.js';

const directive = '$patch';

/**
 * Merges a patch into a value as kustomize does. Unlike the API server, it puts the patch's items first in
 * merged lists.
 * @param patch - undefined: the value is not patched
 * @returns undefined if the value is to be removed
 * @throws RangeError an unknown directive
 */
export function strategicMerge(
  value: unknown,
  patch: unknown,
  schema: Schema | undefined,
): unknown {
  if (patch === undefined) return value;
  if (patch === null) return undefined;
  if (Array.isArray(patch)) return mergedList(value, patch as readonly unknown[], schema);
  if (isJsonObject(patch)) return mergedObject(value, patch, schema);
  return patch;
}

function mergedObject(
  value: unknown,
  patch: Readonly<Record<string, unknown>>,
  schema: Schema | undefined,
): unknown {
  const { [directive]: how = 'merge', ...rest } = patch;
  if (how === 'delete') return undefined;
  if (how !== 'merge' && how !== 'replace') throw unknownDirective(how);
  const kept = how === 'merge' && isJsonObject(value) ? value : {};
  const result: Json = { ...kept };
  for (const [name, change] of Object.entries(rest)) {
    const merged = strategicMerge(memberOf(kept, name), change, fieldSchema(schema, name));
    if (merged === undefined) Reflect.deleteProperty(result, name);
    else setMember(result, name, merged);
  }
  return result;
}

function mergedList(
  value: unknown,
  patch: readonly unknown[],
  schema: Schema | undefined,
): unknown {
  if (!strategiesOf(schema).includes('merge')) return patch;
  const alone = patch.find(
    (item) => isJsonObject(item) && Object.keys(item).join() === directive,
  ) as Readonly<Record<string, unknown>> | undefined;
  const how = alone?.[directive] ?? 'merge';
  if (how === 'delete') return undefined;
  if (how !== 'merge' && how !== 'replace') throw unknownDirective(how);
  const items = patch.filter((item) => item !== alone);
  const kept: readonly unknown[] = how === 'merge' && Array.isArray(value) ? value : [];
  const keys = keysOf(schema);
  if (keys.length === 0) return [...new Set([...items, ...kept])];
  return mergedItems(kept, items, { keys, schema: schema?.items });
}

interface ItemRules {
  readonly keys: readonly string[];
  readonly schema: Schema | undefined;
}

function mergedItems(
  kept: readonly unknown[],
  items: readonly unknown[],
  { keys, schema }: ItemRules,
): readonly unknown[] {
  const taken = new Map<unknown, unknown>();
  const leading: unknown[] = [];
  // With several keys, existing items keep their place; otherwise the patch defines the order.
  const used = keys.filter((key) => [...kept, ...items].some((one) => keyOf(one, key) !== ''));
  const staysInPlace = used.length > 1;
  for (const item of items) {
    const old = kept.find((one) => isSameItem(one, item, keys));
    const merged = strategicMerge(old, item, schema);
    if (old === undefined || !staysInPlace) leading.push(merged);
    if (old !== undefined) taken.set(old, staysInPlace ? merged : undefined);
  }
  const following = kept.map((one) => (taken.has(one) ? taken.get(one) : one));
  return [...leading, ...following].filter((one) => one !== undefined);
}

function keyOf(item: unknown, key: string): string {
  return isJsonObject(item) ? scalarText(item[key]) : '';
}

/** Whether two items are the same; ignores keys that one of them lacks. */
function isSameItem(one: unknown, other: unknown, keys: readonly string[]): boolean {
  if (!isJsonObject(one) || !isJsonObject(other)) return isEqual(one, other);
  const pairs = keys
    .map((key) => [keyOf(one, key), keyOf(other, key)] as const)
    .filter(([a, b]) => a !== '' && b !== '');
  return pairs.length > 0 && pairs.every(([a, b]) => a === b);
}

function keysOf(schema: Schema | undefined): readonly string[] {
  const keys = schema?.['x-kubernetes-list-map-keys'];
  if (keys !== undefined) return keys;
  const key = schema?.['x-kubernetes-patch-merge-key'];
  return key === undefined ? [] : [key];
}

function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema === undefined) return undefined;
  const { properties = {}, additionalProperties, allOf } = schema;
  const property = memberOf(properties, name) as Schema | undefined;
  if (!isNothing(property)) return property;
  if (typeof additionalProperties === 'object') return additionalProperties;
  return allOf?.length === 1 ? fieldSchema(allOf[0], name) : undefined;
}

function unknownDirective(how: unknown): RangeError {
  return new RangeError(`${directive}: want merge, replace or delete, got ${JSON.stringify(how)}`);
}
