import { fieldElement, indexElement } from './field-path.js';
import { isJsonObject } from './json.js';
import type { FieldsV1 } from './kubernetes-object.js';
import { entriesByIdentity } from './list-keys.js';
import type { Schema } from './schema.js';

/**
 * Returns the paths that `value` sets, in the format of `managedFields`; null sets no path. List entries are
 * identified by their keys if the schema has some, else by their index. An atomic map has no paths below it.
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
 * Whether a map is one value: it is atomic, and not a struct of scalars. The server adds defaults to such
 * structs, for example a reference to a field of a Pod, so their members are separate values.
 */
export function isWholeMap(schema: Schema | undefined): boolean {
  if (schema?.['x-kubernetes-map-type'] !== 'atomic') return false;
  const { properties } = schema;
  if (properties === undefined) return true;
  return Object.values(properties).some(({ type }) => type === 'object' || type === 'array');
}

/** Returns the schema of a member: of the property, or of additional properties. */
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
