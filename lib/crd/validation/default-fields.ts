import { isJsonObject, setMember } from '../../object/json.js';
import type { Schema } from '../../object/schema.js';

/**
 * Fills in the defaults of a structural schema, in place, and drops nulls where the schema allows
 * none and has no default.
 */
export function defaultFields(value: unknown, schema: Schema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) defaultItems(value, schema);
  else if (isJsonObject(value)) defaultMembers(value, schema);
}

function defaultItems(items: unknown[], { items: schema }: Schema): void {
  if (schema === undefined) return;
  for (const [index, item] of items.entries()) {
    if (item === null && schema.nullable !== true && schema.default !== undefined) {
      items[index] = structuredClone(schema.default);
    }
    defaultFields(items[index], schema);
  }
}

function defaultMembers(object: Record<string, unknown>, schema: Schema): void {
  const { properties = {}, additionalProperties } = schema;
  for (const [name, property] of Object.entries(properties)) {
    const missing = !Object.hasOwn(object, name);
    const refused = object[name] === null && property.nullable !== true;
    if (!missing && !refused) continue;
    if (property.default !== undefined) setMember(object, name, structuredClone(property.default));
    else if (refused) Reflect.deleteProperty(object, name);
  }
  for (const name of Object.keys(object)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const member =
      own ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    defaultFields(object[name], member);
  }
}
