import type {
  V1PersistentVolumeClaim,
  V1PersistentVolumeClaimSpec,
  V1StorageClass,
  V1TopologySelectorLabelRequirement,
  V1VolumeAttributesClass,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  deepEqual,
  compareQuantities,
  labelProblems,
  qualifiedNameProblems,
  subdomainProblems,
  withoutMembers,
} from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { defaultClaimSpec } from './volumes.js';
import { forbidden } from '../status-error.js';
import { typedRules } from './kind-rules.js';
import type { KindRules, ServerView } from './kind-rules.js';
import { checkLimitRanges } from './limit-ranger.js';
import { isEmptySelector, validateLabelSelector } from './metadata.js';
import { checkQuotas } from './quota.js';

type Claim = Wire<V1PersistentVolumeClaim>;
type ClaimSpec = Wire<V1PersistentVolumeClaimSpec>;
type StorageClass = Wire<V1StorageClass>;

const classes = 'storage.k8s.io/storageclasses';
const claims = 'persistentvolumeclaims';
const isDefaultClass = 'storageclass.kubernetes.io/is-default-class';

/** Admits a claim: sets the default class, and a finalizer that protects claims in use. */
function admitClaim({ metadata, spec }: Claim & UnstructuredObject, server: ServerView): void {
  protect(metadata, 'kubernetes.io/pvc-protection');
  if (spec === undefined || spec.storageClassName !== undefined) return;
  for (const object of server.all(classes)) {
    const { name = '', annotations = {} } = object.metadata;
    if (annotations[isDefaultClass] === 'true') spec.storageClassName = name;
  }
}

/** Adds a finalizer that protects an object in use. */
export function protect(metadata: { finalizers?: string[] }, finalizer: string): void {
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), finalizer])];
}

const immutableSpec =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n';

