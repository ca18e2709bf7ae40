import { isJsonObject, setMember } from '../../object/json.js';
import type { Schema } from '../../object/schema.js';
import { memberSchemaOf } from './prune.js';

/**
 * Fills in the defaults of a structural schema in place, also for nulls that the schema forbids. Drops
 * forbidden nulls without a default first. An `undefined` member counts as absent.
 */
export function defaultFields(value: unknown, schema: Schema | undefined): void {
  dropNulls(value, schema);
  fillInDefaults(value, schema);
}

/** Drops, in place, null members that the schema forbids and that have no default. */
export function dropNulls(value: unknown, schema: Schema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) dropNulls(item, schema.items);
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const member = memberSchemaOf(schema, name);
      if (isRefusedNull(value[name], member) && member?.default === undefined) {
        Reflect.deleteProperty(value, name);
      } else dropNulls(value[name], member);
    }
  }
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
