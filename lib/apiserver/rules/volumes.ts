import pick from 'lodash/pick.js';
import type {
  V1DownwardAPIVolumeFile,
  V1KeyToPath,
  V1ObjectMeta,
  V1PersistentVolumeClaimSpec,
  V1PersistentVolumeSpec,
  V1ProjectedVolumeSource,
  V1Volume,
  V1VolumeProjection,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { labelProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { validateFieldRef, validateResourceField } from './container-environment.js';
import { validateLocalPath } from './container-mounts.js';
import { validatePullPolicy } from './field-values.js';
import { validateAnnotations, validateLabels } from './metadata.js';
import { imageTag } from './pod-spec.js';
import { validateClaimSpec } from './storage.js';
import { validateOutsideSource } from './volume-sources.js';

type Volume = Wire<V1Volume>;

/** Checks a pod's volumes. @returns the valid volumes by name */
export function validateVolumes(
  volumes: readonly Volume[],
  errors: FieldErrors,
): ReadonlyMap<string, Volume> {
  const valid = new Map<string, Volume>();
  for (const [index, volume] of volumes.entries()) {
    const before = errors.causes.length;
    const path = `[${index}].name`;
    validateSource(volume, errors.at(`[${index}]`));
    const { name } = volume;
    errors.requiredText(path, name, labelProblems);
    if (valid.has(name)) errors.duplicate(path, name);
    if (errors.causes.length === before) valid.set(name, volume);
  }
  return valid;
}

/** The volume types in the order of the real server's checks: the first one present is the volume's type. */
const order = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret'],
  ...['nfs', 'iscsi', 'glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs'],
  ...['quobyte', 'downwardAPI', 'fc', 'configMap', 'azureFile', 'vsphereVolume'],
  ...['photonPersistentDisk', 'portworxVolume', 'azureDisk', 'storageos', 'projected', 'scaleIO'],
  ...['csi', 'ephemeral', 'image'],
];

function sourcesOf(volume: Volume): readonly string[] {
  const given = Object.keys(volume).filter((member) => member !== 'name');
  const first = order.filter((member) => given.includes(member));
  return [...first, ...given.filter((member) => !first.includes(member))];
}

function validateSource(volume: Volume, errors: FieldErrors): void {
  const [first, ...extra] = sourcesOf(volume);
  if (first === undefined) errors.required('', 'must specify a volume type');
  for (const member of extra) {
    errors.forbidden(member, 'may not specify more than 1 volume type');
  }
  const checked: Volume = { name: volume.name, ...(first !== undefined && pick(volume, first)) };
  validateFiles(checked, errors);
  validateStorage(checked, errors);
  const { ephemeral, image } = checked;
  if (image !== undefined) {
    validatePullPolicy(image.pullPolicy ?? '', errors.at('image.pullPolicy'));
  }
  const template = ephemeral?.volumeClaimTemplate;
  if (ephemeral !== undefined && template === undefined) {
    errors.required('ephemeral.volumeClaimTemplate');
  }
  if (template !== undefined) {
    validateClaimMeta(template.metadata, errors.at('ephemeral.volumeClaimTemplate.metadata'));
    validateClaimSpec(template.spec, errors.at('ephemeral.volumeClaimTemplate.spec'));
  }
}

/** Checks the metadata of a claim's template: labels and annotations. */
function validateClaimMeta(metadata: Wire<V1ObjectMeta> = {}, errors: FieldErrors): void {
  const { labels, annotations, ...others } = metadata;
  validateLabels(labels, errors.at('labels'));
  validateAnnotations(annotations, errors.at('annotations'));
  const emptyLists = ['ownerReferences', 'finalizers', 'managedFields'].filter((name) =>
    hadEmptyMember(metadata, name),
  );
  for (const name of [...Object.keys(others), ...emptyLists]) {
    // The real server writes Go's name of the uid, with a small letter at its start.
    errors.forbidden(name === 'uid' ? 'uID' : name, 'cannot be set');
  }
}

/** Checks volumes with files from API objects. */
function validateFiles(volume: Volume, errors: FieldErrors): void {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) {
    if ((configMap.name ?? '') === '') errors.required('configMap.name');
    validateMode(configMap.defaultMode, errors.at('configMap.defaultMode'));
    validateItems(configMap.items ?? [], errors.at('configMap.items'));
  }
  if (secret !== undefined) {
    if ((secret.secretName ?? '') === '') errors.required('secret.secretName');
    validateMode(secret.defaultMode, errors.at('secret.defaultMode'));
    validateItems(secret.items ?? [], errors.at('secret.items'));
  }
  if (downwardAPI !== undefined) {
    validateMode(downwardAPI.defaultMode, errors.at('downwardAPI.defaultMode'));
    validateDownwardFiles(downwardAPI.items ?? [], errors.at('downwardAPI'));
  }
  if (projected !== undefined) validateProjected(projected, errors.at('projected'));
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
function validateStorage(volume: Volume, errors: FieldErrors): void {
  const { persistentVolumeClaim, hostPath, emptyDir } = volume;
  if ((emptyDir?.sizeLimit ?? '').startsWith('-')) {
    errors.forbidden('emptyDir.sizeLimit', 'SizeLimit field must be a valid resource quantity');
  }
  if (persistentVolumeClaim?.claimName === '') errors.required('persistentVolumeClaim.claimName');
  if (hostPath !== undefined) validateHostPath(hostPath, errors.at('hostPath'));
  const [type = ''] = sourcesOf(volume);
  const source = volume[type as keyof Volume];
  validateOutsideSource(type, source, { persistent: false, name: '', errors });
}

export function validateHostPath(
  { path, type = '' }: { readonly path: string; readonly type?: string },
  errors: FieldErrors,
): void {
  if (path === '') {
    errors.required('path');
    return;
  }
  if (path.split('/').includes('..')) errors.invalid('path', path, "must not contain '..'");
  errors.oneOf('type', type, hostPathTypes);
}

function validateMode(mode: number | undefined, errors: FieldErrors): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return;
  errors.invalid('', mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}

/** Checks a path within a volume. */
function validateFilePath(path: string, errors: FieldErrors): void {
  if (path === '') errors.required('');
  validateLocalPath(path, errors);
  if (/^\.\.(?!\/)/.test(path)) errors.invalid('', path, "must not start with '..'");
}

/** Checks the keys, paths and modes of files. */
function validateItems(items: readonly Wire<V1KeyToPath>[], errors: FieldErrors): void {
  errors.each('', items, ({ key, path, mode }, errors) => {
    if (key === '') errors.required('key');
    validateFilePath(path, errors.at('path'));
    validateMode(mode, errors.at('mode'));
  });
}

const filePaths = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Checks files with data of the pod itself. The real server's paths have no index here. */
function validateDownwardFiles(
  files: readonly Wire<V1DownwardAPIVolumeFile>[],
  errors: FieldErrors,
): void {
  for (const { path, fieldRef, resourceFieldRef, mode } of files) {
    validateFilePath(path, errors.at('path'));
    if (fieldRef !== undefined) {
      validateFieldRef(fieldRef, filePaths, errors.at('fieldRef'));
      if (resourceFieldRef !== undefined) {
        const why = 'fieldRef and resourceFieldRef can not be specified simultaneously';
        errors.invalid('', 'resource', why);
      }
    } else if (resourceFieldRef === undefined) {
      errors.required('', 'one of fieldRef and resourceFieldRef is required');
    } else {
      validateResourceField(resourceFieldRef, true, errors.at('resourceFieldRef'));
    }
    validateMode(mode, errors.at('mode'));
  }
}

function validateProjected(
  { sources, defaultMode }: Wire<V1ProjectedVolumeSource>,
  errors: FieldErrors,
): void {
  validateMode(defaultMode, errors.at('defaultMode'));
  const paths = new Set<string>();
  // The decoder sets a missing list to null, as Go does.
  for (const [index, source] of (sources ?? []).entries()) {
    const at = `sources[${index}]`;
    const [first, ...extra] = Object.keys(source);
    if (first !== undefined) validateProjection(source, first, errors.at(at));
    if (source.serviceAccountToken !== undefined) {
      // The real server leaves `sources[index]` out of this path.
      validateFilePath(source.serviceAccountToken.path, errors.at('path'));
    }
    if (extra.length > 0) {
      errors.forbidden(at, 'may not specify more than 1 volume type per source');
    }
    for (const { path, name } of pathsOf(source)) {
      if (paths.has(path)) errors.invalid('', name, 'conflicting duplicate paths');
      paths.add(path);
    }
  }
}

function validateProjection(
  source: Wire<V1VolumeProjection>,
  first: string,
  errors: FieldErrors,
): void {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  for (const [member, projection] of Object.entries({ secret, configMap })) {
    if (projection === undefined || first !== member) continue;
    if ((projection.name ?? '') === '') errors.required(`${member}.name`);
    validateItems(projection.items ?? [], errors.at(`${member}.items`));
  }
  if (downwardAPI !== undefined) {
    validateDownwardFiles(downwardAPI.items ?? [], errors.at('downwardAPI'));
  }
  if (serviceAccountToken === undefined) return;
  const { expirationSeconds } = serviceAccountToken;
  const invalid = (why: string): void =>
    errors.invalid('serviceAccountToken.expirationSeconds', expirationSeconds, why);
  if (expirationSeconds !== undefined && expirationSeconds < 600) {
    invalid('may not specify a duration less than 10 minutes');
  }
  if (expirationSeconds !== undefined && expirationSeconds > 2 ** 32) {
    invalid('may not specify a duration larger than 2^32 seconds');
  }
}

/**
 * Returns the paths of the files of a volume source, each with the name that a conflict message shows: the Secret,
 * the ConfigMap, or the path itself.
 */
function pathsOf({
  secret,
  configMap,
  downwardAPI,
}: Wire<V1VolumeProjection>): { path: string; name: string }[] {
  const named = [secret, configMap].flatMap((projection) =>
    (projection?.items ?? []).map(({ path }) => ({ path, name: projection?.name ?? '' })),
  );
  const own = (downwardAPI?.items ?? []).map(({ path }) => ({ path, name: path }));
  return [...named, ...own].filter(({ path }) => path !== '');
}

const readableByAll = 0o644;

/** Fills in the defaults of a pod's volume, in place. A volume without a source becomes an emptyDir. */
export function defaultVolume(volume: Wire<V1Volume>): void {
  if (Object.keys(volume).every((member) => member === 'name')) volume.emptyDir = {};
  const { configMap, secret, downwardAPI, projected, hostPath, ephemeral, image } = volume;
  if (configMap !== undefined) configMap.defaultMode ??= readableByAll;
  if (secret !== undefined) secret.defaultMode ??= readableByAll;
  if (hostPath !== undefined) hostPath.type ??= '';
  if (downwardAPI !== undefined) {
    downwardAPI.defaultMode ??= readableByAll;
    downwardAPI.items?.forEach(defaultFieldRef);
  }
  if (projected !== undefined) defaultProjected(projected);
  if (ephemeral?.volumeClaimTemplate !== undefined) {
    defaultClaimSpec(ephemeral.volumeClaimTemplate.spec);
  }
  if (image !== undefined) {
    image.pullPolicy ??= imageTag(image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  }
  defaultBlockSources(volume);
}

/** Fills in the defaults of block devices outside of the node, in place. */
export function defaultBlockSources({
  iscsi,
  rbd,
  azureDisk,
  scaleIO,
}: Pick<Wire<V1PersistentVolumeSpec>, 'iscsi' | 'rbd' | 'azureDisk' | 'scaleIO'>): void {
  if (iscsi !== undefined) iscsi.iscsiInterface ??= 'default';
  if (rbd !== undefined) {
    rbd.pool ??= 'rbd';
    rbd.user ??= 'admin';
    rbd.keyring ??= '/etc/ceph/keyring';
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ??= 'ThinProvisioned';
    scaleIO.fsType ??= 'xfs';
  }
}

function defaultProjected(projected: Wire<V1ProjectedVolumeSource>): void {
  projected.defaultMode ??= readableByAll;
  for (const { downwardAPI, serviceAccountToken } of projected.sources ?? []) {
    downwardAPI?.items?.forEach(defaultFieldRef);
    if (serviceAccountToken !== undefined) serviceAccountToken.expirationSeconds ??= 3600;
  }
}

function defaultFieldRef({ fieldRef }: Wire<V1DownwardAPIVolumeFile>): void {
  if (fieldRef !== undefined) fieldRef.apiVersion ??= 'v1';
}

/** Fills in the defaults of a claim's spec, in place. */
export function defaultClaimSpec(spec: Wire<V1PersistentVolumeClaimSpec>): void {
  spec.volumeMode ??= 'Filesystem';
}
