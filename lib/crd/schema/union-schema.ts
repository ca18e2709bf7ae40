import mapValues from 'lodash/mapValues.js';
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
 * Returns a schema that also accepts null. The API server refuses null by an enum, even one that lists null, but
 * does not apply `allOf` to it.
 */
export function withNull<S extends Schema>(schema: S): S {
  const { enum: values, allOf = [], ...rest } = schema;
  if (values === undefined) return { ...schema, nullable: true };
  return { ...rest, nullable: true, allOf: [...allOf, { enum: values }] } as unknown as S;
}

/** Reverses {@link withNull}: returns a schema with its enum next to the type, where readers of schemas expect it. */
export function withOwnEnum(schema: Schema): Schema {
  const { allOf = [], ...rest } = schema;
  const isEnum = (part: Schema): boolean => Object.keys(part).join() === 'enum';
  const listed = allOf.find(isEnum);
  if (schema.nullable !== true || schema.enum !== undefined || listed === undefined) return schema;
  const others = allOf.filter((part) => part !== listed);
  return { ...rest, ...listed, ...(others.length > 0 && { allOf: others }) };
}

/** Returns whether a schema names no field of its objects. */
export function isFreeObject(schema: Schema): boolean {
  const { type, properties, additionalProperties } = schema;
  const isNamed = properties !== undefined || additionalProperties !== undefined;
  const isPreserving = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isWhole = schema['x-kubernetes-embedded-resource'] === true;
  return type === 'object' && !isNamed && !isPreserving && !isWhole;
}

/** Returns whether the objects of a schema may have any further field. */
function isExtensible(schema: Schema): boolean {
  return isFreeObject(schema) || schema['x-kubernetes-preserve-unknown-fields'] === true;
}

/** Returns a schema of the same field without a type. */
function opened({ description, default: value }: Schema): Schema {
  return {
    'x-kubernetes-preserve-unknown-fields': true,
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
  };
}

/** Returns whether a schema leaves the type of its values open. */
function isOpen(schema: Schema): boolean {
  return schema.type === undefined && schema['x-kubernetes-preserve-unknown-fields'] === true;
}

/** Returns the first place where the values of two schemas have different types; undefined if all have the same. */
export function differingType(one: Schema, other: Schema, path = ''): string | undefined {
  const keywords = ['type', 'x-kubernetes-int-or-string', 'nullable'] as const;
  if (keywords.some((keyword) => one[keyword] !== other[keyword])) return path;
  const inner = (a: Schema | undefined, b: Schema | undefined, at: string): string | undefined =>
    a === undefined || b === undefined ? undefined : differingType(a, b, at);
  const members = Object.entries(one.properties ?? {}).map(([name, property]) =>
    inner(property, other.properties?.[name], path === '' ? name : `${path}.${name}`),
  );
  const [values, others] = [one.additionalProperties, other.additionalProperties];
  const areMaps = typeof values === 'object' && typeof others === 'object';
  return [
    ...members,
    inner(one.items, other.items, `${path}[]`),
    areMaps ? inner(values, others, `${path}.*`) : undefined,
  ].find((found) => found !== undefined);
}

/**
 * Merges two structures, so that the result has the members of both.
 * @param areAlternatives - whether a value satisfies at least one of the structures; false: it satisfies both
 * @returns why they can't be merged
 */
export function mergedStructure(
  one: Schema,
  other: Schema,
  { path, areAlternatives }: { readonly path: string; readonly areAlternatives: boolean },
): Schema | string {
  const where = path === '' ? 'alternatives' : `alternatives at ${path}`;
  const defaults = [one.default, other.default].filter((value) => value !== undefined);
  const isOneOfBoth = defaults.length === 1 && areAlternatives && path !== '';
  if (isOneOfBoth || (defaults.length === 2 && !deepEqual(one.default, other.default))) {
    return `${where} differ in the default: a field has one default`;
  }
  if (one.type !== undefined && other.type !== undefined && one.type !== other.type) {
    return `${where} have the types ${one.type} and ${other.type}: a field has one type`;
  }
  const isOneOpen = isOpen(one) !== isOpen(other);
  // One of the alternatives allows values of any type, and so does the result.
  if (isOneOpen && areAlternatives) return isOpen(one) ? one : other;
  // If one alternative allows any further field, a field that only the other one names may have a value of any type.
  const ofOne = (name: string, property: Schema): Schema =>
    areAlternatives && isExtensible(other) && !Object.hasOwn(other.properties ?? {}, name)
      ? opened(property)
      : property;
  const ofOther = areAlternatives && isExtensible(one) ? opened : (property: Schema) => property;
  const properties: Record<string, Schema> = mapValues({ ...one.properties }, (property, name) =>
    ofOne(name, property),
  );
  for (const [name, property] of Object.entries(other.properties ?? {})) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const merged =
      known === undefined
        ? ofOther(property)
        : mergedStructure(known, property, {
            ...{ path: path === '' ? name : `${path}.${name}`, areAlternatives },
          });
    if (typeof merged === 'string') return merged;
    properties[name] = merged;
  }
  const [values, others] = [one.additionalProperties, other.additionalProperties];
  const isOneMap = (values === undefined) !== (others === undefined);
  // Within alternatives, the values of maps can't be restricted.
  if (isOneMap ? areAlternatives : !deepEqual(values, others)) {
    return `${where} differ in additionalProperties: the values of a map have one schema`;
  }
  const [items, otherItems] = [one.items, other.items];
  const inItems = { path: `${path}[]`, areAlternatives };
  const bothItems = items && otherItems && mergedStructure(items, otherItems, inItems);
  if (typeof bothItems === 'string') return bothItems;
  const areObjects = one.type === 'object' && other.type === 'object';
  // If only one alternative names fields, the other one allows any field, so unknown fields must not be pruned.
  const isFree = areAlternatives && areObjects && isFreeObject(one) !== isFreeObject(other);
  // If only one structure names a type, values have it, and that structure determines whether unknown fields are kept.
  const closed = (schema: Schema): Schema =>
    isOneOpen && isOpen(schema) ? omit(schema, ['x-kubernetes-preserve-unknown-fields']) : schema;
  return {
    ...closed(other),
    ...closed(one),
    ...(isFree && { 'x-kubernetes-preserve-unknown-fields': true }),
    ...(bothItems !== undefined && { items: bothItems }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}
