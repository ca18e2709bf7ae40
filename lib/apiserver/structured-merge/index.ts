export { ApplyConflictError, BadApplyError, TypedConversionError } from './validate-value.js';
export type { FieldConflict } from './validate-value.js';
export { excludeFields, includeFields } from './updater.js';
export type { FieldFilter, VersionConverter, VersionedObject } from './updater.js';
export { fieldManagerApply, fieldManagerUpdate } from './field-manager.js';
export type { ApplyOptions, FieldManagerOptions } from './field-manager.js';
export {
  keepManagedFieldsTimes,
  managedFieldsProblem,
  parentManagedFields,
  scaleManagedFields,
} from './managers.js';
export type { ReplicasPaths, ScaledObject } from './managers.js';
