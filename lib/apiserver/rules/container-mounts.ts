import type { V1Container, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';

type Container = Wire<V1Container>;

interface MountCheck {
  /** The pod's valid volumes by name. */
  readonly volumes: ReadonlyMap<string, Wire<V1Volume>>;
  readonly errors: FieldErrors;
}

/** Checks the volumes that a container mounts. */
export function validateMounts(
  container: Container,
  path: string,
  { volumes, errors }: MountCheck,
): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const field = `${path}.volumeMounts`;
  const paths = new Set<string>();
  for (const [index, mount] of volumeMounts.entries()) {
    const { name, mountPath, subPath = '', subPathExpr = '' } = mount;
    const at = `${field}[${index}]`;
    if (name === '') errors.required(`${at}.name`);
    if (!volumes.has(name)) errors.notFound(`${at}.name`, name);
    if (mountPath === '') errors.required(`${at}.mountPath`);
    if (paths.has(mountPath)) errors.invalid(`${at}.mountPath`, mountPath, 'must be unique');
    paths.add(mountPath);
    if (volumeDevices.some((device) => device.name === name)) {
      errors.invalid(`${at}.name`, name, 'must not already exist in volumeDevices');
    }
    if (volumeDevices.some(({ devicePath }) => devicePath === mountPath)) {
      const why = 'must not already exist as a path in volumeDevices';
      errors.invalid(`${at}.mountPath`, mountPath, why);
    }
    validateLocalPath(subPath, `${field}.subPath`, errors);
    if (subPath !== '' && subPathExpr !== '') {
      const why = 'subPathExpr and subPath are mutually exclusive';
      errors.invalid(`${at}.subPathExpr`, subPathExpr, why);
    }
    validateLocalPath(subPathExpr, `${field}.subPathExpr`, errors);
    validatePropagation(mount, field, { container, errors });
  }
}

/** Checks a path below another. */
export function validateLocalPath(path: string, field: string, errors: FieldErrors): void {
  if (path.startsWith('/')) errors.invalid(field, path, 'must be a relative path');
  validateNoBacksteps(path, field, errors);
}

/** Checks a path that must not lead upwards. */
export function validateNoBacksteps(path: string, field: string, errors: FieldErrors): void {
  if (path.split('/').includes('..')) errors.invalid(field, path, "must not contain '..'");
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const recursions = ['Disabled', 'Enabled', 'IfPossible'];

/** Checks whether mounts propagate, and are read-only as a whole. The real server's paths have no index here. */
function validatePropagation(
  { mountPropagation, recursiveReadOnly = 'Disabled', readOnly }: Wire<V1VolumeMount>,
  field: string,
  { container, errors }: { readonly container: Container; readonly errors: FieldErrors },
): void {
  errors.oneOf(`${field}.mountPropagation`, mountPropagation, propagations);
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    const why = 'Bidirectional mount propagation is available only to privileged containers';
    errors.forbidden(`${field}.mountPropagation`, why);
  }
  const path = `${field}.recursiveReadOnly`;
  errors.oneOf(path, recursiveReadOnly, recursions);
  if (recursiveReadOnly === 'Disabled' || !recursions.includes(recursiveReadOnly)) return;
  if (readOnly !== true) errors.forbidden(path, 'may only be specified when readOnly is true');
  if ((mountPropagation ?? 'None') !== 'None') {
    const why = 'may only be specified when mountPropagation is None or not specified';
    errors.forbidden(path, why);
  }
}

/** Checks the block devices that a container uses. */
export function validateDevices(
  { volumeDevices = [], volumeMounts = [] }: Container,
  path: string,
  { volumes, errors }: MountCheck,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, { name, devicePath }] of volumeDevices.entries()) {
    const field = `${path}.volumeDevices[${index}]`;
    if (name === '') errors.required(`${field}.name`);
    if (names.has(name)) errors.invalid(`${field}.name`, name, 'must be unique');
    validateDeviceVolume(name, `${field}.name`, { volumes, errors });
    if (devicePath === '') errors.required(`${field}.devicePath`);
    if (paths.has(devicePath)) errors.invalid(`${field}.devicePath`, devicePath, 'must be unique');
    if (devicePath.split('/').includes('..')) {
      errors.invalid(`${field}.devicePath`, devicePath, "can not contain backsteps ('..')");
    } else paths.add(devicePath);
    if (volumeMounts.some((mount) => mount.name === name)) {
      errors.invalid(`${field}.name`, name, 'must not already exist in volumeMounts');
    }
    if (volumeMounts.some(({ mountPath }) => mountPath === devicePath)) {
      const why = 'must not already exist as a path in volumeMounts';
      errors.invalid(`${field}.devicePath`, devicePath, why);
    }
    if (name !== '') names.add(name);
  }
}

function validateDeviceVolume(name: string, field: string, { volumes, errors }: MountCheck): void {
  const volume = volumes.get(name);
  if (volume === undefined) errors.notFound(field, name);
  else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
    const why =
      'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    errors.invalid(field, name, why);
  }
}
