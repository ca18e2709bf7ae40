import { deepEqual, propertyOf } from '../../object/index.js';
import type { Schema, StatusCause } from '../../object/index.js';
import { GoPattern, goPattern } from '../cel/go.js';
import { validateRules } from '../rules/validate-rules.js';
import { FieldErrors } from '../validation/field-errors.js';
import { prune } from '../validation/prune.js';
import { validateSchema } from '../validation/validate-schema.js';
import { metaFields, validateMetaFields, validatePlace } from './schema-metadata.js';
import type { MetaPlace } from './schema-metadata.js';
import { preserves, unsupported } from './schema-parts.js';

/** The position of a schema in its parent. */
export type SchemaLevel = 'root' | 'item' | 'field';

/** Parameters for checking one level. */
interface KeywordCheck {
  readonly level: SchemaLevel;
  readonly field: string;
  readonly errors: FieldErrors;
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function forbidUnsupported(
  given: Readonly<Record<string, unknown>>,
  field: string,
  errors: FieldErrors,
): void {
  for (const keyword of unsupported) {
    if (given[keyword] === undefined) continue;
    errors.forbidden(`${field}.${keyword}`, `${keyword} is not supported`);
  }
}

/** Where to check a schema, and what it describes. */
interface CommonCheck {
  readonly field: string;
  readonly errors: FieldErrors;
  readonly place: MetaPlace;
}

/** Checks what applies to all schemas, including those within `allOf`, `anyOf`, `oneOf` and `not`. */
export function validateCommon(schema: Schema, { field, errors, place }: CommonCheck): void {
  const { type, properties = {}, additionalProperties } = schema;
  validatePlace(schema, place, field, errors);
  forbidUnsupported(schema as Readonly<Record<string, unknown>>, field, errors);
  if (Array.isArray(schema.items)) {
    errors.forbidden(`${field}.items`, 'items must be a schema object and not an array');
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.forbidden(`${field}.uniqueItems`, why);
  }
  if (schema[preserves] === false) {
    errors.invalid(`${field}.${preserves}`, false, 'must be true or undefined');
  }
  if (type !== undefined && !types.includes(type)) {
    if ((type as string) === 'null') {
      const why = 'type cannot be set to null, use nullable as an alternative';
      errors.forbidden(`${field}.type`, why);
    }
    errors.notSupported(`${field}.type`, type, types);
  }
  const isMap = additionalProperties !== undefined && additionalProperties !== true;
  if (isMap && Object.keys(properties).length > 0) {
    const why = 'additionalProperties and properties are mutual exclusive';
    errors.forbidden(`${field}.additionalProperties`, why);
  }
  validateSharing(schema, field, errors);
}

/**
 * Checks the required and forbidden keywords of a structural schema, except list keywords, `allOf`, `anyOf`, `oneOf`
 * and `not`.
 */
export function validateKeywords(schema: Schema, check: KeywordCheck): void {
  const { level, field, errors } = check;
  if (schema.items === undefined && schema.type === 'array') {
    errors.required(`${field}.items`, 'must be specified');
  }
  validateType(schema, check);
  if (level === 'root' && schema.additionalProperties !== undefined) {
    errors.forbidden(`${field}.additionalProperties`, 'must not be used at the root');
  }
  const isWhole = level === 'root';
  if (isWhole || schema['x-kubernetes-embedded-resource'] === true) {
    validateMetaFields(schema, isWhole, field, errors);
  }
  validateIntOrString(schema, field, errors);
}

/** A structural schema has a type at every level. */
function validateType(schema: Schema, { level, field, errors }: KeywordCheck): void {
  const type = schema.type as string | undefined;
  const at = `${field}.type`;
  if (schema['x-kubernetes-embedded-resource'] === true) {
    validateEmbedded(schema, field, errors);
    if (type !== 'object') return;
  }
  const untyped =
    type === undefined &&
    schema['x-kubernetes-int-or-string'] !== true &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true;
  if (level === 'root' && type === undefined) {
    errors.required(at, 'must not be empty at the root');
  } else if (level === 'root' && type !== 'object') {
    errors.invalid(at, type, 'must be object at the root');
  } else if (untyped) {
    const what = level === 'item' ? 'array items' : 'object fields';
    errors.required(at, `must not be empty for specified ${what}`);
  }
}

function validateEmbedded(schema: Schema, field: string, errors: FieldErrors): void {
  const { type, properties = {}, additionalProperties } = schema;
  const isEmbedded = 'x-kubernetes-embedded-resource is';
  const why = `must be object if ${isEmbedded} true`;
  if (type === undefined) errors.required(`${field}.type`, why);
  else if (type !== 'object') errors.invalid(`${field}.type`, type, why);
  if (additionalProperties !== undefined) {
    errors.forbidden(`${field}.additionalProperties`, `must not be used if ${isEmbedded} set`);
  }
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (!preserves && Object.keys(properties).length === 0) {
    const missing = `must not be empty if ${isEmbedded} true without x-kubernetes-preserve-unknown-fields`;
    errors.required(`${field}.properties`, missing);
  }
}

function validateIntOrString(schema: Schema, field: string, errors: FieldErrors): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return;
  for (const keyword of [
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-embedded-resource',
  ] as const) {
    if (schema[keyword] !== true) continue;
    errors.invalid(
      `${field}.${keyword}`,
      true,
      'must be false if x-kubernetes-int-or-string is true',
    );
  }
}

