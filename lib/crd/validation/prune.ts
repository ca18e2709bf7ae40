import { isJsonObject, setMember, memberSchemaOf } from '../../object/index.js';
import type { Schema } from '../../object/index.js';

/** The result of pruning: the value, and the removed fields. */
interface Pruned {
  readonly value: unknown;
  /** JSON paths of the fields that the schema does not define, sorted. */
  readonly unknownFields: readonly string[];
}

/**
 * Removes fields that a structural schema does not define, and members that are `undefined`. The result
 * shares nothing with `value`.
 */
export function prune(value: unknown, schema: Schema | undefined): Pruned {
  const unknownFields: string[] = [];
  const pruned = pruneValue(value, { schema: schema ?? preserving, path: '', unknownFields });
  return { value: pruned, unknownFields: unknownFields.sort() };
}

const preserving: Schema = { 'x-kubernetes-preserve-unknown-fields': true };
/**
 * The schema of objects without fields: the API server empties an object without a schema, also as a value of a map.
 */
const nothing: Schema = {};

interface At {
  readonly schema: Schema;
  readonly path: string;
  readonly unknownFields: string[];
}

function pruneValue(value: unknown, at: At): unknown {
  if (Array.isArray(value)) {
    const items = itemsOf(at.schema);
    return value.map((item: unknown, index) =>
      // JSON represents undefined items as null.
      item === undefined
        ? null
        : pruneValue(item, { ...at, schema: items, path: `${at.path}[${index}]` }),
    );
  }
  return isJsonObject(value) ? pruneObject(value, at) : value;
}

/** Returns the schema of a list's items. If the list preserves unknown fields, its items preserve theirs, too. */
function itemsOf(schema: Schema): Schema {
  const { items = nothing } = schema;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return preserves ? { ...items, ...preserving } : items;
}

const typeMeta = new Set(['apiVersion', 'kind', 'metadata']);

function pruneObject(value: Readonly<Record<string, unknown>>, at: At): Record<string, unknown> {
  const { schema, path, unknownFields } = at;
  const { additionalProperties } = schema;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const pruned: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue;
    const member = path === '' ? name : `${path}.${name}`;
    const known =
      embedded && typeMeta.has(name)
        ? preserving
        : (memberSchemaOf(schema, name) ??
          (additionalProperties !== undefined ? nothing : preserves ? preserving : undefined));
    if (known === undefined) unknownFields.push(member);
    else
      setMember(
        pruned,
        name,
        pruneValue(value[name], { schema: known, path: member, unknownFields }),
      );
  }
  return pruned;
}

/**
 * Fills in the defaults of a structural schema in place, also instead of nulls that the schema forbids. First
 * drops forbidden nulls that have no default. An `undefined` member counts as absent.
 */
export function defaultFields(value: unknown, schema: Schema | undefined): void {
  dropNulls(value, schema);
  fillInDefaults(value, schema);
}

/**
 * Drops, in place, null members that the schema forbids and that have no default.
 * @returns true if there were any
 */
export function dropNulls(value: unknown, schema: Schema | undefined): boolean {
  if (schema === undefined) return false;
  let dropped = false;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      if (dropNulls(item, schema.items)) dropped = true;
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const member = memberSchemaOf(schema, name);
      // A null default counts as absent, as on the API server.
      const isDropped = isRefusedNull(value[name], member) && (member?.default ?? null) === null;
      if (isDropped) Reflect.deleteProperty(value, name);
      if (isDropped || dropNulls(value[name], member)) dropped = true;
    }
  }
  return dropped;
}

function isRefusedNull(value: unknown, schema: Schema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

/** Fills in defaults in place like {@link defaultFields}, but keeps nulls without a default. */
export function fillInDefaults(value: unknown, schema: Schema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) fillInItems(value, schema.items);
  else if (isJsonObject(value)) fillInMembers(value, schema);
}

function fillInItems(items: unknown[], schema: Schema | undefined): void {
  if (schema === undefined) return;
  for (const [index, item] of items.entries()) {
    if (isRefusedNull(item, schema) && schema.default !== undefined) {
      items[index] = structuredClone(schema.default);
    }
    fillInDefaults(items[index], schema);
  }
}

function fillInMembers(object: Record<string, unknown>, schema: Schema): void {
  const { properties = {} } = schema;
  for (const [name, property] of Object.entries(properties)) {
    // A null default counts as absent, as on the API server.
    if (property.default === undefined || property.default === null) continue;
    const missing = !Object.hasOwn(object, name) || object[name] === undefined;
    if (missing) setMember(object, name, structuredClone(property.default));
  }
  for (const name of Object.keys(object)) {
    const member = memberSchemaOf(schema, name);
    if (isRefusedNull(object[name], member) && member?.default !== undefined) {
      setMember(object, name, structuredClone(member.default));
    }
    fillInDefaults(object[name], member);
  }
}
