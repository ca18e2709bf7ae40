import { isJsonObject } from '../../object/json.js';
import { DecodeError } from './decoding.js';
import type { GoType } from './go-type.js';

// The union types in a CRD's schema: Go picks the branch by the first character.

/** Returns the type `JSONSchemaPropsOrBool`. */
export function schemaOrBoolType(schema: GoType): GoType {
  return {
    name: 'v1.JSONSchemaPropsOrBool',
    decode: (value, at) => {
      if (typeof value === 'boolean') return value;
      if (!isJsonObject(value)) throw new DecodeError('boolean or JSON schema expected');
      return schema.decode(value, at);
    },
    zero: () => false,
    isEmpty: () => false,
  };
}

/** Returns the type `JSONSchemaPropsOrArray`. */
export function schemaOrArrayType(schema: GoType): GoType {
  return {
    name: 'v1.JSONSchemaPropsOrArray',
    decode: (value, at) => {
      if (Array.isArray(value)) return value.map((one: unknown) => schema.decode(one, at));
      return isJsonObject(value) ? schema.decode(value, at) : null;
    },
    zero: () => null,
    isEmpty: () => false,
  };
}

/** Returns the type `JSONSchemaPropsOrStringArray`. */
export function schemaOrStringsType(schema: GoType): GoType {
  return {
    name: 'v1.JSONSchemaPropsOrStringArray',
    decode: (value, at) => {
      if (Array.isArray(value)) return value as unknown[];
      return isJsonObject(value) ? schema.decode(value, at) : null;
    },
    zero: () => null,
    isEmpty: () => false,
  };
}
