import type { Schema } from '../../object/schema.js';
import type { FieldErrors } from '../validation/field-errors.js';

/** The position of a schema in its parent. */
export type SchemaLevel = 'root' | 'item' | 'field';

/** Parameters for checking one level. */
export interface KeywordCheck {
  readonly level: SchemaLevel;
  readonly field: string;
  readonly errors: FieldErrors;
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** JSON Schema keywords that CRDs do not support. */
const unsupported = ['additionalItems', 'definitions', 'dependencies', 'id', 'patternProperties'];

/** Checks the required and forbidden keywords of a structural schema, except junctors and lists. */
export function validateKeywords(schema: Schema, check: KeywordCheck): void {
  const { field, errors } = check;
  const given = schema as Readonly<Record<string, unknown>>;
  for (const keyword of [...unsupported, '$ref']) {
    if (given[keyword] === undefined) continue;
    errors.forbidden(`${field}.${keyword}`, `${keyword} is not supported`);
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.forbidden(`${field}.uniqueItems`, why);
  }
  if (schema.items === undefined && schema.type === 'array') {
    errors.required(`${field}.items`, 'must be specified');
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const at = `${field}.x-kubernetes-preserve-unknown-fields`;
    errors.invalid(at, false, 'must be true or undefined');
  }
  if (given['$ref'] === undefined) validateType(schema, check);
  validateAdditionalProperties(schema, check);
  validateIntOrString(schema, field, errors);
}

/** A structural schema has a type at every level. */
function validateType(schema: Schema, { level, field, errors }: KeywordCheck): void {
  const type = schema.type as string | undefined;
  const at = `${field}.type`;
  if (type !== undefined && !types.includes(type)) {
    if (type === 'null') {
      errors.forbidden(at, 'type cannot be set to null, use nullable as an alternative');
    }
    errors.notSupported(at, type, types);
  }
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

function validateAdditionalProperties(
  { additionalProperties, properties = {} }: Schema,
  { level, field, errors }: KeywordCheck,
): void {
  if (additionalProperties === undefined) return;
  const at = `${field}.additionalProperties`;
  if (additionalProperties !== true && Object.keys(properties).length > 0) {
    errors.forbidden(at, 'additionalProperties and properties are mutual exclusive');
  }
  if (level === 'root') errors.forbidden(at, 'must not be used at the root');
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
