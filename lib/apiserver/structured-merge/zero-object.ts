import { isJsonObject, memberOf, setMember } from '../../object/json.js';
import type { Schema } from '../../object/schema.js';

const zeros = new WeakMap<Schema, Readonly<Record<string, unknown>>>();

/**
 * Returns the zero value of a built-in kind's Go struct as JSON, which a create starts from:
 * non-pointer structs exist, and required lists and maps are null. The creator does not own these
 * fields.
 */
export function zeroObject(schema: Schema | undefined): Readonly<Record<string, unknown>> {
  if (schema === undefined) return {};
  const known = zeros.get(schema);
  if (known !== undefined) return known;
  const zero = zeroStruct(schema);
  zeros.set(schema, zero);
  return zero;
}

function zeroStruct(schema: Schema): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  const zero: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) {
    const property = memberOf(properties, name) as Schema;
    const value = zeroOf(property, required.includes(name));
    if (value !== undefined) setMember(zero, name, value);
  }
  return zero;
}

function zeroOf(schema: Schema, required: boolean): unknown {
  const type = schema.type ?? schema.allOf?.[0]?.type;
  // The generator gives every non-pointer struct the default `{}`: it always exists.
  if (type === 'object' && isJsonObject(schema.default)) {
    return zeroStruct(schema.allOf?.[0] ?? schema);
  }
  if (!required) return undefined;
  return type === 'object' || type === 'array' ? null : schema.default;
}