function validateClaimUpdate(claim: Claim, old: Claim, errors: FieldErrors): void {
  const { spec, status } = claim;
  const { spec: before } = old;
  if (spec === undefined || before === undefined) return;
  const bound = status?.phase === 'Bound';
  // A claim without a class may later get the default class, when a default class exists.
  const lacksClass = before.storageClassName === undefined && !hasOldClass(old);
  const comparable = (one: ClaimSpec): unknown => {
    const { volumeAttributesClassName, resources, volumeName, ...rest } = one;
    return {
      ...rest,
      ...(lacksClass && { storageClassName: spec.storageClassName }),
      volumeName: (before.volumeName ?? '') === '' ? spec.volumeName : volumeName,
      resources: bound ? withoutStorage(resources) : resources,
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
  errors.immutable('volumeMode', spec.volumeMode, before.volumeMode);
}

/** Returns the resources of a claim without the requested storage, to compare the rest. */
function withoutStorage(resources: ClaimSpec['resources']): unknown {
  const { requests } = resources ?? {};
  return requests === undefined
    ? resources
    : { ...resources, requests: { ...requests, storage: '' } };
}

/** Returns whether a claim names its class by the annotation that predates the field. */
function hasOldClass({ metadata }: Claim): boolean {
  return metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined;
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
  const subject = { group: '', plural: claims, name: metadata?.name };
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

/** Copies `dataSource` and `dataSourceRef` to each other. The older `dataSource` allows fewer references. */
function mirrorDataSource({ spec }: Claim): void {
  if (spec === undefined) return;
  // Sources in other namespaces are an alpha feature.
  if ((spec.dataSourceRef?.namespace ?? '') !== '') delete spec.dataSourceRef;
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    if (isKnownSource(dataSource)) spec.dataSourceRef = { ...dataSource };
    else delete spec.dataSource;
  } else if (dataSource === undefined && dataSourceRef !== undefined)
    spec.dataSource = withoutMembers(dataSourceRef, 'namespace');
}

function isKnownSource({ apiGroup, kind }: { apiGroup?: string | null; kind: string }): boolean {
  const group = apiGroup ?? '';
  if (group === 'snapshot.storage.k8s.io') return kind === 'VolumeSnapshot';
  return group === '' && kind === 'PersistentVolumeClaim';
}

const claim = typedRules<Claim>({
  defaults: ({ spec, status }) => {
    if (spec !== undefined) defaultClaimSpec(spec);
    if (status !== undefined) status.phase ??= 'Pending';
  },
  validate: ({ spec }, errors) => {
    if (spec !== undefined) validateClaimSpec(spec, errors.at('spec'));
  },
  prepareForCreate: mirrorDataSource,
  prepareForUpdate: mirrorDataSource,
  completeNew: (object) => {
    object.status = { ...object.status, phase: 'Pending' };
    return true;
  },
  validateUpdate: validateClaimUpdate,
  admitUpdate: (claim, old, server) => {
    if (old.metadata.deletionTimestamp === undefined) checkLimitRanges(claims, claim, server);
    admitGrowth(claim, old, server);
    checkQuotas(claims, claim, server, old);
  },
  answersDeleted: true,
  admitCreate: admitClaim,
});

const parametersLimit = 512;
const parametersSizeLimit = 256 * 1024;

function validateStorageClass(object: StorageClass, errors: FieldErrors): void {
  const { provisioner, parameters, reclaimPolicy, volumeBindingMode } = object;
  validateProvisioner(provisioner, errors.at('provisioner'));
  validateParameters(parameters, errors);
  if (reclaimPolicy !== '') errors.oneOf('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain']);
  const modes = ['Immediate', 'WaitForFirstConsumer'];
  errors.oneOf('volumeBindingMode', volumeBindingMode, modes);
  // As on the real server, an empty topology counts as a duplicate.
  const seen: unknown[] = [{}];
  errors.each(
    'allowedTopologies',
    object.allowedTopologies ?? [],
    ({ matchLabelExpressions = [] }, errors) => {
      const field = 'matchLabelExpressions';
      const values = validateTopology(matchLabelExpressions, errors.at(field));
      if (seen.some((other) => deepEqual(other, values))) errors.duplicate(field, '');
      seen.push(values);
    },
  );
}

type TopologyRequirement = Wire<V1TopologySelectorLabelRequirement>;

/** Checks a topology of a StorageClass, and returns its values by key. */
function validateTopology(
  requirements: readonly TopologyRequirement[],
  errors: FieldErrors,
): unknown {
  const byKey: Record<string, readonly string[]> = {};
  errors.each('', requirements, ({ key, ...requirement }, errors) => {
    // Decoded requirements have null for absent values.
    const values = (requirement.values as string[] | null) ?? [];
    const seen = new Set<string>();
    errors.each('values', values, (value, errors) => {
      errors.unique('', value, seen);
    });
    if (values.length === 0) errors.required('values');
    errors.text('key', key, qualifiedNameProblems);
    if (Object.hasOwn(byKey, key)) errors.duplicate('key', key);
    else byKey[key] = [...seen].sort();
  });
  return byKey;
}

function validateProvisioner(name: string, errors: FieldErrors): void {
  errors.requiredText('', name.toLowerCase(), qualifiedNameProblems);
}

function validateParameters(
  parameters: Readonly<Record<string, string>> | undefined,
  errors: FieldErrors,
): void {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > parametersLimit) {
    errors.tooLong('parameters', parametersLimit);
    return;
  }
  for (const [key] of entries) {
    if (key === '') errors.invalid('parameters', key, 'field can not be empty.');
  }
  const size = entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0);
  if (size > parametersSizeLimit) errors.tooLong('parameters', parametersSizeLimit);
}

const storageClass = typedRules<StorageClass>({
  defaults: (object) => {
    object.reclaimPolicy ??= 'Delete';
    object.volumeBindingMode ??= 'Immediate';
  },
  validate: validateStorageClass,
  validateUpdate: (object, old, errors) => {
    for (const field of fixedFields) errors.immutable(field, object[field], old[field]);
  },
  answersDeleted: true,
});

