import type { V1PersistentVolume, V1PersistentVolumeSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  compareQuantities,
  deepEqual,
  formatTime,
  withoutMembers,
  subdomainProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { typedRules } from './kind-rules.js';
import { validateNodeSelector } from './pod-placement.js';
import { quantityNumber } from './resources.js';
import { accessModeNames, protect } from './storage.js';
import { validateOutsideSource } from './volume-sources.js';
import { defaultBlockSources, validateHostPath } from './volumes.js';

type Volume = Wire<V1PersistentVolume>;
type VolumeSpec = Wire<V1PersistentVolumeSpec>;

export const persistentVolumeRules = typedRules<Volume>({
  defaults: ({ spec, status }) => {
    if (status !== undefined) status.phase ??= 'Pending';
    if (spec === undefined) return;
    spec.persistentVolumeReclaimPolicy ??= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
    defaultBlockSources(spec);
  },
  validate: ({ metadata, spec }, errors) => {
    if (spec === undefined) return;
    validatePersistentVolume(spec, { name: metadata.name, errors: errors.at('spec') });
    validateMountOptions(metadata.annotations ?? {}, spec, errors);
  },
  validateUpdate: ({ spec = {} }, { spec: old = {} }, errors) => {
    if (!deepEqual(sourceOf(spec, old), sourceOf(old, old))) {
      const field = 'spec.persistentvolumesource';
      errors.forbidden(field, `${field} is immutable after creation\n`);
    }
    errors.immutable('volumeMode', spec.volumeMode, old.volumeMode);
  },
  warnings: ({ metadata, spec = {} }) => [
    ...annotationWarnings(metadata.annotations ?? {}),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [recycled] : []),
    ...Object.entries(removedSources)
      .filter(([type]) => type in spec)
      .map(([, warning]) => `spec.${warning}`),
  ],
  answersDeleted: true,
  initialStatus: (_volume, { clock }) => ({
    phase: 'Pending',
    lastPhaseTransitionTime: formatTime(clock.now()),
  }),
  admitCreate: ({ metadata }) => protect(metadata, 'kubernetes.io/pv-protection'),
});

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

/**
 * Returns the source of a volume for the check that it did not change. The CSI secret for expansion is left out if
 * `old` has none, because an update may add it.
 */
function sourceOf(spec: VolumeSpec, old: VolumeSpec): unknown {
  const source = withoutMembers(spec, ...common);
  const { csi } = spec;
  if (csi === undefined || old.csi?.controllerExpandSecretRef !== undefined) return source;
  return { ...source, csi: withoutMembers(csi, 'controllerExpandSecretRef') };
}

const recycled =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';

/** Warnings about types of sources, in the order of the real server. */
const removedSources = {
  cephfs: 'cephfs: deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'scaleIO: deprecated in v1.16, non-functional in v1.22+',
  storageos: 'storageOS: deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'glusterfs: deprecated in v1.25, non-functional in v1.26+',
  rbd: 'rbd: deprecated in v1.28, non-functional in v1.31+',
} as const;

const oldAnnotations = {
  'volume.beta.kubernetes.io/storage-class':
    'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options':
    'deprecated since v1.31; use "mountOptions" attribute instead',
} as const;

function annotationWarnings(annotations: Readonly<Record<string, string>>): string[] {
  return Object.entries(oldAnnotations)
    .filter(([key]) => Object.hasOwn(annotations, key))
    .map(([key, message]) => `metadata.annotations[${key}]: ${message}`);
}

/** The types of sources that can have mount options. */
const mountable: ReadonlySet<string> = new Set([
  ...['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephfs', 'cinder', 'gcePersistentDisk'],
  ...['glusterfs', 'iscsi', 'nfs', 'photonPersistentDisk', 'quobyte', 'rbd', 'vsphereVolume'],
]);

/** Checks the old annotation with mount options. */
function validateMountOptions(
  annotations: Readonly<Record<string, string>>,
  spec: VolumeSpec,
  errors: FieldErrors,
): void {
  const name = 'volume.beta.kubernetes.io/mount-options';
  if (!Object.hasOwn(annotations, name)) return;
  if (Object.keys(spec).some((type) => mountable.has(type))) return;
  const why = 'may not specify mount options for this volume type';
  errors.forbidden(`metadata.annotations.${name}`, why);
}

/** The data that the check of a volume's spec needs. */
interface VolumeCheck {
  /** The name of the volume; absent for a volume within another object. */
  readonly name?: string | undefined;
  /** True for a volume within another object. */
  readonly inline?: boolean;
  readonly errors: FieldErrors;
}

export function validatePersistentVolume(spec: VolumeSpec, check: VolumeCheck): void {
  const { errors, inline = false } = check;
  validateModes(spec, errors);
  if (inline) validateInline(spec, errors);
  else validateOwn(spec, errors);
  validateVolumeSource(spec, check);
  const { hostPath, persistentVolumeReclaimPolicy: policy } = spec;
  if (policy === 'Recycle' && hostPath !== undefined && /^\/+$/.test(hostPath.path)) {
    const why = "may not be 'recycle' for a hostPath mount of '/'";
    errors.forbidden('persistentVolumeReclaimPolicy', why);
  }
  const { volumeAttributesClassName: attributes, csi } = spec;
  if (attributes === undefined) return;
  const path = 'volumeAttributesClassName';
  if (attributes === '') errors.required(path, 'an empty string is disallowed');
  else errors.invalidEach(path, attributes, subdomainProblems(attributes));
  if (csi === undefined) {
    errors.required('csi', 'has to be specified when using volumeAttributesClassName');
  }
}

