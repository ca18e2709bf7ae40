import { fieldElement, indexElement } from './field-path.js';
import { isJsonObject } from './json.js';
import type { FieldsV1 } from './kubernetes-object.js';
import { entriesByIdentity } from './list-keys.js';
import type { Schema } from './schema.js';

/**
 * The paths that `value` sets (null sets none), without their values, as `managedFields` has them. Entries
 * of lists are named by their keys where the schema has some, else by their place. Nothing is named
 * within a map that is atomic.
 */
export function setFieldsOf(value: unknown, schema: Schema | undefined): FieldsV1 {
  if (Array.isArray(value)) return fieldsOfList(value, schema);
  if (!isJsonObject(value) || isWholeMap(schema)) return {};
  const members = Object.entries(value).filter(
    ([, member]) => member !== undefined && member !== null,
  );
  return Object.fromEntries(
    members.map(([name, member]) => [
      fieldElement(name),
      setFieldsOf(member, memberSchema(schema, name)),
    ]),
  );
}

/**
 * Whether a map is one value: it is atomic, and no struct of scalars. Such a one, as a reference to a
 * field of a Pod, is filled up by the server, so its members count one by one.
 */
export function isWholeMap(schema: Schema | undefined): boolean {
  if (schema?.['x-kubernetes-map-type'] !== 'atomic') return false;
  const { properties } = schema;
  if (properties === undefined) return true;
  return Object.values(properties).some(({ type }) => type === 'object' || type === 'array');
}

/** The schema of a member of an object: of a property, or of all others. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function fieldsOfList(list: readonly unknown[], schema: Schema | undefined): FieldsV1 {
  const entries = entriesByIdentity(list, schema);
  const named = entries ?? new Map(list.map((item, place) => [indexElement(place), item]));
  return Object.fromEntries(
    [...named].map(([element, item]) => [element, setFieldsOf(item, schema?.items)]),
  );
}
