/*
 * Managed fields and server-side apply, as structured-merge-diff does it.
 *
 * Read `field-manager.ts` (one write), then `updater.ts` (owners and conflicts of an apply or update).
 * `merge.ts`, `prune.ts` and `compare.ts` work on values, by the types of `atom.ts`; `managers.ts` reads and
 * writes `metadata.managedFields`.
 */
export { ApplyConflictError, BadApplyError, TypedConversionError } from './validate-value.js';
export { excludeFields } from './updater.js';
export type { FieldFilter, VersionConverter } from './updater.js';
export { mergeByPolicy } from './merge-by-policy.js';
export { fieldManagerApply, fieldManagerUpdate } from './field-manager.js';
export type { ApplyOptions, FieldManagerOptions } from './field-manager.js';
export {
  keepManagedFieldsTimes,
  managedFieldsProblem,
  parentManagedFields,
  scaleManagedFields,
} from './managers.js';
export type { ReplicasPaths } from './managers.js';
