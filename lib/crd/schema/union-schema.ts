import omit from 'lodash/omit.js';
import { deepEqual } from '../../object/index.js';
import type { Schema } from '../../object/index.js';

/** Keywords that restrict values; allowed within `allOf`, `anyOf`, `oneOf` and `not`. */
const valueKeywords = [
  ...(['format', 'required', 'enum', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum'] as const),
  ...(['exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'minItems'] as const),
  ...(['maxItems', 'minProperties', 'maxProperties', 'allOf', 'anyOf', 'oneOf', 'not'] as const),
];

/** Returns the part of a schema that defines structure: types, members and Kubernetes' extensions. */
export function structureOf(schema: Schema): Schema {
  const structure: Schema = omit(schema, valueKeywords);
  if (schema['x-kubernetes-int-or-string'] === true) structure.anyOf = schema.anyOf ?? [];
  const { properties, items } = schema;
  if (properties !== undefined) structure.properties = mapValues(properties, structureOf);
  if (items !== undefined) structure.items = structureOf(items);
  return structure;
}

/** Returns the part of a schema that restricts values, without types. */
export function valuesOf(schema: Schema): Schema {
  const values: Record<string, unknown> = {};
  for (const keyword of valueKeywords) {
    if (schema[keyword] !== undefined) values[keyword] = schema[keyword];
  }
  if (schema['x-kubernetes-int-or-string'] === true) delete values['anyOf'];
  const members = Object.entries(schema.properties ?? {})
    .map(([name, property]) => [name, valuesOf(property)] as const)
    .filter(([, value]) => Object.keys(value).length > 0);
  if (members.length > 0) values['properties'] = Object.fromEntries(members);
  const items = schema.items && valuesOf(schema.items);
  if (items !== undefined && Object.keys(items).length > 0) values['items'] = items;
  return values;
}

/**
 * Merges two structures, so that the result has the members of both.
 * @returns why they can't be merged
 */
export function mergedStructure(one: Schema, other: Schema, path: string): Schema | string {
  const where = path === '' ? 'alternatives' : `alternatives at ${path}`;
  if (one.type !== undefined && other.type !== undefined && one.type !== other.type) {
    return `${where} have the types ${one.type} and ${other.type}: a field has one type`;
  }
  const properties: Record<string, Schema> = { ...one.properties };
  for (const [name, property] of Object.entries(other.properties ?? {})) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const merged =
      known === undefined
        ? property
        : mergedStructure(known, property, path === '' ? name : `${path}.${name}`);
    if (typeof merged === 'string') return merged;
    properties[name] = merged;
  }
  const [values, others] = [one.additionalProperties, other.additionalProperties];
  // Within alternatives, the values of maps can't be restricted.
  if (values !== undefined && others !== undefined && !deepEqual(values, others)) {
    return `${where} differ in additionalProperties: the values of a map have one schema`;
  }
  const [items, otherItems] = [one.items, other.items];
  const bothItems = items && otherItems && mergedStructure(items, otherItems, `${path}[]`);
  if (typeof bothItems === 'string') return bothItems;
  return {
    ...other,
    ...one,
    ...(bothItems !== undefined && { items: bothItems }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}

function mapValues(
  properties: Readonly<Record<string, Schema>>,
  map: (schema: Schema) => Schema,
): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, map(one)]));
}
