import type { V1ISCSIVolumeSource, V1Volume } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { FieldErrors } from './field-errors.js';
import { labelProblems } from './names.js';
import { validateClaimSpec } from './claims.js';
import {
  validateDownwardFiles,
  validateItems,
  validateMode,
  validateProjected,
} from './projected-volume.js';

type Volume = Wire<V1Volume>;

/** The data that checks of a pod's volumes need. */
export interface VolumeCheck {
  /** If true, the pod has a service account whose token can be projected. */
  readonly hasAccount: boolean;
  readonly errors: FieldErrors;
}

/**
 * Checks a pod's volumes.
 * @returns the names of the valid volumes
 */
export function validateVolumes(
  volumes: readonly Volume[],
  field: string,
  { hasAccount, errors }: VolumeCheck,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const path = `${field}[${index}]`;
    const own = new FieldErrors();
    validateSource(volume, path, { hasAccount, errors: own });
    const { name } = volume;
    if (name === '') own.required(`${path}.name`);
    else for (const problem of labelProblems(name)) own.invalid(`${path}.name`, name, problem);
    if (names.has(name)) own.duplicate(`${path}.name`, name);
    if (own.empty) names.add(name);
    else errors.causes.push(...own.causes);
  }
  return names;
}

/** The volume types in the order of the Go struct: the first one present is the volume's type. */
const order = ['emptyDir', 'hostPath'];

function sourcesOf(volume: Volume): readonly string[] {
  const given = Object.keys(volume).filter((member) => member !== 'name');
  const first = order.filter((member) => given.includes(member));
  return [...first, ...given.filter((member) => !first.includes(member))];
}

function validateSource(volume: Volume, path: string, check: VolumeCheck): void {
  const { errors } = check;
  const [first, ...extra] = sourcesOf(volume);
  if (first === undefined) errors.required(path, 'must specify a volume type');
  for (const member of extra) {
    errors.forbidden(`${path}.${member}`, 'may not specify more than 1 volume type');
  }
  validateFiles(volume, path, check);
  validateStorage(volume, path, errors);
  const { ephemeral } = volume;
  const template = ephemeral?.volumeClaimTemplate;
  if (ephemeral !== undefined && template === undefined) {
    errors.required(`${path}.ephemeral.volumeClaimTemplate`);
  }
  if (template !== undefined) {
    validateClaimSpec(template.spec, `${path}.ephemeral.volumeClaimTemplate.spec`, errors);
  }
}

/** Checks volumes with files from API objects. */
function validateFiles(volume: Volume, path: string, { hasAccount, errors }: VolumeCheck): void {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) {
    if ((configMap.name ?? '') === '') errors.required(`${path}.configMap.name`);
    validateMode(configMap.defaultMode, `${path}.configMap.defaultMode`, errors);
    validateItems(configMap.items ?? [], `${path}.configMap.items`, errors);
  }
  if (secret !== undefined) {
    if ((secret.secretName ?? '') === '') errors.required(`${path}.secret.secretName`);
    validateMode(secret.defaultMode, `${path}.secret.defaultMode`, errors);
    validateItems(secret.items ?? [], `${path}.secret.items`, errors);
  }
  if (downwardAPI !== undefined) {
    validateMode(downwardAPI.defaultMode, `${path}.downwardAPI.defaultMode`, errors);
    validateDownwardFiles(downwardAPI.items ?? [], `${path}.downwardAPI`, errors);
  }
  if (projected !== undefined) {
    validateProjected(projected, `${path}.projected`, { hasAccount, errors });
  }
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** Checks volumes with storage outside the API. */
function validateStorage(volume: Volume, path: string, errors: FieldErrors): void {
  const { persistentVolumeClaim, hostPath, nfs, csi, emptyDir, iscsi } = volume;
  if ((emptyDir?.sizeLimit ?? '').startsWith('-')) {
    const why = 'SizeLimit field must be a valid resource quantity';
    errors.forbidden(`${path}.emptyDir.sizeLimit`, why);
  }
  if (persistentVolumeClaim?.claimName === '') {
    errors.required(`${path}.persistentVolumeClaim.claimName`);
  }
  if (hostPath !== undefined) validateHostPath(hostPath, `${path}.hostPath`, errors);
  if (nfs !== undefined) {
    if (nfs.server === '') errors.required(`${path}.nfs.server`);
    if (nfs.path === '') errors.required(`${path}.nfs.path`);
    else if (!nfs.path.startsWith('/')) {
      errors.invalid(`${path}.nfs.path`, nfs.path, 'must be an absolute path');
    }
  }
  if (csi?.driver === '') errors.required(`${path}.csi.driver`);
  if (iscsi !== undefined) validateIscsi(iscsi, `${path}.iscsi`, errors);
}

/** Checks a path on a node. */
export function validateHostPath(
  { path, type = '' }: { readonly path: string; readonly type?: string },
  field: string,
  errors: FieldErrors,
): void {
  if (path === '') {
    errors.required(`${field}.path`);
    return;
  }
  if (path.split('/').includes('..')) {
    errors.invalid(`${field}.path`, path, "must not contain '..'");
  }
  if (!hostPathTypes.includes(type)) errors.notSupported(`${field}.type`, type, hostPathTypes);
}

function validateIscsi(
  { targetPortal, iqn, lun }: Wire<V1ISCSIVolumeSource>,
  field: string,
  errors: FieldErrors,
): void {
  if (targetPortal === '') errors.required(`${field}.targetPortal`);
  if (iqn === '') errors.required(`${field}.iqn`);
  else if (!/^(?:iqn|eui|naa)/.test(iqn)) {
    errors.invalid(`${field}.iqn`, iqn, 'must be valid format starting with iqn, eui, or naa');
  }
  if (lun < 0 || lun > 255) {
    errors.invalid(`${field}.lun`, lun, 'must be between 0 and 255, inclusive');
  }
}