const fixedFields = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const;

const attributesClass = typedRules<Wire<V1VolumeAttributesClass>>({
  validate: ({ driverName, parameters }, errors) => {
    validateProvisioner(driverName, errors.at('driverName'));
    validateParameters(parameters, errors);
    if (Object.keys(parameters ?? {}).length > 0) return;
    errors.required('parameters', 'must contain at least one key/value pair');
  },
  validateUpdate: (object, old, errors) => {
    for (const field of ['driverName', 'parameters'] as const) {
      if (deepEqual(object[field], old[field])) continue;
      errors.forbidden(field, `updates to ${field} are forbidden.`);
    }
  },
  answersDeleted: true,
  admitCreate: ({ metadata }) => protect(metadata, 'kubernetes.io/vac-protection'),
});

export const storageRules: Readonly<Record<string, KindRules>> = {
  '/v1/PersistentVolumeClaim': claim,
  'storage.k8s.io/v1/StorageClass': storageClass,
  'storage.k8s.io/v1/VolumeAttributesClass': attributesClass,
};

export const accessModeNames: readonly string[] = [
  'ReadOnlyMany',
  'ReadWriteMany',
  'ReadWriteOnce',
  'ReadWriteOncePod',
];

export function validateClaimSpec(
  spec: Wire<V1PersistentVolumeClaimSpec>,
  errors: FieldErrors,
): void {
  const { accessModes: modes = [], selector, resources, storageClassName = '', volumeMode } = spec;
  if (modes.length === 0) errors.required('accessModes', 'at least 1 access mode is required');
  if (selector !== undefined && !isEmptySelector(selector)) {
    validateLabelSelector(selector, errors.at('selector'));
  }
  for (const mode of modes) {
    errors.oneOf('accessModes', mode, accessModeNames);
  }
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    errors.forbidden('accessModes', 'may not use ReadWriteOncePod with other access modes');
  }
  const storage = resources?.requests?.['storage'];
  if (storage === undefined) errors.required('resources[storage]');
  else if (compareQuantities(storage, 0) <= 0) {
    errors.invalid('resources[storage]', storage, 'must be greater than zero');
  }
  if (storageClassName !== '') errors.text('storageClassName', storageClassName, subdomainProblems);
  errors.oneOf('volumeMode', volumeMode, ['Block', 'Filesystem']);
  validateDataSources(spec, errors);
  const { volumeAttributesClassName: attributes } = spec;
  errors.optionalText('volumeAttributesClassName', attributes, subdomainProblems);
}

function validateDataSources(spec: ClaimSpec, errors: FieldErrors): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined) validateReference(dataSource, errors.at('dataSource'));
  if (dataSourceRef === undefined) return;
  validateReference(dataSourceRef, errors.at('dataSourceRef'));
  const { namespace = '' } = dataSourceRef;
  errors.optionalText('dataSourceRef.namespace', namespace, labelProblems);
  if (dataSource === undefined) return;
  if (namespace !== '') {
    errors.invalid('', {}, 'may not be specified when dataSourceRef.namespace is specified');
  } else if (!isSameReference(dataSource, dataSourceRef)) {
    errors.invalid('', {}, 'must match dataSourceRef');
  }
}

/** A reference to the data that a claim starts with. */
interface DataReference {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
}

function isSameReference(one: DataReference, other: DataReference): boolean {
  const sameGroup = (one.apiGroup ?? '') === (other.apiGroup ?? '');
  return sameGroup && one.kind === other.kind && one.name === other.name;
}

function validateReference({ apiGroup, kind, name }: DataReference, errors: FieldErrors): void {
  const group = apiGroup ?? '';
  if (name === '') errors.required('name');
  if (kind === '') errors.required('kind');
  if (group !== '') errors.invalidEach('apiGroup', group, subdomainProblems(group));
  else if (kind !== 'PersistentVolumeClaim') {
    const why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.invalid('', kind, why);
  }
}