/** Checks `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`. */
function validateSharing(schema: Schema, field: string, errors: FieldErrors): void {
  const listType = schema['x-kubernetes-list-type'];
  const mapType = schema['x-kubernetes-map-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (mapType !== undefined) {
    checkType(schema, { keyword: 'x-kubernetes-map-type', type: 'object', field, errors });
    const supported = ['atomic', 'granular'];
    errors.oneOf(`${field}.x-kubernetes-map-type`, mapType, supported);
  }
  if (keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    if (listType === undefined) errors.required(`${field}.x-kubernetes-list-type`, why);
    else errors.invalid(`${field}.x-kubernetes-list-type`, listType, why);
  }
  if (listType === undefined) return;
  checkType(schema, { keyword: 'x-kubernetes-list-type', type: 'array', field, errors });
  const supported = ['atomic', 'set', 'map'];
  errors.oneOf(`${field}.x-kubernetes-list-type`, listType, supported);
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

/** Checks that the items of a set are atomic: each is compared as a whole and has one owner. */
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
  const { required = [] } = items;
  const property = propertyOf(items, key);
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

/** Structural keywords that are forbidden inside `allOf`, `anyOf`, `oneOf` and `not`, and the message for each. */
const structural = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
] as const;

const intOrString: readonly Schema[] = [{ type: 'integer' }, { type: 'string' }];

/**
 * Checks the pattern of a schema and its `allOf`, `anyOf`, `oneOf` and `not`. These may only restrict values.
 * The exception is int-or-string, in `anyOf` or in the first `allOf`.
 */
export function validateJunctors(schema: Schema, field: string, errors: FieldErrors): void {
  const [first] = schema.allOf ?? [];
  const skip = {
    anyOf: deepEqual(schema.anyOf, intOrString),
    firstAllOf: deepEqual(first?.anyOf, intOrString),
  };
  validateValues(schema, { field, errors, skip });
}

interface At {
  readonly field: string;
  readonly errors: FieldErrors;
  /** Skips the int-or-string exceptions. */
  readonly skip: { readonly anyOf: boolean; readonly firstAllOf: boolean };
}

const nothing = { anyOf: false, firstAllOf: false };

function validateValues(schema: Schema, { field, errors, skip }: At): void {
  const { allOf = [], anyOf = [], oneOf = [], not, pattern } = schema;
  const nested = (one: Schema, path: string, skipped = nothing): void =>
    validateNested(one, { field: `${field}.${path}`, errors, skip: skipped });
  if (!skip.anyOf) for (const [index, one] of anyOf.entries()) nested(one, `anyOf[${index}]`);
  for (const [index, one] of allOf.entries()) {
    nested(one, `allOf[${index}]`, { ...nothing, anyOf: skip.firstAllOf && index === 0 });
  }
  for (const [index, one] of oneOf.entries()) nested(one, `oneOf[${index}]`);
  if (not !== undefined) nested(not, 'not');
  if (pattern === undefined) return;
  const compiled = goPattern(pattern);
  if (compiled instanceof GoPattern) return;
  const why = `must be a valid regular expression, but isn't: ${compiled.message}`;
  errors.invalid(`${field}.pattern`, pattern, why);
}

