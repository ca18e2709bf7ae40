import type {
  ResourceV1ResourceClaim,
  V1Lease,
  V1Node,
  V1NodeSpec,
  V1PodTemplate,
  V1ReplicationController,
  V1RuntimeClass,
  V1Scheduling,
  V1ServiceAccount,
  V1Taint,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  deepEqual,
  withoutMembers,
  labelProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { forbidden } from '../status-error.js';
import { validateNonnegative, validatePodCidrs } from './field-values.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateResources } from './resources.js';
import { refuseTemplateLabels, validateFinalizer, validateLabels } from './metadata.js';
import { defaultPodSpec, validatePodTemplate, validateTolerations } from './pod-spec.js';
import { templateRules } from './pod.js';

/** Drops fields of disabled features. */
function dropDisabled({ spec }: Wire<V1Lease>): void {
  delete spec?.strategy;
  delete spec?.preferredHolder;
}

const lease = typedRules<Wire<V1Lease>>({
  prepareForCreate: dropDisabled,
  prepareForUpdate: dropDisabled,
  validate: ({ spec }, errors) => {
    const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec ?? {};
    if (duration !== undefined && duration <= 0) {
      errors.invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0');
    }
    if (transitions !== undefined && transitions < 0) {
      errors.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0');
    }
  },
  createOnUpdate: true,
  unconditionalUpdate: false,
});

const node = typedRules<Wire<V1Node>>({
  defaults: ({ spec, status }) => {
    if (spec !== undefined) alignPodCidrs(spec);
    if (status?.capacity !== undefined) status.allocatable ??= { ...status.capacity };
  },
  prepareForCreate: dropConfigSource,
  prepareForUpdate: dropConfigSource,
  validate: ({ spec }, errors) => {
    validateTaints(spec?.taints ?? [], errors);
    validatePodCidrs(spec?.podCIDRs ?? [], errors.at('spec.podCIDRs'));
  },
  warnings: ({ spec = {} }) => ((spec.externalID ?? '') === '' ? [] : [unusedId]),
  validateUpdate: ({ spec = {} }, { spec: old = {} }, errors) => {
    validateNodeChange(spec, old, errors);
  },
  selectableFields: ({ spec }) => ({
    'spec.unschedulable': String(spec?.unschedulable ?? false),
  }),
  admitCreate: addNotReadyTaint,
  // The client that registers a node sets its status.
  initialStatus: ({ status }) => status ?? {},
});

/** The taint of new nodes, which keeps pods away until the node controller finds the node ready. */
export const notReadyTaint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

interface TaintId {
  readonly key: string;
  readonly effect: string;
}

/** Returns whether two taints have the same key and effect: a node has at most one of them. */
export function isSameTaint(one: TaintId, other: TaintId): boolean {
  return one.key === other.key && one.effect === other.effect;
}

function addNotReadyTaint(object: Wire<V1Node>): void {
  const { taints = [] } = (object.spec ??= {});
  if (taints.some((taint) => isSameTaint(taint, notReadyTaint))) return;
  object.spec.taints = [...taints, { ...notReadyTaint }];
}

/**
 * Makes `podCIDR`, the field of older clients, and the first entry of `podCIDRs` the same. If they differ, `podCIDR`
 * takes precedence.
 */
function alignPodCidrs(spec: NodeSpec): void {
  const { podCIDR = '', podCIDRs = [] } = spec;
  if (podCIDR !== '' && podCIDR !== podCIDRs[0]) spec.podCIDRs = [podCIDR];
  else if (podCIDRs[0] !== undefined) [spec.podCIDR] = podCIDRs;
}

/** Kubernetes has removed the feature, and drops its field. */
function dropConfigSource({ spec }: Wire<V1Node>): void {
  delete spec?.configSource;
}

const unusedId = 'spec.externalID: this field is deprecated, and is unused by Kubernetes';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/**
 * Checks the taints of a node. Like the real server's, its errors say `metadata.taints`, although the field is in
 * `spec`.
 */
function validateTaints(taints: readonly Wire<V1Taint>[], errors: FieldErrors): void {
  const seen = new Set<string>();
  errors.each('metadata.taints', taints, (taint, errors) => {
    const { key, value = '', effect } = taint;
    errors.invalidEach('key', key, qualifiedNameProblems(key));
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid('value', value, problems.join(';'));
    errors.requiredOneOf('effect', effect, effects);
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) errors.duplicate('', taint, 'taints must be unique by key and effect pair');
    seen.add(pair);
  });
}

