import { deepEqual } from '../../object/deep-equal.js';
import type { FieldErrors } from './field-errors.js';

/** Checks that an immutable field has not changed. */
export function validateImmutable(
  change: { readonly field: string; readonly value: unknown; readonly old: unknown },
  errors: FieldErrors,
): void {
  const { field, value, old } = change;
  if (!deepEqual(value, old)) errors.invalid(field, value, 'field is immutable');
}
