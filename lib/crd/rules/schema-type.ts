import type { Schema } from '../../object/schema.js';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  structType,
  timestampType,
} from '../cel/types.js';
import type { CelType } from '../cel/types.js';
import { escapeName } from './escape-name.js';

/** Adds the fields that rules can always read at the root of a resource. */
export function withTypeAndMeta(schema: Schema): Schema {
  const text: Schema = { type: 'string' };
  const { metadata } = schema.properties ?? {};
  const meta: Schema = {
    type: 'object',
    properties: { ...metadata?.properties, name: text, generateName: text },
  };
  return {
    ...schema,
    properties: { ...schema.properties, apiVersion: text, kind: text, metadata: meta },
  };
}

/**
 * Returns the CEL type of a schema's values; undefined if rules cannot read them, as with schemas that set
 * only `x-kubernetes-preserve-unknown-fields`.
 * @param name - names the type: objects at different places have different types
 */
export function schemaType(schema: Schema, name: string, isRoot = false): CelType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return dynType;
  const full = isRoot ? withTypeAndMeta(schema) : schema;
  switch (full.type) {
    case 'array': {
      const item = full.items && inner(full.items, `${name}.@idx`);
      return item && listType(item);
    }
    case 'object':
      return objectType(full, name);
    case 'string':
      return textTypes[full.format ?? ''] ?? stringType;
    case 'boolean':
      return boolType;
    case 'number':
      return doubleType;
    case 'integer':
      return intType;
    case undefined:
    default:
      return undefined;
  }
}

function inner(schema: Schema, name: string): CelType | undefined {
  return schemaType(schema, name, schema['x-kubernetes-embedded-resource'] === true);
}

const textTypes: Readonly<Partial<Record<string, CelType>>> = {
  byte: bytesType,
  duration: durationType,
  date: timestampType,
  'date-time': timestampType,
};

function objectType(schema: Schema, name: string): CelType | undefined {
  const { additionalProperties, properties = {} } = schema;
  if (typeof additionalProperties === 'object') {
    const value = inner(additionalProperties, `${name}.@elem`);
    return value && mapType(stringType, value);
  }
  const fields = new Map<string, CelType>();
  for (const [property, one] of Object.entries(properties)) {
    const escaped = escapeName(property);
    const type = escaped === undefined ? undefined : inner(one, `${name}.${property}`);
    if (escaped === undefined || type === undefined) continue;
    fields.set(escaped, type);
    // Keywords are also known by their unescaped name where the syntax permits it.
    if (escaped === `__${property}__`) fields.set(property, type);
  }
  return structType(name, fields);
}
