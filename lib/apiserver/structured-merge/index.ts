export { ApplyConflictError, BadApplyError, TypedConversionError } from './errors.js';
export type { FieldConflict } from './errors.js';
export type { FieldFilter } from './field-filter.js';
export { fieldManagerApply, fieldManagerUpdate, keepManagedFieldsTimes } from './field-manager.js';
export type {
  ApplyOptions,
  FieldManagerOptions,
  VersionConverter,
  VersionedObject,
} from './field-manager.js';
