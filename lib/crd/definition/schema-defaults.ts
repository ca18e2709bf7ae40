import type { Schema } from '../../object/schema.js';
import { validateRules } from '../rules/validate-rules.js';
import { FieldErrors } from '../validation/field-errors.js';
import { prune } from '../validation/prune.js';
import { validateSchema } from '../validation/validate-schema.js';

/**
 * Checks that the defaults of a schema and its subschemas have the right form, no unknown fields, and satisfy
 * the rules. The schema must be sound otherwise.
 */
export function validateDefaults(schema: Schema, field: string, errors: FieldErrors): void {
  // A null default counts as absent.
  if ((schema.default ?? null) !== null) validateDefault(schema, `${field}.default`, errors);
  const { items, properties = {}, additionalProperties } = schema;
  if (items !== undefined) validateDefaults(items, `${field}.items`, errors);
  for (const [name, one] of Object.entries(properties)) {
    validateDefaults(one, `${field}.properties[${name}]`, errors);
  }
  if (typeof additionalProperties === 'object') {
    validateDefaults(additionalProperties, `${field}.additionalProperties`, errors);
  }
}

function validateDefault(schema: Schema, field: string, errors: FieldErrors): void {
  const { default: value } = schema;
  if (prune(value, schema).unknownFields.length > 0) {
    errors.invalid(field, value, 'must not have unknown fields');
  }
  const own = new FieldErrors();
  validateSchema(value, { schema, path: '', errors: own });
  if (own.empty) {
    const isRoot = schema['x-kubernetes-embedded-resource'] === true;
    const check = { schema, path: '', errors: own, isRoot };
    // Checks the default as an unchanged value first, then as a new one.
    validateRules(value, { ...check, old: value });
    if (own.causes.length === 0) validateRules(value, check);
  }
  for (const cause of own.causes) {
    const { field: inner = '' } = cause;
    const separator = inner === '' || inner.startsWith('[') ? '' : '.';
    errors.causes.push({ ...cause, field: `${field}${separator}${inner}` });
  }
}
