import type {
  StorageV1TokenRequest,
  V1CSIDriver,
  V1CSIDriverSpec,
  V1CSINode,
  V1CSINodeDriver,
  V1CSIStorageCapacity,
  V1VolumeAttachment,
  V1VolumeAttachmentSource,
  V1VolumeError,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  compareQuantities,
  deepEqual,
  withoutMembers,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateNonnegative } from './field-values.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateLabelSelector } from './metadata.js';
import { validatePersistentVolume } from './persistent-volume.js';
import { validateDriverName } from './volume-sources.js';

const csiDriver = typedRules<Wire<V1CSIDriver>>({
  defaults: ({ spec }) => {
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    if ((spec.volumeLifecycleModes ?? []).length === 0) {
      spec.volumeLifecycleModes = ['Persistent'];
    }
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
  prepareForCreate: dropDisabled,
  prepareForUpdate: dropDisabled,
  validate: ({ spec }, errors) => validateDriver(spec, errors),
  warnings: ({ spec }, old) => driverWarnings(spec, old?.spec),
  validateUpdate: ({ spec }, { spec: old }, errors) => {
    const { attachRequired, volumeLifecycleModes: modes } = spec;
    errors.immutable('spec.attachedRequired', attachRequired, old.attachRequired);
    errors.immutable('spec.volumeLifecycleModes', modes, old.volumeLifecycleModes);
  },
  specChanged,
  firstGeneration: 0,
  unconditionalUpdate: false,
  answersDeleted: true,
});

const policies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];

/** The spec of a driver, with fields that the types of the client lack. */
type DriverSpec = Wire<V1CSIDriverSpec> & {
  readonly serviceAccountTokenInSecrets?: boolean;
  preventPodSchedulingIfMissing?: boolean;
};

/** Drops the field of a disabled feature. */
function dropDisabled({ spec }: { readonly spec: DriverSpec }): void {
  delete spec.preventPodSchedulingIfMissing;
}

function validateDriver(spec: DriverSpec, errors: FieldErrors): void {
  errors.oneOf('spec.fsGroupPolicy', spec.fsGroupPolicy, policies);
  const { tokenRequests = [], volumeLifecycleModes = [] } = spec;
  validateTokenRequests(tokenRequests, errors);
  for (const mode of volumeLifecycleModes) {
    errors.oneOf('spec.volumeLifecycleModes', mode, lifecycleModes);
  }
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } =
    spec;
  if (period !== undefined && period < 10) {
    const why = 'must be greater than or equal to 10 seconds';
    errors.invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, why);
  }
  if (inSecrets === undefined || tokenRequests.length > 0) return;
  const why = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
  errors.invalid('spec.serviceAccountTokenInSecrets', inSecrets, why);
}

const loggedTokens =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

function driverWarnings(spec: DriverSpec, old: DriverSpec | undefined): readonly string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets: inSecrets } = spec;
  const isNew = !deepEqual(tokenRequests, old?.tokenRequests ?? []);
  return tokenRequests.length > 0 && inSecrets === undefined && isNew ? [loggedTokens] : [];
}

const shortestToken = 600;
const longestToken = 2 ** 32;

function validateTokenRequests(
  requests: readonly Wire<StorageV1TokenRequest>[],
  errors: FieldErrors,
): void {
  const audiences = new Set<string>();
  for (const [index, { audience, expirationSeconds: seconds }] of requests.entries()) {
    const field = `spec.tokenRequests[${index}]`;
    if (audiences.has(audience)) {
      errors.duplicate(`${field}.audience`, audience);
      continue;
    }
    audiences.add(audience);
    if (seconds === undefined) continue;
    const path = `${field}.expirationSeconds`;
    if (seconds < shortestToken) {
      errors.invalid(path, seconds, 'may not specify a duration less than 10 minutes');
    }
    if (seconds > longestToken) {
      errors.invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds');
    }
  }
}

const csiNode = typedRules<Wire<V1CSINode>>({
  validate: ({ spec }, errors) => {
    const names = new Set<string>();
    errors.each('spec.drivers', driversOf(spec), (driver, errors) => {
      validateNodeDriver(driver, errors);
      errors.unique('name', driver.name, names);
    });
  },
  validateUpdate: ({ spec }, { spec: before }, errors) => {
    for (const old of driversOf(before)) {
      for (const driver of driversOf(spec).filter(({ name }) => name === old.name)) {
        const [now, then] = [driver, old].map((one) => withoutMembers(one, 'allocatable'));
        errors.immutable('spec.drivers', now, then);
      }
    }
  },
  unconditionalUpdate: false,
  answersDeleted: true,
});

