export { ApplyConflictError, BadApplyError, TypedConversionError } from './errors.js';
export type { FieldConflict } from './errors.js';
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