type NodeSpec = Wire<V1NodeSpec>;

function validateNodeChange(spec: NodeSpec, old: NodeSpec, errors: FieldErrors): void {
  const { podCIDRs: ranges = [] } = old;
  const change = 'node updates may not change';
  const once = 'except from "" to valid';
  if (ranges.length > 0 && !deepEqual(ranges, spec.podCIDRs)) {
    errors.forbidden('spec.podCIDRs', `${change} podCIDR ${once}`);
  }
  if ((old.providerID ?? '') !== '' && old.providerID !== spec.providerID) {
    errors.forbidden('spec.providerID', `${change} providerID ${once}`);
  }
  if (spec.externalID !== old.externalID) errors.forbidden('spec.externalID', 'may not be updated');
}

function validateController({ spec }: Wire<V1ReplicationController>, errors: FieldErrors): void {
  if (spec === undefined) return;
  const { replicas, selector = {}, template } = spec;
  validateNonnegative(replicas, errors.at('spec.replicas'));
  if (Object.keys(selector).length === 0) errors.required('spec.selector');
  if (template === undefined) {
    errors.required('spec.template');
    return;
  }
  const labels = template.metadata?.labels ?? {};
  if (!Object.entries(selector).every(([key, value]) => labels[key] === value)) {
    refuseTemplateLabels(template.metadata, errors);
  }
  validatePodTemplate(template, errors.at('spec.template'));
}

const ofTemplate = templateRules<Wire<V1ReplicationController>>(
  'spec.template.spec',
  ({ spec }) => spec?.template?.spec,
);

const replicationController = typedRules<Wire<V1ReplicationController>>({
  ...ofTemplate,
  defaults: ({ metadata, spec }) => {
    if (spec === undefined) return;
    spec.replicas ??= 1;
    const { labels } = spec.template?.metadata ?? {};
    if (labels !== undefined) {
      spec.selector ??= { ...labels };
      metadata.labels ??= { ...labels };
    }
    if (spec.template?.spec !== undefined) defaultPodSpec(spec.template.spec);
  },
  validate: validateController,
  // As on a real server: an update has the warnings of the template that it replaces.
  warnings: (object, old) =>
    old === undefined ? ofTemplate.warnings(object) : ofTemplate.warnings(old, object),
  specChanged,
  orphansByDefault: true,
  initialStatus: () => ({ replicas: 0 }),
});

function validateScheduling(
  { nodeSelector, tolerations = [] }: Wire<V1Scheduling>,
  errors: FieldErrors,
): void {
  validateLabels(nodeSelector, errors.at('scheduling.nodeSelector'));
  validateTolerations(tolerations, errors.at('scheduling.tolerations'));
  const seen = new Set<string>();
  errors.each('scheduling.tolerations', tolerations, (toleration, errors) => {
    const { key, operator, value, effect } = toleration;
    const listKey = JSON.stringify([key, operator, value, effect]);
    if (seen.has(listKey)) errors.duplicate('', toleration);
    seen.add(listKey);
  });
}

const runtimeClass = typedRules<Wire<V1RuntimeClass>>({
  validate: ({ handler, scheduling, overhead }, errors) => {
    errors.requiredText('handler', handler, labelProblems);
    if (overhead !== undefined) {
      const resources = { limits: overhead.podFixed ?? {} };
      validateResources(resources, new Set(), errors.at('overhead'));
    }
    if (scheduling !== undefined) validateScheduling(scheduling, errors);
  },
  validateUpdate: ({ handler }, old, errors) => errors.immutable('handler', handler, old.handler),
  createOnUpdate: true,
  unconditionalUpdate: false,
});

const podTemplate = typedRules<Wire<V1PodTemplate>>({
  ...templateRules<Wire<V1PodTemplate>>('template.spec', ({ template }) => template?.spec),
  defaults: ({ template }) => {
    if (template?.spec !== undefined) defaultPodSpec(template.spec);
  },
  validate: ({ template }, errors) => validatePodTemplate(template ?? {}, errors.at('template')),
  answersDeleted: true,
  specChanged: (object, old) => !deepEqual(object.template, old.template),
});

interface NamespaceParts {
  spec?: { finalizers?: string[] } | undefined;
  status?: { phase?: string };
}

