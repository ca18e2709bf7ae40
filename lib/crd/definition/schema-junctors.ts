import type { Schema } from '../../object/schema.js';
import { deepEqual } from '../../object/deep-equal.js';
import { GoPattern, goPattern } from '../cel/go.js';
import type { FieldErrors } from '../validation/field-errors.js';

/** Structural keywords that are forbidden inside junctors, and the message for each. */
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
    if (isSaid(given[keyword])) errors.forbidden(`${field}.${keyword}`, why);
  }
  if (Object.hasOwn(properties, 'metadata')) {
    errors.forbidden(`${field}.properties[metadata]`, 'must not be specified in a nested context');
  }
}

function isSaid(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== false && value !== '';
}
