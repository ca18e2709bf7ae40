import type { V1PersistentVolumeClaimSpec } from '@kubernetes/client-node';
import { compareQuantities } from '../../object/quantity.js';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { subdomainProblems } from './names.js';
import { isEmptySelector, validateLabelSelector } from './label-selector.js';

/** The access modes of a volume. */
export const accessModeNames: readonly string[] = [
  'ReadOnlyMany',
  'ReadWriteMany',
  'ReadWriteOnce',
  'ReadWriteOncePod',
];

/** Checks the spec of a PersistentVolumeClaim. */
export function validateClaimSpec(
  spec: Wire<V1PersistentVolumeClaimSpec>,
  field: string,
  errors: FieldErrors,
): void {
  const { accessModes: modes = [], selector, resources, storageClassName = '', volumeMode } = spec;
  if (modes.length === 0) {
    errors.required(`${field}.accessModes`, 'at least 1 access mode is required');
  }
  if (selector !== undefined && !isEmptySelector(selector)) {
    validateLabelSelector(selector, `${field}.selector`, errors);
  }
  for (const mode of modes) {
    if (!accessModeNames.includes(mode)) {
      errors.notSupported(`${field}.accessModes`, mode, accessModeNames);
    }
  }
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    const why = 'may not use ReadWriteOncePod with other access modes';
    errors.forbidden(`${field}.accessModes`, why);
  }
  const storage = resources?.requests?.['storage'];
  if (storage === undefined) errors.required(`${field}.resources[storage]`);
  else if (compareQuantities(storage, 0) <= 0) {
    errors.invalid(`${field}.resources[storage]`, storage, 'must be greater than zero');
  }
  for (const problem of storageClassName === '' ? [] : subdomainProblems(storageClassName)) {
    errors.invalid(`${field}.storageClassName`, storageClassName, problem);
  }
  if (volumeMode !== undefined && !['Block', 'Filesystem'].includes(volumeMode)) {
    errors.notSupported(`${field}.volumeMode`, volumeMode, ['Block', 'Filesystem']);
  }
}