function validateNested(schema: Schema, at: At): void {
  const { field, errors } = at;
  validateValues(schema, at);
  const { items, properties = {} } = schema;
  if (items !== undefined) {
    validateNested(items, { errors, field: `${field}.items`, skip: nothing });
  }
  for (const [name, one] of Object.entries(properties)) {
    validateNested(one, { errors, field: `${field}.properties[${name}]`, skip: nothing });
  }
  const given = schema as Readonly<Record<string, unknown>>;
  for (const [keyword, why] of structural) {
    if (isSaid(given[keyword], keyword)) errors.forbidden(`${field}.${keyword}`, why);
  }
  if (Object.hasOwn(properties, 'metadata')) {
    errors.forbidden(`${field}.properties[metadata]`, 'must not be specified in a nested context');
  }
}

function isSaid(value: unknown, keyword: string): boolean {
  // These fields are pointers in Go, so that an empty value counts as set.
  const isPointer = ['default', 'x-kubernetes-list-type', 'x-kubernetes-map-type'].includes(
    keyword,
  );
  if (isPointer) return value !== undefined && value !== null;
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== false && value !== '';
}

interface DefaultCheck {
  readonly field: string;
  readonly errors: FieldErrors;
  /**
   * Accepts, as the API server does, repeated items of a set or keys of a map list, and any default within the
   * values of a map.
   */
  readonly looseDefaults: boolean;
  /** Whether the schema is within apiVersion, kind or metadata, whose fields the API server defines itself. */
  readonly insideMeta: boolean;
}

/**
 * Checks that the defaults of a schema and its subschemas have the right form and no unknown fields, and satisfy the
 * rules. The schema must be sound otherwise.
 */
export function validateDefaults(schema: Schema, check: DefaultCheck): void {
  // A null default counts as absent.
  if ((schema.default ?? null) !== null) validateDefault(schema, check);
  const { items, properties = {}, additionalProperties } = schema;
  const isObject = schema['x-kubernetes-embedded-resource'] === true;
  const outer = check.insideMeta && !isObject;
  const inner = (part: Schema, path: string, insideMeta = outer): void =>
    validateDefaults(part, { ...check, field: `${check.field}.${path}`, insideMeta });
  if (items !== undefined) inner(items, 'items');
  for (const [name, one] of Object.entries(properties)) {
    inner(one, `properties[${name}]`, outer || (isObject && metaFields.includes(name)));
  }
  if (typeof additionalProperties !== 'object' || check.looseDefaults) return;
  inner(additionalProperties, 'additionalProperties');
}

function validateDefault(schema: Schema, check: DefaultCheck): void {
  const { field, errors, looseDefaults, insideMeta } = check;
  const { default: value } = schema;
  const at = `${field}.default`;
  const add = (cause: StatusCause, beforeIndex: string): void => {
    const { field: inner = '' } = cause;
    const isIndex = inner.startsWith('[');
    const separator = inner === '' || inner.startsWith('.') ? '' : isIndex ? beforeIndex : '.';
    errors.causes.push({ ...cause, field: `${at}${separator}${inner}` });
  };
  if (!insideMeta && prune(value, schema).unknownFields.length > 0) {
    errors.invalid(at, value, 'must not have unknown fields');
  }
  const form = new FieldErrors();
  validateSchema(value, { schema, path: '', errors: form });
  const found = form.causes.filter(({ reason }) => !(looseDefaults && reason === duplicate));
  // The API server writes a dot before the index of a default's item (`default.[0]`), except for rules.
  for (const cause of found) add(cause, '.');
  if (found.length > 0) return;
  const rules = new FieldErrors();
  const isRoot = schema['x-kubernetes-embedded-resource'] === true;
  const whole = { schema, path: '', errors: rules, isRoot };
  // Checks the default as an unchanged value first, then as a new one.
  validateRules(value, { ...whole, old: value });
  if (rules.empty) validateRules(value, whole);
  for (const cause of rules.causes) add(cause, '');
}

const duplicate = 'FieldValueDuplicate';
