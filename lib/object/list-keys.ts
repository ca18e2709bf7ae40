import { isJsonObject, memberOf } from './json.js';
import { keyElement, valueElement } from './field-path.js';
import type { PathElement } from './field-path.js';
import type { Schema } from './schema.js';

/** How the entries of a list are told apart. */
export type ListIdentity =
  /** By the values of these fields. */
  | { readonly type: 'keys'; readonly keys: readonly string[] }
  /** By what they are: a set of scalars. */
  | { readonly type: 'values' }
  /** By their place only. */
  | { readonly type: 'places' };

/**
 * How the entries of a list of `schema` are told apart: by the keys that server-side apply uses, which
 * say more than those of a strategic merge (two ports of one number differ in their protocol), else by
 * the latter.
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

/** The strategies of a strategic merge, as `['merge', 'retainKeys']`. */
export function strategiesOf(schema: Schema | undefined): readonly string[] {
  return schema?.['x-kubernetes-patch-strategy']?.split(',') ?? [];
}

/**
 * The entries of `list` by what tells them apart; undefined: they can't be told apart, for two are
 * one, or one lacks a key.
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
