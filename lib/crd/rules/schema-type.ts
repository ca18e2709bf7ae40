import { deepEqual, isJsonObject, propertyOf } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { parseDay, parseOpenApiDuration, parseTimestamp } from '../cel/times.js';
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
import { CelError, CelList, CelOpaque } from '../cel/values.js';
import type { CelMap, CelValue } from '../cel/values.js';
import { isInt64 } from '../validation/numbers.js';

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
    // A rule may also use the unescaped name of a keyword, where the syntax permits it.
    if (escaped === `__${property}__`) fields.set(property, type);
  }
  return structType(name, fields);
}

/**
 * Converts JSON to a CEL value by its schema: numbers have the schema's type, times are timestamps, members
 * have escaped names. Converts nested values on access.
 * @throws CelError the value does not fit the schema
 */
export function schemaValue(value: unknown, schema: Schema): CelValue {
  if (value === null || value === undefined) {
    if (schema.nullable === true) return null;
    throw new CelError('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString(value);
  switch (schema.type) {
    case 'object':
      if (isJsonObject(value)) return new ObjectValue(value, schema);
      throw new CelError('invalid data, expected a map for the provided schema with type=object');
    case 'array':
      return listOf(value, schema);
    case 'string':
      return textOf(value, schema.format);
    case 'number':
      if (typeof value === 'number') return value;
      throw new CelError(`invalid data, expected float, got ${typeof value}`);
    case 'integer':
      if (typeof value === 'number' && isInt64(value)) return BigInt(value);
      throw new CelError(`invalid data, expected int, got ${typeof value}`);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw new CelError(`invalid data, expected bool, got ${typeof value}`);
    case undefined:
    default:
      return new CelOpaque('unknown', value, (other) => deepEqual(value, other));
  }
}

function intOrString(value: unknown): CelValue {
  if (typeof value === 'string') return value;
  if (Number.isInteger(value)) return BigInt(value as number);
  throw new CelError('invalid data, expected XIntOrString value to be either a string or integer');
}

function listOf(value: unknown, schema: Schema): CelList {
  const { items } = schema;
  if (!Array.isArray(value)) {
    throw new CelError('invalid data, expected an array for the provided schema with type=array');
  }
  if (items === undefined) {
    throw new CelError('invalid array type, expected Items with a non-empty Schema');
  }
  const values = value.map((item: unknown) => schemaValue(item, items));
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return new CelList(values, 'set');
  if (type !== 'map') return new CelList(values, 'atomic');
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return new CelList(values, { keys: keys.map((key) => escapeName(key) ?? key) });
}

function textOf(value: unknown, format: string | undefined): CelValue {
  if (typeof value !== 'string') {
    throw new CelError(`invalid data, expected string, got ${typeof value}`);
  }
  switch (format) {
    case 'duration':
      return parseOpenApiDuration(value) ?? unreadable(`Invalid duration ${value}`);
    case 'date':
      return parseDay(value) ?? unreadable(`Invalid date formatted string ${value}`);
    case 'date-time':
      return parseTimestamp(value) ?? unreadable(`Invalid date-time formatted string ${value}`);
    case 'byte':
      return new Uint8Array(Buffer.from(value, 'base64'));
    case undefined:
    default:
      return value;
  }
}

function unreadable(message: string): never {
  throw new CelError(message);
}

/** The schema for values of unknown form: rules can only compare such values. */
const unknownSchema: Schema = {};

/** A JSON object in a rule. */
class ObjectValue implements CelMap {
  readonly isMap = true;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #schema: Schema;

  constructor(value: Readonly<Record<string, unknown>>, schema: Schema) {
    this.#value = value;
    const embedded = schema['x-kubernetes-embedded-resource'] === true;
    this.#schema = embedded ? withTypeAndMeta(schema) : schema;
  }

  get size(): number {
    return Object.keys(this.#value).length;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') throw new CelError('no such overload');
    const { properties, additionalProperties } = this.#schema;
    const open = typeof additionalProperties === 'object' ? additionalProperties : unknownSchema;
    const name = properties === undefined ? key : unescapeName(key, properties);
    if (name === undefined || !Object.hasOwn(this.#value, name)) return undefined;
    const value = this.#value[name];
    // In an object, null counts as absent; in a map it is a value.
    if (value === null && properties !== undefined) return undefined;
    const own = properties === undefined ? open : (propertyOf(this.#schema, name) ?? unknownSchema);
    return value === null && own === unknownSchema ? null : schemaValue(value, own);
  }

  keys(): readonly CelValue[] {
    const names = Object.keys(this.#value);
    if (this.#schema.properties === undefined) return names;
    return names.flatMap((name) => escapeName(name) ?? []);
  }
}

function unescapeName(
  escaped: string,
  properties: Readonly<Record<string, Schema>>,
): string | undefined {
  if (!escaped.includes('__')) return escaped;
  return Object.keys(properties).find((name) => escapeName(name) === escaped);
}

const reserved = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function'],
  ...['if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

const signs: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/**
 * Returns the name of a property in rules: `__namespace__` for `namespace`, `a__dash__b` for `a-b`; undefined
 * if rules cannot refer to it. See "Validation rules" in Kubernetes' documentation.
 */
export function escapeName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[-./]/g, (sign) => signs[sign] ?? sign);
}
