import type {
  V1CSIDriver,
  V1FlowSchema,
  V1Lease,
  V1Node,
  V1PodTemplate,
  V1PriorityLevelConfiguration,
  V1ReplicationController,
  V1RuntimeClass,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { labelProblems } from '../../crd/internal.js';
import { deepEqual, withoutMembers } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { forbidden } from '../status-error.js';
import { validateNonnegative } from './field-values.js';
import { specChanged, typedRules, validateImmutable } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { defaultPodSpec, validatePodTemplate } from './pod-spec.js';

/** Drops fields of disabled features. */
function dropDisabled({ spec }: Wire<V1Lease>): void {
  delete spec?.strategy;
  delete spec?.preferredHolder;
}

const lease = typedRules<Wire<V1Lease>>(
  {
    prepareForCreate: dropDisabled,
    prepareForUpdate: dropDisabled,
    validate: ({ spec }, errors) => {
      const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec ?? {};
      if (duration !== undefined && duration <= 0) {
        errors.invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0');
      }
      if (transitions !== undefined && transitions < 0) {
        const why = 'must be greater than or equal to 0';
        errors.invalid('spec.leaseTransitions', transitions, why);
      }
    },
  },
  { createOnUpdate: true, unconditionalUpdate: false },
);

const node = typedRules<Wire<V1Node>>(
  {
    defaults: ({ status }) => {
      if (status?.capacity !== undefined) status.allocatable ??= { ...status.capacity };
    },
    selectableFields: ({ spec }) => ({
      'spec.unschedulable': String(spec?.unschedulable ?? false),
    }),
  },
  {
    // The client that registers a node sets its status.
    initialStatus: (object) => object['status'] ?? {},
  },
);

const csiDriver = typedRules<Wire<V1CSIDriver>>(
  {
    defaults: ({ spec }) => {
      spec.attachRequired ??= true;
      spec.podInfoOnMount ??= false;
      spec.storageCapacity ??= false;
      spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
      spec.volumeLifecycleModes ??= ['Persistent'];
      spec.requiresRepublish ??= false;
      spec.seLinuxMount ??= false;
    },
  },
  // The kind has no generation.
  { unconditionalUpdate: false },
);

function validateController({ spec }: Wire<V1ReplicationController>, errors: FieldErrors): void {
  if (spec === undefined) return;
  const { replicas, selector = {}, template } = spec;
  validateNonnegative(replicas, 'spec.replicas', errors);
  if (Object.keys(selector).length === 0) errors.required('spec.selector');
  if (template === undefined) {
    errors.required('spec.template');
    return;
  }
  const labels = template.metadata?.labels ?? {};
  if (!Object.entries(selector).every(([key, value]) => labels[key] === value)) {
    const why = '`selector` does not match template `labels`';
    errors.invalid('spec.template.metadata.labels', labels, why);
  }
  validatePodTemplate(template, 'spec.template', errors);
}

const replicationController = typedRules<Wire<V1ReplicationController>>(
  {
    defaults: ({ metadata, spec }) => {
      if (spec === undefined) return;
      spec.replicas ??= 1;
      const { labels } = spec.template?.metadata ?? {};
      if (labels !== undefined) {
        spec.selector ??= { ...labels };
        if (metadata !== undefined) metadata.labels ??= { ...labels };
      }
      if (spec.template?.spec !== undefined) defaultPodSpec(spec.template.spec);
    },
    validate: validateController,
  },
  { specChanged, initialStatus: () => ({ replicas: 0 }) },
);

const runtimeClass = typedRules<Wire<V1RuntimeClass>>(
  {
    validate: ({ handler }, errors) => {
      errors.invalidEach('handler', handler, labelProblems(handler));
    },
    validateUpdate: ({ handler }, old, errors) =>
      validateImmutable({ field: 'handler', value: handler, old: old.handler }, errors),
  },
  { createOnUpdate: true, unconditionalUpdate: false },
);

const podTemplate = typedRules<Wire<V1PodTemplate>>(
  {
    defaults: ({ template }) => {
      if (template?.spec !== undefined) defaultPodSpec(template.spec);
    },
    validate: ({ template }, errors) => validatePodTemplate(template ?? {}, 'template', errors),
  },
  { specChanged: (object, old) => !deepEqual(object['template'], old['template']) },
);

interface NamespaceParts {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

const partsOf = (object: UnstructuredObject): NamespaceParts => object as NamespaceParts;

/** Namespaces that always exist and cannot be deleted. */
export const immortalNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Namespaces have a finalizer in `spec`, a phase, and a label with the name. */
const namespace: KindRules = {
  nameFormat: 'label',
  defaults: (object) => {
    const { metadata } = object;
    if (metadata.name === undefined || metadata.name === '') return;
    metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  },
  prepareForCreate: (object) => {
    const { finalizers = [] } = partsOf(object).spec ?? {};
    const all = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
    object['spec'] = { finalizers: all };
  },
  initialStatus: () => ({ phase: 'Active' }),
  prepareForUpdate: (object, old) => {
    object['spec'] = old['spec'];
  },
  selectableFields: (object) => ({
    'status.phase': partsOf(object).status?.phase ?? '',
    name: object.metadata.name ?? '',
  }),
  isFinalized: (object) =>
    object.metadata.deletionTimestamp !== undefined &&
    (partsOf(object).spec?.finalizers ?? []).length === 0,
  markDeleted: (object) => {
    const metadata = withoutMembers(object.metadata, 'deletionGracePeriodSeconds');
    return { ...object, metadata, status: { ...partsOf(object).status, phase: 'Terminating' } };
  },
  beforeDelete: ({ metadata: { name = '' } }) => {
    if (!immortalNamespaces.includes(name)) return;
    throw forbidden({ group: '', plural: 'namespaces', name }, 'this namespace may not be deleted');
  },
};

const flowSchema = typedRules<Wire<V1FlowSchema>>(
  {
    defaults: ({ spec }) => {
      // The server cannot distinguish 0 from an absent number.
      if (spec !== undefined) spec.matchingPrecedence ||= 1_000;
    },
  },
  { specChanged },
);

const priorityLevel = typedRules<Wire<V1PriorityLevelConfiguration>>(
  {
    defaults: ({ spec }) => {
      const { limited, exempt } = spec ?? {};
      if (exempt !== undefined) {
        exempt.nominalConcurrencyShares ??= 0;
        exempt.lendablePercent ??= 0;
      }
      if (limited === undefined) return;
      limited.nominalConcurrencyShares ??= 30;
      limited.lendablePercent ??= 0;
      const { queuing } = limited.limitResponse ?? {};
      if (queuing === undefined) return;
      queuing.queues ||= 64;
      queuing.handSize ||= 8;
      queuing.queueLengthLimit ||= 50;
    },
  },
  { specChanged },
);

/** The rules of leases, nodes, namespaces and other kinds that the cluster itself uses. */
export const clusterRules: Readonly<Record<string, KindRules>> = {
  'coordination.k8s.io/v1/Lease': lease,
  'flowcontrol.apiserver.k8s.io/v1/FlowSchema': flowSchema,
  'flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration': priorityLevel,
  'resource.k8s.io/v1/DeviceClass': { specChanged },
  'storage.k8s.io/v1/CSIDriver': csiDriver,
  'node.k8s.io/v1/RuntimeClass': runtimeClass,
  '/v1/Namespace': namespace,
  '/v1/Node': node,
  '/v1/ReplicationController': replicationController,
  '/v1/PodTemplate': podTemplate,
  '/v1/ServiceAccount': { answersDeleted: true },
  '/v1/ComponentStatus': { deprecation: 'v1 ComponentStatus is deprecated in v1.19+' },
};
