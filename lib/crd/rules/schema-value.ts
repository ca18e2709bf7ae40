import { isJsonObject } from '../../object/json.js';
import type { Schema } from '../../object/schema.js';
import { parseDay, parseOpenApiDuration, parseTimestamp } from '../cel/times.js';
import { CelError, CelList, CelOpaque } from '../cel/values.js';
import type { CelMap, CelValue } from '../cel/values.js';
import { deepEqual } from '../../object/deep-equal.js';
import { memberSchema } from '../validation/prune.js';
import { escapeName } from './escape-name.js';
import { withTypeAndMeta } from './schema-type.js';

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
      if (Number.isInteger(value)) return BigInt(value as number);
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
  if (type !== 'map') return new CelList(values);
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

/** Rules can only compare values of an unknown schema. */
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
    const own = properties === undefined ? open : (memberSchema(properties, name) ?? unknownSchema);
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
