import { isJsonObject, memberOf } from './json.js';
import { keyElement, valueElement } from './field-path.js';
import type { PathElement } from './field-path.js';
import type { Schema } from './schema.js';

/** The identity of list entries. */
export type ListIdentity =
  /** The values of these fields identify an entry. */
  | { readonly type: 'keys'; readonly keys: readonly string[] }
  /** The value itself identifies an entry: a set of scalars. */
  | { readonly type: 'values' }
  /** Only the index identifies an entry. */
  | { readonly type: 'places' };

/**
 * Returns the identity of the entries of a list with `schema`: the keys of server-side apply, which are more
 * precise than those of a strategic merge (two ports with one number differ in their protocol), else the
 * latter.
 */
export function listIdentity(schema: Schema | undefined): ListIdentity {
  const type = schema?.['x-kubernetes-list-type'];
  const keys = schema?.['x-kubernetes-list-map-keys'];
  if (type === 'map' && keys !== undefined) return { type: 'keys', keys };
  if (type === 'set') return { type: 'values' };
  if (type === 'atomic' || !strategiesOf(schema).includes('merge')) return { type: 'places' };
  const key = schema?.['x-kubernetes-patch-merge-key'];
  return key === undefined ? { type: 'values' } : { type: 'keys', keys: [key] };
}

/** Returns the strategies of a strategic merge, for example `['merge', 'retainKeys']`. */
export function strategiesOf(schema: Schema | undefined): readonly string[] {
  return schema?.['x-kubernetes-patch-strategy']?.split(',') ?? [];
}

/**
 * Returns the entries of `list` by their identity; undefined if they cannot be identified: two are the same,
 * or one lacks a key.
 */
export function entriesByIdentity(
  list: readonly unknown[],
  schema: Schema | undefined,
): ReadonlyMap<PathElement, unknown> | undefined {
  const identity = listIdentity(schema);
  if (identity.type === 'places') return undefined;
  const entries = new Map<PathElement, unknown>();
  for (const item of list) {
    const element =
      identity.type === 'keys'
        ? keyElementOf(item, identity.keys, schema?.items)
        : valueElement(item);
    if (element === undefined || entries.has(element)) return undefined;
    entries.set(element, item);
  }
  return entries;
}

function keyElementOf(
  item: unknown,
  keys: readonly string[],
  schema: Schema | undefined,
): PathElement | undefined {
  if (!isJsonObject(item)) return undefined;
  const values: Record<string, unknown> = {};
  for (const key of keys) {
    const value = memberOf(item, key) ?? schema?.properties?.[key]?.default;
    if (value === undefined) return undefined;
    values[key] = value;
  }
  return keyElement(values);
}
