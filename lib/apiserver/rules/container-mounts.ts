import type { V1Container, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';

type Container = Wire<V1Container>;

export function validateMounts(
  container: Container,
  volumes: ReadonlyMap<string, Wire<V1Volume>>,
  errors: FieldErrors,
): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const field = 'volumeMounts';
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
    validateLocalPath(subPath, errors.at(`${field}.subPath`));
    if (subPath !== '' && subPathExpr !== '') {
      const why = 'subPathExpr and subPath are mutually exclusive';
      errors.invalid(`${at}.subPathExpr`, subPathExpr, why);
    }
    validateLocalPath(subPathExpr, errors.at(`${field}.subPathExpr`));
    validatePropagation(mount, container, errors.at(field));
  }
}

/** Checks that a path is relative and does not lead upwards. */
export function validateLocalPath(path: string, errors: FieldErrors): void {
  if (path.startsWith('/')) errors.invalid('', path, 'must be a relative path');
  validateNoBacksteps(path, errors);
}

export function validateNoBacksteps(path: string, errors: FieldErrors): void {
  if (path.split('/').includes('..')) errors.invalid('', path, "must not contain '..'");
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const recursions = ['Disabled', 'Enabled', 'IfPossible'];

/**
 * Checks the propagation of a mount, and whether all mounts within it may be read-only too. The paths of the real
 * server's errors have no index here.
 */
function validatePropagation(
  { mountPropagation, recursiveReadOnly = 'Disabled', readOnly }: Wire<V1VolumeMount>,
  container: Container,
  errors: FieldErrors,
): void {
  errors.oneOf('mountPropagation', mountPropagation, propagations);
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    const why = 'Bidirectional mount propagation is available only to privileged containers';
    errors.forbidden('mountPropagation', why);
  }
  const path = 'recursiveReadOnly';
  errors.oneOf(path, recursiveReadOnly, recursions);
  if (recursiveReadOnly === 'Disabled' || !recursions.includes(recursiveReadOnly)) return;
  if (readOnly !== true) errors.forbidden(path, 'may only be specified when readOnly is true');
  if ((mountPropagation ?? 'None') !== 'None') {
    errors.forbidden(path, 'may only be specified when mountPropagation is None or not specified');
  }
}

/** Checks the block devices that a container uses. */
export function validateDevices(
  { volumeDevices = [], volumeMounts = [] }: Container,
  volumes: ReadonlyMap<string, Wire<V1Volume>>,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  errors.each('volumeDevices', volumeDevices, ({ name, devicePath }, errors) => {
    if (name === '') errors.required('name');
    if (names.has(name)) errors.invalid('name', name, 'must be unique');
    validateDeviceVolume(name, volumes, errors.at('name'));
    if (devicePath === '') errors.required('devicePath');
    if (paths.has(devicePath)) errors.invalid('devicePath', devicePath, 'must be unique');
    if (devicePath.split('/').includes('..')) {
      errors.invalid('devicePath', devicePath, "can not contain backsteps ('..')");
    } else paths.add(devicePath);
    if (volumeMounts.some((mount) => mount.name === name)) {
      errors.invalid('name', name, 'must not already exist in volumeMounts');
    }
    if (volumeMounts.some(({ mountPath }) => mountPath === devicePath)) {
      errors.invalid('devicePath', devicePath, 'must not already exist as a path in volumeMounts');
    }
    if (name !== '') names.add(name);
  });
}

function validateDeviceVolume(
  name: string,
  volumes: ReadonlyMap<string, Wire<V1Volume>>,
  errors: FieldErrors,
): void {
  const volume = volumes.get(name);
  if (volume === undefined) errors.notFound('', name);
  else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
    const why =
      'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    errors.invalid('', name, why);
  }
}
