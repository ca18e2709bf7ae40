import type { Schema } from '../../object/schema.js';
import type { FieldErrors } from '../validation/field-errors.js';

/** Checks `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`. */
export function validateSharing(schema: Schema, field: string, errors: FieldErrors): void {
  const listType = schema['x-kubernetes-list-type'];
  const mapType = schema['x-kubernetes-map-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (mapType !== undefined) {
    checkType(schema, { keyword: 'x-kubernetes-map-type', type: 'object', field, errors });
    const supported = ['atomic', 'granular'];
    if (!supported.includes(mapType)) {
      errors.notSupported(`${field}.x-kubernetes-map-type`, mapType, supported);
    }
  }
  if (keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    if (listType === undefined) errors.required(`${field}.x-kubernetes-list-type`, why);
    else errors.invalid(`${field}.x-kubernetes-list-type`, listType, why);
  }
  if (listType === undefined) return;
  checkType(schema, { keyword: 'x-kubernetes-list-type', type: 'array', field, errors });
  const supported = ['atomic', 'map', 'set'];
  if (!supported.includes(listType)) {
    errors.notSupported(`${field}.x-kubernetes-list-type`, listType, supported);
  }
  if (listType === 'set') validateSet(schema, field, errors);
  if (listType === 'map') validateMapList(schema, field, errors);
}

interface TypeCheck {
  readonly keyword: string;
  readonly type: Schema['type'];
  readonly field: string;
  readonly errors: FieldErrors;
}

function checkType(schema: Schema, { keyword, type = 'object', field, errors }: TypeCheck): void {
  if (schema.type === type) return;
  const why = `must be ${type} if ${keyword} is specified`;
  if (schema.type === undefined) errors.required(`${field}.type`, why);
  else errors.invalid(`${field}.type`, schema.type, why);
}

/** Set entries are compared as a whole, and each has one owner. */
function validateSet({ type, items }: Schema, field: string, errors: FieldErrors): void {
  if (items === undefined || type !== 'array') return;
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.invalid(`${field}.items.x-kubernetes-list-type`, listType, why);
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    // The API server reports the list type as the value here.
    errors.invalid(`${field}.items.x-kubernetes-map-type`, listType, why);
  }
  if (items.nullable === true) {
    const never = 'cannot be nullable when x-kubernetes-list-type is set';
    errors.forbidden(`${field}.items.nullable`, never);
  }
}

function validateMapList(schema: Schema, field: string, errors: FieldErrors): void {
  const { items } = schema;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = `${field}.x-kubernetes-list-map-keys`;
  const isMap = 'x-kubernetes-list-type is map';
  if (keys.length === 0) errors.required(at, `must not be empty if ${isMap}`);
  if (items === undefined) {
    if (schema.type !== 'array')
      errors.required(`${field}.items`, `must have a schema if ${isMap}`);
    return;
  }
  if (items.nullable === true) {
    errors.forbidden(`${field}.items.nullable`, `cannot be nullable when ${isMap}`);
  }
  if (items.type !== 'object') {
    const why = `must be object if parent array's ${isMap}`;
    errors.invalid(`${field}.items.type`, items.type ?? '', why);
    return;
  }
  for (const [index, key] of keys.entries()) {
    if (keys.indexOf(key) !== index) {
      errors.invalid(at, keys, 'must not contain duplicate entries');
    } else validateKey(items, { key, keys, field, errors });
  }
}

interface KeyCheck {
  readonly key: string;
  readonly keys: readonly string[];
  readonly field: string;
  readonly errors: FieldErrors;
}

function validateKey(items: Schema, { key, keys, field, errors }: KeyCheck): void {
  const { properties = {}, required = [] } = items;
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) {
    const why = 'entries must all be names of item properties';
    errors.invalid(`${field}.x-kubernetes-list-map-keys`, keys, why);
    return;
  }
  const at = `${field}.items.properties[${key}]`;
  const isKey = 'this property is in x-kubernetes-list-map-keys, so it';
  if (property.type === 'array' || property.type === 'object') {
    const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    // The API server reports the type of the entries as the value here.
    errors.invalid(`${at}.type`, items.type, why);
  }
  if (property.nullable === true) errors.forbidden(`${at}.nullable`, `${isKey} cannot be nullable`);
  if (!required.includes(key) && (property.default ?? null) === null) {
    errors.required(`${at}.default`, `${isKey} must have a default or be a required property`);
  }
}