/** Namespaces that always exist and cannot be deleted. */
export const immortalNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Namespaces have a finalizer in `spec`, a phase, and a label with the name. */
const namespace = typedRules<NamespaceParts>({
  nameFormat: 'label',
  ownPreconditions: true,
  defaults: (object) => {
    const { metadata } = object;
    if (metadata.name === undefined || metadata.name === '') return;
    metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  },
  prepareForCreate: (object) => {
    const { finalizers = [] } = object.spec ?? {};
    const all = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
    object.spec = { finalizers: all };
  },
  validateCreate: ({ spec }, errors) => {
    for (const finalizer of spec?.finalizers ?? []) {
      validateFinalizer(finalizer, errors.at('spec.finalizers'));
    }
  },
  initialStatus: () => ({ phase: 'Active' }),
  prepareForUpdate: (object, { spec }) => {
    object.spec = spec;
  },
  prepareForStatusUpdate: (object) => {
    object.status = { ...object.status, phase: object.status?.phase || 'Active' };
  },
  validateStatusUpdate: ({ metadata, status }, _old, errors) => {
    const isDeleted = metadata.deletionTimestamp !== undefined;
    const phase = isDeleted ? 'Terminating' : 'Active';
    if (status?.phase === phase) return;
    const why = `may only be '${phase}' if \`deletionTimestamp\` is ${isDeleted ? 'not ' : ''}empty`;
    errors.invalid('status.Phase', status?.phase ?? '', why);
  },
  selectableFields: ({ status }) => ({ 'status.phase': status?.phase ?? '' }),
  isFinalized: ({ metadata, spec }) =>
    metadata.deletionTimestamp !== undefined && (spec?.finalizers ?? []).length === 0,
  markDeleted: (object) => {
    const metadata = withoutMembers(object.metadata, 'deletionGracePeriodSeconds');
    return { ...object, metadata, status: { ...object.status, phase: 'Terminating' } };
  },
  beforeDelete: ({ metadata: { name = '' } }) => {
    if (!immortalNamespaces.includes(name)) return;
    throw forbidden({ group: '', plural: 'namespaces', name }, 'this namespace may not be deleted');
  },
});

const resourceClaim = typedRules<Wire<ResourceV1ResourceClaim>>({
  defaults: ({ spec }) => {
    for (const { exactly } of spec.devices?.requests ?? []) {
      if (exactly === undefined) continue;
      for (const toleration of exactly.tolerations ?? []) toleration.operator ??= 'Equal';
      exactly.allocationMode ??= 'ExactCount';
      if (exactly.allocationMode === 'ExactCount') exactly.count ??= 1;
    }
  },
  validateUpdate: ({ spec }, old, errors) => errors.immutable('spec', spec, old.spec),
  answersDeleted: true,
  resets: { status: ['spec', 'metadata'] },
});

/** Keeps only the names of a ServiceAccount's secrets. */
function nameSecrets(account: Wire<V1ServiceAccount>): void {
  const { secrets } = account;
  if (secrets !== undefined) account.secrets = secrets.map(({ name }) => (name ? { name } : {}));
}

const serviceAccount = typedRules<Wire<V1ServiceAccount>>({
  prepareForCreate: nameSecrets,
  prepareForUpdate: nameSecrets,
  answersDeleted: true,
});

/** The rules of leases, nodes, namespaces and other kinds that the cluster itself uses. */
export const clusterRules: Readonly<Record<string, KindRules>> = {
  'coordination.k8s.io/v1/Lease': lease,
  'networking.k8s.io/v1/ServiceCIDR': { resets: { status: ['spec', 'metadata'] } },
  'resource.k8s.io/v1/DeviceClass': { specChanged, answersDeleted: true },
  'resource.k8s.io/v1/ResourceClaim': resourceClaim,
  'resource.k8s.io/v1/ResourceClaimTemplate': { answersDeleted: true },
  'resource.k8s.io/v1/ResourceSlice': { specChanged, answersDeleted: true },
  'node.k8s.io/v1/RuntimeClass': runtimeClass,
  '/v1/Namespace': namespace,
  '/v1/Node': node,
  '/v1/ReplicationController': replicationController,
  '/v1/PodTemplate': podTemplate,
  '/v1/ServiceAccount': serviceAccount,
  '/v1/ComponentStatus': { deprecation: 'v1 ComponentStatus is deprecated in v1.19+' },
};
