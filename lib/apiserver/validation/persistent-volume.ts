import type { V1PersistentVolumeSpec } from '@kubernetes/client-node';
import { compareQuantities } from '../../object/quantity.js';
import type { Wire } from '../../object/wire.js';
import { validateNodeSelector } from './affinity.js';
import { accessModeNames } from './claims.js';
import type { FieldErrors } from './field-errors.js';
import { subdomainProblems } from './names.js';
import { validateHostPath } from './volumes.js';

type VolumeSpec = Wire<V1PersistentVolumeSpec>;

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
const volumeModes = ['Block', 'Filesystem'];

/** Members of a volume's spec that are not volume sources. */
const common: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

/** Checks the spec of a PersistentVolume. */
export function validatePersistentVolume(spec: VolumeSpec, errors: FieldErrors): void {
  validateModes(spec, errors);
  validateCapacity(spec, errors);
  validateVolumeSource(spec, errors);
  const { persistentVolumeReclaimPolicy: policy, volumeMode, storageClassName = '' } = spec;
  if (policy !== undefined && !reclaimPolicies.includes(policy)) {
    errors.notSupported('spec.persistentVolumeReclaimPolicy', policy, reclaimPolicies);
  }
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode)) {
    errors.notSupported('spec.volumeMode', volumeMode, volumeModes);
  }
  for (const problem of storageClassName === '' ? [] : subdomainProblems(storageClassName)) {
    errors.invalid('spec.storageClassName', storageClassName, problem);
  }
  const { nodeAffinity, local } = spec;
  if (nodeAffinity?.required !== undefined) {
    validateNodeSelector(nodeAffinity.required, 'spec.nodeAffinity.required', errors);
  } else if (local !== undefined) {
    errors.required('spec.nodeAffinity', 'Local volume requires node affinity');
  }
}

function validateModes({ accessModes = [] }: VolumeSpec, errors: FieldErrors): void {
  if (accessModes.length === 0) errors.required('spec.accessModes');
  for (const mode of accessModes) {
    if (accessModeNames.includes(mode)) continue;
    errors.notSupported('spec.accessModes', mode, accessModeNames);
  }
  if (accessModes.includes('ReadWriteOncePod') && accessModes.length > 1) {
    const why = 'may not use ReadWriteOncePod with other access modes';
    errors.forbidden('spec.accessModes', why);
  }
}

function validateCapacity({ capacity }: VolumeSpec, errors: FieldErrors): void {
  const { storage } = capacity ?? {};
  if (Object.keys(capacity ?? {}).length === 0) errors.required('spec.capacity');
  if (storage === undefined || Object.keys(capacity ?? {}).length > 1) {
    errors.notSupported('spec.capacity', capacity, ['storage']);
  }
  if (storage !== undefined && compareQuantities(storage, 0) <= 0) {
    errors.invalid('spec.capacity[storage]', storage, 'must be greater than zero');
  }
}

function validateVolumeSource(spec: VolumeSpec, errors: FieldErrors): void {
  const [first, ...extra] = Object.keys(spec).filter((member) => !common.has(member));
  if (first === undefined) errors.required('spec', 'must specify a volume type');
  for (const member of extra) {
    errors.forbidden(`spec.${member}`, 'may not specify more than 1 volume type');
  }
  const { hostPath, nfs, csi, local } = spec;
  if (hostPath !== undefined) validateHostPath(hostPath, 'spec.hostPath', errors);
  if (nfs?.server === '') errors.required('spec.nfs.server');
  if (nfs?.path === '') errors.required('spec.nfs.path');
  if (csi?.driver === '') errors.required('spec.csi.driver');
  if (csi?.volumeHandle === '') errors.required('spec.csi.volumeHandle');
  if (local?.path === '') errors.required('spec.local.path');
}
