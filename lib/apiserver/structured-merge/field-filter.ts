import type { FieldSet } from '../../object/field-set.js';

/**
 * Picks the fields of `set` that may be owned through an endpoint.
 * @param apiVersion - The version that the fields are of.
 */
export type FieldFilter = (set: FieldSet, apiVersion: string) => FieldSet;
