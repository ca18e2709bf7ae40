import type {
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1PersistentVolumeClaimSpec,
  V1PersistentVolumeSpec,
  V1StorageClass,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { qualifiedNameProblems, subdomainProblems } from '../../crd/internal.js';
import { deepEqual, compareQuantities, formatTime } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { defaultClaimSpec, validateHostPath } from './volumes.js';
import { forbidden } from '../status-error.js';
import { validateNodeSelector } from './pod-placement.js';
import { typedRules, validateImmutable } from './kind-rules.js';
import type { KindRules, ServerView } from './kind-rules.js';
import { isEmptySelector, validateLabelSelector } from './metadata.js';

type Claim = Wire<V1PersistentVolumeClaim>;
type ClaimSpec = Wire<V1PersistentVolumeClaimSpec>;
type Volume = Wire<V1PersistentVolume>;
type StorageClass = Wire<V1StorageClass>;

const classes = 'storage.k8s.io/storageclasses';
const isDefaultClass = 'storageclass.kubernetes.io/is-default-class';

/** Admits a claim: sets the default class, and a finalizer that protects claims in use. */
function admitClaim({ metadata, spec }: Claim, server: ServerView): void {
  if (metadata !== undefined) protect(metadata, 'kubernetes.io/pvc-protection');
  if (spec === undefined || spec.storageClassName !== undefined) return;
  for (const object of server.all(classes)) {
    const { name = '', annotations = {} } = object.metadata;
    if (annotations[isDefaultClass] === 'true') spec.storageClassName = name;
  }
}

function protect(metadata: { finalizers?: string[] }, finalizer: string): void {
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), finalizer])];
}

const immutableSpec =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n';

function validateClaimUpdate(claim: Claim, old: Claim, errors: FieldErrors): void {
  const { spec, status } = claim;
  const { spec: before } = old;
  if (spec === undefined || before === undefined) return;
  const bound = status?.phase === 'Bound';
  const comparable = (one: ClaimSpec): unknown => {
    const { volumeAttributesClassName, resources, volumeName, ...rest } = one;
    return {
      ...rest,
      volumeName: (before.volumeName ?? '') === '' ? spec.volumeName : volumeName,
      resources: bound ? { ...resources, requests: spec.resources?.requests } : resources,
      volumeAttributesClassName: bound ? undefined : volumeAttributesClassName,
    };
  };
  if (!sameJson(comparable(spec), comparable(before))) errors.forbidden('spec', immutableSpec);
  const [now, then] = [storageOf(spec), storageOf(before)];
  if (compareQuantities(now, then) < 0) {
    const capacity = old.status?.capacity?.['storage'] ?? '0';
    if (compareQuantities(now, capacity) <= 0) {
      const why = 'field can not be less than status.capacity';
      errors.forbidden('spec.resources.requests.storage', why);
    }
  }
}

function sameJson(left: unknown, right: unknown): boolean {
  return deepEqual(JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right)));
}

function storageOf({ resources }: ClaimSpec): string {
  return resources?.requests?.['storage'] ?? '0';
}

/** Admits growth only for bound claims whose class permits expansion. */
function admitGrowth({ metadata, spec }: Claim, old: Claim, server: ServerView): void {
  if (spec === undefined || old.spec === undefined) return;
  if (compareQuantities(storageOf(spec), storageOf(old.spec)) <= 0) return;
  const subject = { group: '', plural: 'persistentvolumeclaims', name: metadata?.name };
  if (old.status?.phase !== 'Bound') {
    throw forbidden(subject, 'Only bound persistent volume claims can be expanded');
  }
  const { storageClassName = '' } = spec;
  const storageClass = server.find(classes, storageClassName);
  if (storageClass?.['allowVolumeExpansion'] === true) return;
  throw forbidden(
    subject,
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
}

/**
 * Copies `dataSource` and `dataSourceRef` to each other. The older `dataSource` allows fewer
 * references.
 */
function mirrorDataSource({ spec }: Claim): void {
  if (spec === undefined) return;
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && !isKnownSource(dataSource)) {
    delete spec.dataSource;
    return;
  }
  if (dataSource !== undefined) spec.dataSourceRef ??= { ...dataSource };
  else if (dataSourceRef !== undefined && dataSourceRef.namespace === undefined) {
    spec.dataSource = { ...dataSourceRef };
  }
}

function isKnownSource({ apiGroup, kind }: { apiGroup?: string | null; kind: string }): boolean {
  const group = apiGroup ?? '';
  if (group === 'snapshot.storage.k8s.io') return kind === 'VolumeSnapshot';
  return group === '' && kind === 'PersistentVolumeClaim';
}