/** Checks the fields that only a PersistentVolume has, not an inline volume. */
function validateOwn(spec: VolumeSpec, errors: FieldErrors): void {
  validateCapacity(spec, errors);
  const { persistentVolumeReclaimPolicy: policy, volumeMode, storageClassName } = spec;
  errors.oneOf('persistentVolumeReclaimPolicy', policy, reclaimPolicies);
  errors.oneOf('volumeMode', volumeMode, volumeModes);
  errors.optionalText('storageClassName', storageClassName, subdomainProblems);
  const { nodeAffinity } = spec;
  if (nodeAffinity === undefined) return;
  const path = 'nodeAffinity.required';
  if (nodeAffinity.required !== undefined) {
    validateNodeSelector(nodeAffinity.required, errors.at(path));
  } else errors.required(path, 'must specify required node constraints');
}

/** Checks that a volume within another object has only a source. */
function validateInline(spec: VolumeSpec, errors: FieldErrors): void {
  const { persistentVolumeReclaimPolicy: policy = '', volumeMode, csi } = spec;
  const context = 'in the context of inline volumes';
  const given = {
    claimRef: spec.claimRef !== undefined,
    capacity: Object.keys(spec.capacity ?? {}).length > 0,
    nodeAffinity: spec.nodeAffinity !== undefined,
    storageClassName: (spec.storageClassName ?? '') !== '',
  };
  for (const [member, isGiven] of Object.entries(given)) {
    if (isGiven) errors.forbidden(member, `may not be specified ${context}`);
  }
  if (csi === undefined) errors.required('csi', `has to be specified ${context}`);
  if (policy !== '' && policy !== 'Retain') {
    errors.forbidden('persistentVolumeReclaimPolicy', `may only be Retain ${context}`);
  }
  if (volumeMode !== undefined && volumeMode !== 'Filesystem') {
    errors.forbidden('volumeMode', `may not specify volumeMode other than Filesystem ${context}`);
  }
}

function validateModes({ accessModes = [] }: VolumeSpec, errors: FieldErrors): void {
  const path = 'accessModes';
  if (accessModes.length === 0) errors.required(path);
  for (const mode of accessModes) errors.oneOf(path, mode, accessModeNames);
  if (accessModes.includes('ReadWriteOncePod') && accessModes.length > 1) {
    errors.forbidden(path, 'may not use ReadWriteOncePod with other access modes');
  }
}

function validateCapacity(spec: VolumeSpec, errors: FieldErrors): void {
  const capacity = hadEmptyMember(spec, 'capacity') ? {} : spec.capacity;
  const path = 'capacity';
  const entries = Object.entries(capacity ?? {});
  if (entries.length === 0) errors.required(path);
  if (capacity?.['storage'] === undefined || entries.length > 1) {
    errors.notSupported(path, capacity, ['storage']);
  }
  for (const [name, quantity] of entries) {
    const amount = Math.trunc(quantityNumber(quantity));
    if (amount < 0) errors.invalid(`${path}[${name}]`, amount, 'must be a valid resource quantity');
    if (compareQuantities(quantity, 0) > 0) continue;
    errors.invalid(`${path}[${name}]`, quantity, 'must be greater than zero');
  }
}

/** The sources whose path the real server spells differently in the error that forbids them. */
const forbiddenPaths: Readonly<Partial<Record<string, string>>> = { cephfs: 'cephFS' };

function validateVolumeSource(spec: VolumeSpec, check: VolumeCheck): void {
  const { errors, name = '' } = check;
  const [first, ...extra] = sourceTypes(spec);
  if (first === undefined) errors.required('', 'must specify a volume type');
  for (const type of extra) {
    // The real server allows this type together with others.
    if (type === 'flexVolume') {
      validateOutsideSource(type, spec.flexVolume, { persistent: true, name, errors });
      continue;
    }
    errors.forbidden(forbiddenPaths[type] ?? type, 'may not specify more than 1 volume type');
  }
  const { hostPath, local, nodeAffinity } = spec;
  if (first === 'hostPath' && hostPath !== undefined) {
    validateHostPath(hostPath, errors.at('hostPath'));
  } else if (first === 'local' && local !== undefined) {
    validateHostPath(local, errors.at('local'));
    if (nodeAffinity === undefined) {
      errors.required('nodeAffinity', 'Local volume requires node affinity');
    }
  } else if (first !== undefined) {
    const { [first as keyof VolumeSpec]: source } = spec;
    validateOutsideSource(first, source, { persistent: true, name, errors });
  }
}

/** Returns the types of a volume's sources, in the order in which the real server checks them. */
function sourceTypes(spec: VolumeSpec): readonly string[] {
  const given = Object.keys(spec).filter((member) => !common.has(member));
  return given.sort((one, other) => Number(other === 'hostPath') - Number(one === 'hostPath'));
}