type NodeDriver = Wire<V1CSINodeDriver>;

/** Returns the drivers of a decoded CSINode, which are null if absent. */
function driversOf({ drivers }: Wire<V1CSINode>['spec']): readonly NodeDriver[] {
  const given = drivers as NodeDriver[] | null;
  return given ?? [];
}

const nodeIdLimit = 256;

function validateNodeDriver(driver: NodeDriver, errors: FieldErrors): void {
  const { name, nodeID, topologyKeys } = driver;
  validateDriverName(name, errors.at('name'));
  if (nodeID === '') errors.required('nodeID');
  if (nodeID.length > nodeIdLimit) {
    errors.invalid('nodeID', nodeID, `must be ${nodeIdLimit} characters or less`);
  }
  validateNonnegative(driver.allocatable?.count, errors.at('allocatable.count'));
  const seen = new Set<string>();
  for (const key of topologyKeys ?? []) {
    if (key === '') errors.required('');
    errors.unique('', key, seen);
    errors.invalidEach('', key, qualifiedNameProblems(key));
  }
}

const csiStorageCapacity = typedRules<Wire<V1CSIStorageCapacity>>({
  validate: ({ nodeTopology, storageClassName, capacity }, errors) => {
    validateLabelSelector(nodeTopology, errors.at('nodeTopology'));
    errors.invalidEach('storageClassName', storageClassName, subdomainProblems(storageClassName));
    if (capacity !== undefined && compareQuantities(capacity, 0) < 0) {
      errors.invalid('capacity', capacity, 'must be greater than or equal to 0');
    }
  },
  validateUpdate: ({ nodeTopology, storageClassName }, old, errors) => {
    errors.immutable('nodeTopology', nodeTopology, old.nodeTopology);
    errors.immutable('storageClassName', storageClassName, old.storageClassName);
  },
  unconditionalUpdate: false,
});

const volumeAttachment = typedRules<Wire<V1VolumeAttachment>>({
  validate: validateAttachment,
  validateUpdate: ({ spec }, old, errors) => errors.immutable('spec', spec, old.spec),
  unconditionalUpdate: false,
  answersDeleted: true,
  resets: { status: ['spec', 'metadata'] },
  validateStatusUpdate: (object, _old, errors) => validateAttachment(object, errors),
});

function validateAttachment({ spec, status }: Wire<V1VolumeAttachment>, errors: FieldErrors): void {
  validateDriverName(spec.attacher, errors.at('spec.attacher'));
  validateSource(spec.source, errors);
  errors.invalidEach('spec.nodeName', spec.nodeName, subdomainProblems(spec.nodeName));
  validateVolumeError(status?.attachError, errors.at('status.attachError'));
  validateVolumeError(status?.detachError, errors.at('status.detachError'));
}

function validateSource(source: Wire<V1VolumeAttachmentSource>, errors: FieldErrors): void {
  const { inlineVolumeSpec, persistentVolumeName: name } = source;
  const field = 'spec.source';
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inlineVolumeSpec === undefined && name === undefined) errors.required(field, exactlyOne);
  else if (inlineVolumeSpec !== undefined && name !== undefined)
    errors.forbidden(field, exactlyOne);
  else if (name === '') {
    errors.required(`${field}.persistentVolumeName`, 'must specify non empty persistentVolumeName');
  }
  errors.text(`${field}.persistentVolumeName`, name, subdomainProblems);
  if (inlineVolumeSpec !== undefined && name === undefined) {
    validatePersistentVolume(inlineVolumeSpec, {
      inline: true,
      errors: errors.at(`${field}.inlineVolumeSpec`),
    });
  }
}

const messageLimit = 1024;
const metadataLimit = 256 * 1024;

function validateVolumeError(error: Wire<V1VolumeError> | undefined, errors: FieldErrors): void {
  const { message = '', errorCode = 0 } = error ?? {};
  // The error of the real server shows another limit than the limit that the server checks.
  if (message.length > messageLimit) errors.tooLong('message', metadataLimit);
  if (errorCode < 0) {
    errors.invalid('errorCode', errorCode, 'must be between 0 and 2147483647, inclusive');
  }
}

const group = 'storage.k8s.io/v1';

export const csiRules: Readonly<Record<string, KindRules>> = {
  [`${group}/CSIDriver`]: csiDriver,
  [`${group}/CSINode`]: csiNode,
  [`${group}/CSIStorageCapacity`]: csiStorageCapacity,
  [`${group}/VolumeAttachment`]: volumeAttachment,
};