const claim = typedRules<Claim>(
  {
    defaults: ({ spec, status }) => {
      if (spec !== undefined) defaultClaimSpec(spec);
      if (status !== undefined) status.phase ??= 'Pending';
    },
    validate: ({ spec }, errors) => {
      if (spec !== undefined) validateClaimSpec(spec, 'spec', errors);
    },
    prepareForCreate: mirrorDataSource,
    prepareForUpdate: mirrorDataSource,
    validateUpdate: validateClaimUpdate,
    admitUpdate: admitGrowth,
  },
  {
    answersDeleted: true,
    initialStatus: () => ({ phase: 'Pending' }),
    admitCreate: (object, server) => admitClaim(object, server),
  },
);

const volume = typedRules<Volume>(
  {
    defaults: ({ spec, status }) => {
      if (status !== undefined) status.phase ??= 'Pending';
      if (spec === undefined) return;
      spec.persistentVolumeReclaimPolicy ??= 'Retain';
      spec.volumeMode ??= 'Filesystem';
      if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
    },
    validate: ({ spec }, errors) => {
      if (spec !== undefined) validatePersistentVolume(spec, errors);
    },
  },
  {
    answersDeleted: true,
    initialStatus: (_volume, { clock }) => ({
      phase: 'Pending',
      lastPhaseTransitionTime: formatTime(clock.now()),
    }),
    admitCreate: ({ metadata }) => protect(metadata, 'kubernetes.io/pv-protection'),
  },
);

const parametersLimit = 512;

function validateStorageClass(object: StorageClass, errors: FieldErrors): void {
  const { provisioner, parameters = {}, reclaimPolicy, volumeBindingMode } = object;
  const lower = provisioner.toLowerCase();
  if (provisioner === '') errors.required('provisioner');
  if (provisioner !== '') errors.invalidEach('provisioner', lower, qualifiedNameProblems(lower));
  const names = Object.keys(parameters);
  if (names.length > parametersLimit) {
    errors.invalid('parameters', names.length, `must have no more than ${parametersLimit} items`);
  }
  if (names.includes('')) errors.invalid('parameters', '', 'field can not be empty.');
  errors.oneOf('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain']);
  const modes = ['Immediate', 'WaitForFirstConsumer'];
  errors.oneOf('volumeBindingMode', volumeBindingMode, modes);
  for (const [index, { matchLabelExpressions = [] }] of (
    object.allowedTopologies ?? []
  ).entries()) {
    for (const [at, { key, values }] of matchLabelExpressions.entries()) {
      const field = `allowedTopologies[${index}].matchLabelExpressions[${at}]`;
      errors.invalidEach(`${field}.key`, key, qualifiedNameProblems(key));
      if (((values as string[] | null) ?? []).length === 0) errors.required(`${field}.values`);
    }
  }
}

const storageClass = typedRules<StorageClass>(
  {
    defaults: (object) => {
      object.reclaimPolicy ??= 'Delete';
      object.volumeBindingMode ??= 'Immediate';
    },
    validate: validateStorageClass,
    validateUpdate: (object, old, errors) => {
      if (!deepEqual(object.parameters, old.parameters)) {
        errors.forbidden('parameters', 'updates to parameters are forbidden.');
      }
      const { provisioner } = object;
      const provider = { field: 'provisioner', value: provisioner, old: old.provisioner };
      validateImmutable(provider, errors);
      const { reclaimPolicy: value } = object;
      const policy = { field: 'reclaimPolicy', value, old: old.reclaimPolicy };
      validateImmutable(policy, errors);
      const { volumeBindingMode: mode } = object;
      const binding = { field: 'volumeBindingMode', value: mode, old: old.volumeBindingMode };
      validateImmutable(binding, errors);
    },
  },
  { answersDeleted: true },
);

/** The rules of storage. */
export const storageRules: Readonly<Record<string, KindRules>> = {
  '/v1/PersistentVolumeClaim': claim,
  '/v1/PersistentVolume': volume,
  'storage.k8s.io/v1/StorageClass': storageClass,
};

/** The access modes of a volume. */
const accessModeNames: readonly string[] = [
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
    errors.oneOf(`${field}.accessModes`, mode, accessModeNames);
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
  if (storageClassName !== '')
    errors.invalidEach(
      `${field}.storageClassName`,
      storageClassName,
      subdomainProblems(storageClassName),
    );
  errors.oneOf(`${field}.volumeMode`, volumeMode, ['Block', 'Filesystem']);
}

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

function validatePersistentVolume(spec: VolumeSpec, errors: FieldErrors): void {
  validateModes(spec, errors);
  validateCapacity(spec, errors);
  validateVolumeSource(spec, errors);
  const { persistentVolumeReclaimPolicy: policy, volumeMode, storageClassName = '' } = spec;
  errors.oneOf('spec.persistentVolumeReclaimPolicy', policy, reclaimPolicies);
  errors.oneOf('spec.volumeMode', volumeMode, volumeModes);
  if (storageClassName !== '')
    errors.invalidEach(
      'spec.storageClassName',
      storageClassName,
      subdomainProblems(storageClassName),
    );
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
    errors.oneOf('spec.accessModes', mode, accessModeNames);
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
