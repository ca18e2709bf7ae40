import { isJsonObject } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { textOfPattern } from './pattern-text.js';

/** A deeper schema counts as recursive: its fields are omitted. */
const maxDepth = 20;

/**
 * Returns a minimal value of a structural schema: required fields, and those with a default. Ignores CEL
 * rules and unusual patterns; validate the value before use.
 */
export function minimalValue(schema: Schema, depth = 0): unknown {
  const whole = joined(schema);
  const { default: byDefault, enum: choices = [], type = 'object' } = whole;
  if (byDefault !== undefined) return byDefault;
  if (choices.length > 0) return choices[0];
  if (whole['x-kubernetes-int-or-string'] === true) return 1;
  if (whole['x-kubernetes-embedded-resource'] === true) {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample' } };
  }
  switch (type) {
    case 'string':
      return textOf(whole);
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return numberOf(whole);
    case 'array':
      return itemsOf(whole, depth);
    case 'object':
      return fieldsOf(whole, depth);
  }
}

/**
 * Merges the schema with all of `allOf` and one of `anyOf` and `oneOf`.
 * @param pick - chooses the schemas of `anyOf` and of `oneOf`. @defaultValue picks the first
 */
export function joined(
  schema: Schema,
  pick: (branches: readonly Schema[]) => readonly Schema[] = (branches) => branches.slice(0, 1),
): Schema {
  const { allOf = [], anyOf = [], oneOf = [] } = schema;
  const parts = [...allOf, ...pick(anyOf), ...pick(oneOf)].map((part) => joined(part, pick));
  return parts.reduce(joinedWith, schema);
}

function joinedWith(one: Schema, other: Schema): Schema {
  const properties = { ...one.properties };
  for (const [name, property] of Object.entries(other.properties ?? {})) {
    properties[name] = joinedWith(properties[name] ?? {}, property);
  }
  const required = [...(one.required ?? []), ...(other.required ?? [])];
  return { ...other, ...one, properties, required };
}

function numberOf({ minimum, maximum, multipleOf, ...rest }: Schema): number {
  const step = multipleOf ?? 1;
  const least = minimum ?? Math.min(step, maximum ?? step);
  const first = Math.ceil(least / step) * step;
  const isExcluded = rest.exclusiveMinimum === true && first === minimum;
  return isExcluded ? first + step : first;
}

/** Sample strings of common formats. */
export const formatSamples: Readonly<Record<string, string>> = {
  byte: 'c2FtcGxl',
  cidr: '10.0.0.0/24',
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  datetime: '2026-01-01T00:00:00Z',
  duration: '1h',
  email: 'sample@example.com',
  hostname: 'sample.example.com',
  ipv4: '10.0.0.1',
  ipv6: 'fd00::1',
  mac: '00:00:5e:00:53:01',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function textOf(schema: Schema): string {
  const { format = '', pattern, minLength = 0, maxLength = Infinity } = schema;
  const usual = formatSamples[format];
  if (usual !== undefined) return usual;
  const plain = 'sample'.padEnd(minLength, 'x').slice(0, maxLength);
  if (pattern === undefined) return plain;
  return textOfPattern(pattern, { candidates: [plain], minLength, maxLength }) ?? plain;
}

function itemsOf(schema: Schema, depth: number): readonly unknown[] {
  const { minItems = 0, items = {} } = schema;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return Array.from({ length: minItems }, (_, index) => {
    const { enum: choices = [] } = items;
    if (choices[index] !== undefined) return choices[index];
    const item = minimalValue(items, depth + 1);
    if (index === 0 || !isUnique(schema)) return item;
    if (!isJsonObject(item)) return distinct(item, index);
    const [key = ''] = keys;
    return { ...item, [key]: distinct(item[key], index) };
  });
}

function isUnique({ uniqueItems, ...schema }: Schema): boolean {
  return uniqueItems === true || ['set', 'map'].includes(schema['x-kubernetes-list-type'] ?? '');
}

function distinct(value: unknown, index: number): unknown {
  if (typeof value === 'number') return value + index;
  return typeof value === 'string' ? `${value}${index}` : value;
}

function fieldsOf(schema: Schema, depth: number): Readonly<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema;
  const fields: Record<string, unknown> = {};
  if (depth > maxDepth) return fields;
  for (const [name, property] of Object.entries(properties)) {
    const isWanted = required.includes(name) || property.default !== undefined;
    if (isWanted) fields[name] = minimalValue(property, depth + 1);
  }
  const values = typeof additionalProperties === 'object' ? additionalProperties : {};
  const free = ['sample', ...Array.from({ length: minProperties }, (_, index) => `sample${index}`)];
  const more = additionalProperties === undefined ? Object.keys(properties) : free;
  for (const name of more) {
    if (Object.keys(fields).length >= minProperties) break;
    fields[name] ??= minimalValue(properties[name] ?? values, depth + 1);
  }
  return fields;
}
