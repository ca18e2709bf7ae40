import type {
  V1CSIDriver,
  V1Endpoints,
  V1Lease,
  V1LimitRange,
  V1MutatingWebhookConfiguration,
  V1Node,
  V1PodTemplate,
  V1PriorityClass,
  V1ReplicationController,
  V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { defaultPodSpec } from '../defaulting/pod-spec.js';
import { validateImmutable } from '../validation/immutable.js';
import { deepEqual } from '../writes/deep-equal.js';
import type { KindRules } from './kind-rules.js';
import { specChanged } from './spec-changed.js';
import { typedRules } from './typed-rules.js';

const lease = typedRules<Wire<V1Lease>>(
  {
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

const highestUserPriority = 1_000_000_000;

const priorityClass = typedRules<Wire<V1PriorityClass>>(
  {
    defaults: (object) => {
      object.preemptionPolicy ??= 'PreemptLowerPriority';
    },
    validate: ({ metadata, value }, errors) => {
      const system = metadata?.name?.startsWith('system-') === true;
      if (system || value <= highestUserPriority) return;
      const why = `maximum allowed value of a user defined priority is ${highestUserPriority}`;
      errors.forbidden('value', why);
    },
    validateUpdate: ({ value, preemptionPolicy }, old, errors) => {
      if (value !== old.value) {
        errors.forbidden('value', 'may not be changed in an update.');
      }
      const policy = {
        field: 'preemptionPolicy',
        value: preemptionPolicy,
        old: old.preemptionPolicy,
      };
      validateImmutable(policy, errors);
    },
  },
  { specChanged: () => false },
);

type Webhooks = Wire<V1ValidatingWebhookConfiguration | V1MutatingWebhookConfiguration>;

function defaultWebhooks({ webhooks }: Webhooks, mutating: boolean): void {
  for (const webhook of webhooks ?? []) {
    webhook.failurePolicy ??= 'Fail';
    webhook.matchPolicy ??= 'Equivalent';
    webhook.namespaceSelector ??= {};
    webhook.objectSelector ??= {};
    webhook.timeoutSeconds ??= 10;
    if (mutating) Object.assign(webhook, { reinvocationPolicy: 'Never', ...webhook });
    for (const rule of webhook.rules ?? []) rule.scope ??= '*';
    const { service } = webhook.clientConfig;
    if (service !== undefined) service.port ??= 443;
  }
}

function webhookRules(mutating: boolean): KindRules {
  return typedRules<Webhooks>(
    { defaults: (object) => defaultWebhooks(object, mutating) },
    {
      unconditionalUpdate: false,
      specChanged: (object, old) => !deepEqual(object['webhooks'], old['webhooks']),
    },
  );
}

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
    // Who registers a node brings its status.
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
  { unconditionalUpdate: false, specChanged },
);

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
  },
  { specChanged, initialStatus: () => ({ replicas: 0 }) },
);

const endpoints = typedRules<Wire<V1Endpoints>>(
  {
    defaults: ({ subsets }) => {
      for (const { ports } of subsets ?? []) {
        for (const port of ports ?? []) port.protocol ??= 'TCP';
      }
    },
  },
  { createOnUpdate: true },
);

const limitRange = typedRules<Wire<V1LimitRange>>(
  {
    defaults: ({ spec }) => {
      for (const item of spec?.limits ?? []) {
        if (item.type !== 'Container') continue;
        item.default = { ...item.max, ...item.default };
        item.defaultRequest = { ...item.min, ...item.default, ...item.defaultRequest };
      }
    },
  },
  { createOnUpdate: true },
);

const podTemplate = typedRules<Wire<V1PodTemplate>>(
  {
    defaults: ({ template }) => {
      if (template?.spec !== undefined) defaultPodSpec(template.spec);
    },
  },
  { specChanged: (object, old) => !deepEqual(object['template'], old['template']) },
);

/** The rules of leases, nodes and other kinds that the cluster itself uses. */
export const clusterRules: Readonly<Record<string, KindRules>> = {
  'coordination.k8s.io/v1/Lease': lease,
  'scheduling.k8s.io/v1/PriorityClass': priorityClass,
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': webhookRules(false),
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': webhookRules(true),
  'storage.k8s.io/v1/CSIDriver': csiDriver,
  'node.k8s.io/v1/RuntimeClass': { createOnUpdate: true, unconditionalUpdate: false },
  '/v1/Node': node,
  '/v1/ReplicationController': replicationController,
  '/v1/Endpoints': endpoints,
  '/v1/LimitRange': limitRange,
  '/v1/PodTemplate': podTemplate,
  '/v1/ServiceAccount': { answersDeleted: true },
};
