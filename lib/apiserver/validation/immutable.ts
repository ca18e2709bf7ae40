import { deepEqual } from '../../object/deep-equal.js';
import type { FieldErrors } from './field-errors.js';

/** A field that may not change. */
export function validateImmutable(
  change: { readonly field: string; readonly value: unknown; readonly old: unknown },
  errors: FieldErrors,
): void {
  const { field, value, old } = change;
  if (!deepEqual(value, old)) errors.invalid(field, value, 'field is immutable');
}
