import { patch } from './scenario.js';
import type { Request } from './scenario.js';

/** A kind with a small valid object, and a patch that the server accepts. */
export interface SampleKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** @defaultValue true */
  readonly namespaced?: boolean;
  /** The object without its metadata. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Merge patch that changes the object, without metadata. @defaultValue only a label changes */
  readonly change?: Readonly<Record<string, unknown>>;
  readonly subresources?: readonly ('status' | 'scale')[];
  /** The type of the condition that the server sets after a create. @defaultValue none */
  readonly condition?: string;
  /** Name of the object, for kinds that restrict names. @defaultValue `{{ns}}-one` */
  readonly name?: string;
}

const labels = { app: 'a' };
const selector = { matchLabels: labels };
const container = { name: 'c', image: 'nginx:1' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const jobTemplate = {
  metadata: { labels },
  spec: { restartPolicy: 'Never', containers: [container] },
};
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const subjects = [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }];
const webhookRules = [
  {
    apiGroups: ['none.example.com'],
    apiVersions: ['v1'],
    resources: ['x'],
    operations: ['CREATE'],
  },
];
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/a' },
  rules: webhookRules,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const status = ['status'] as const;
const scale = ['status', 'scale'] as const;
const widgetSchema = { type: 'object', properties: { spec: { type: 'object' } } };

/** The kinds of the core group. */
export const coreKinds: readonly SampleKind[] = [
  {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
    fields: { data: { a: '1', b: '2' } },
    change: { data: { a: null, c: '3' } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
    fields: { stringData: { a: 'x' }, data: { b: 'eQ==' } },
    change: { stringData: { a: 'z' } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Service', plural: 'services', subresources: status },
    fields: { spec: { selector: labels, ports: [{ port: 80 }] } },
    change: { spec: { ports: [{ port: 81, name: 'web' }], sessionAffinity: 'ClientIP' } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
    fields: { automountServiceAccountToken: false },
    change: { automountServiceAccountToken: null, imagePullSecrets: [{ name: 's' }] },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Endpoints', plural: 'endpoints' },
    fields: { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] },
    change: { subsets: null },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Pod', plural: 'pods', subresources: status },
    // The embedded server sets `serviceAccountName` itself only if a volume projects a token.
    fields: { spec: { containers: [container], serviceAccountName: 'default' } },
    change: { spec: { activeDeadlineSeconds: 30 } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'PodTemplate', plural: 'podtemplates' },
    fields: { template },
    change: { template: { spec: { hostNetwork: true } } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'ReplicationController', plural: 'replicationcontrollers' },
    fields: { spec: { selector: labels, template } },
    change: { spec: { replicas: 2 } },
    subresources: scale,
  },
  {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
    fields: {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    change: { spec: { volumeName: 'v' } },
    subresources: status,
  },
  {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', plural: 'persistentvolumes' },
    namespaced: false,
    fields: {
      spec: {
        ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
        hostPath: { path: '/data' },
      },
    },
    change: { spec: { persistentVolumeReclaimPolicy: 'Delete' } },
    subresources: status,
  },
  {
    ...{ apiVersion: 'v1', kind: 'LimitRange', plural: 'limitranges' },
    fields: { spec: { limits: [{ type: 'Container', min: { cpu: '1m' } }] } },
    change: { spec: { limits: [{ type: 'Container', max: { cpu: '64' } }] } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', subresources: status },
    fields: { spec: { hard: { 'count/widgets.example.com': '10' } } },
    change: { spec: { hard: { 'count/gadgets.example.com': '20' } } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Event', plural: 'events' },
    fields: {
      ...{ reason: 'Why', message: 'because', type: 'Normal' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: '{{ns}}' },
    },
    change: { count: 2 },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false, subresources: status },
    fields: { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
    change: { spec: { unschedulable: true } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
    fields: {},
    subresources: status,
  },
];

/** The kinds of workloads. */
export const workloadKinds: readonly SampleKind[] = [
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', subresources: scale },
    fields: { spec: { selector, template } },
    change: { spec: { replicas: 2, minReadySeconds: 5 } },
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets', subresources: scale },
    fields: { spec: { selector, template } },
    change: { spec: { replicas: 2 } },
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets', subresources: scale },
    fields: { spec: { selector, template, serviceName: 's' } },
    change: { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } },
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', plural: 'daemonsets', subresources: status },
    fields: { spec: { selector, template } },
    change: { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', plural: 'controllerrevisions' },
    fields: { revision: 1, data: { a: 1 } },
    change: { revision: 2 },
  },
  {
    ...{ apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs', subresources: status },
    fields: { spec: { template: jobTemplate } },
    change: { spec: { parallelism: 2, suspend: true } },
  },
  {
    ...{ apiVersion: 'batch/v1', kind: 'CronJob', plural: 'cronjobs', subresources: status },
    fields: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
    change: { spec: { suspend: true, schedule: '@hourly' } },
  },
  {
    apiVersion: 'autoscaling/v2',
    ...{ kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers' },
    fields: {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
      },
    },
    change: { spec: { minReplicas: 2 } },
    subresources: status,
  },
  {
    apiVersion: 'autoscaling/v1',
    ...{ kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers' },
    fields: {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        ...{ maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
      },
    },
    change: { spec: { minReplicas: 2 } },
    subresources: status,
  },
  {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
    fields: { spec: { selector, minAvailable: 1 } },
    change: { spec: { minAvailable: null, maxUnavailable: '50%' } },
    subresources: status,
  },
  {
    ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', plural: 'priorityclasses' },
    ...{ namespaced: false, fields: { value: 10 }, change: { description: 'ten' } },
  },
  {
    ...{ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', plural: 'runtimeclasses' },
    ...{ namespaced: false, fields: { handler: 'h' } },
    change: { overhead: { podFixed: { cpu: '1m' } } },
  },
];

/** The kinds of networks, coordination and permissions. */
export const accessKinds: readonly SampleKind[] = [
  {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', plural: 'ingresses' },
    fields: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    change: { spec: { ingressClassName: 'x' } },
    subresources: status,
  },
  {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', plural: 'ingressclasses' },
    ...{ namespaced: false, fields: { spec: { controller: 'example.com/c' } } },
    change: { spec: { parameters: { apiGroup: 'x.example.com', kind: 'K', name: 'n' } } },
  },
  {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies' },
    fields: { spec: { podSelector: selector, ingress: [{ ports: [{ port: 80 }] }] } },
    change: { spec: { egress: [{}], policyTypes: ['Ingress', 'Egress'] } },
  },
  {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', plural: 'endpointslices' },
    fields: { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports: [] },
    change: { endpoints: [{ addresses: ['10.1.2.4'], conditions: { ready: true } }] },
  },
  {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' },
    fields: { spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } },
    change: { spec: { holderIdentity: 'b', leaseTransitions: 1 } },
  },
  {
    ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' },
    fields: {
      ...{ eventTime: '2026-01-01T00:00:00.000000Z', reason: 'Why', action: 'Act' },
      ...{ type: 'Normal', reportingController: 'example.com/c', reportingInstance: 'i' },
      regarding: { kind: 'Pod', name: 'p', namespace: '{{ns}}' },
    },
    change: { series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' } },
  },
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', plural: 'roles' },
    ...{ fields: { rules }, change: { rules: null } },
  },
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', plural: 'rolebindings' },
    ...{ fields: { roleRef, subjects }, change: { subjects: null } },
  },
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', plural: 'clusterroles' },
    ...{ namespaced: false, fields: { rules } },
    change: { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    ...{ kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
    fields: { roleRef, subjects },
    change: { subjects: [{ kind: 'ServiceAccount', name: 'x', namespace: 'y' }] },
  },
  {
    apiVersion: 'certificates.k8s.io/v1',
    ...{ kind: 'CertificateSigningRequest', plural: 'certificatesigningrequests' },
    ...{ namespaced: false, subresources: status },
    fields: {
      spec: { request: '', signerName: 'example.com/s', usages: ['client auth'] },
    },
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    ...{ kind: 'FlowSchema', plural: 'flowschemas', namespaced: false, subresources: status },
    condition: 'Dangling',
    fields: { spec: { priorityLevelConfiguration: { name: 'global-default' } } },
    change: { spec: { matchingPrecedence: 9 } },
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    ...{ kind: 'PriorityLevelConfiguration', plural: 'prioritylevelconfigurations' },
    ...{ namespaced: false, subresources: status },
    fields: { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
    change: { spec: { limited: { nominalConcurrencyShares: 3 } } },
  },
];

/** The kinds of storage and extensions. */
export const extensionKinds: readonly SampleKind[] = [
  {
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses' },
    ...{ namespaced: false, fields: { provisioner: 'example.com/p' } },
    change: { allowVolumeExpansion: true },
  },
  {
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', plural: 'csidrivers' },
    ...{ namespaced: false, fields: { spec: { attachRequired: false } } },
    change: { spec: { requiresRepublish: true } },
  },
  {
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', plural: 'csinodes' },
    ...{ namespaced: false, fields: { spec: { drivers: [{ name: 'd', nodeID: 'n' }] } } },
    change: { spec: { drivers: [] } },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    ...{ kind: 'CSIStorageCapacity', plural: 'csistoragecapacities' },
    ...{ fields: { storageClassName: 's' }, change: { capacity: '1Gi' } },
  },
  {
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', plural: 'volumeattachments' },
    ...{ namespaced: false, subresources: status },
    fields: {
      spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } },
    },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    ...{ kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', namespaced: false },
    fields: { driverName: 'd', parameters: { a: 'b' } },
    change: { parameters: { a: 'c' } },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    ...{ kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations' },
    ...{ namespaced: false, fields: { webhooks: [webhook] }, change: { webhooks: null } },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    ...{ kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations' },
    ...{ namespaced: false, fields: { webhooks: [webhook] }, change: { webhooks: [] } },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    ...{ kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies' },
    ...{ namespaced: false, subresources: status },
    fields: {
      spec: {
        matchConstraints: { resourceRules: webhookRules },
        validations: [{ expression: 'true' }],
      },
    },
    change: { spec: { failurePolicy: 'Ignore' } },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    ...{ namespaced: false, fields: { spec: { policyName: 'p', validationActions: ['Deny'] } } },
    change: { spec: { validationActions: ['Audit'] } },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    ...{ kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions' },
    ...{ namespaced: false, subresources: status, name: 'widgets.{{ns}}.example.com' },
    fields: {
      spec: {
        ...{ group: '{{ns}}.example.com', scope: 'Namespaced' },
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: widgetSchema } },
        ],
      },
    },
    change: { spec: { names: { shortNames: ['wi'] } } },
  },
  {
    ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', plural: 'apiservices' },
    ...{ namespaced: false, subresources: status, name: 'v1.{{ns}}.example.com' },
    condition: 'Available',
    fields: {
      spec: {
        ...{ group: '{{ns}}.example.com', version: 'v1', groupPriorityMinimum: 1 },
        ...{ versionPriority: 1, service: { name: 's', namespace: 'none' } },
        insecureSkipTLSVerify: true,
      },
    },
    change: { spec: { versionPriority: 2 } },
  },
  {
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', plural: 'deviceclasses' },
    ...{ namespaced: false, fields: { spec: {} } },
    change: { spec: { selectors: [{ cel: { expression: 'true' } }] } },
  },
  {
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', plural: 'resourceclaims' },
    fields: {
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'd' } }] } },
    },
    subresources: status,
  },
];

/** All kinds. */
export const sampleKinds: readonly SampleKind[] = [
  ...coreKinds,
  ...workloadKinds,
  ...accessKinds,
  ...extensionKinds,
];

/** Returns the path of a kind's objects in the scenario's namespace. */
export function collectionOf({ apiVersion, plural, namespaced = true }: SampleKind): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespaced ? '/namespaces/{{ns}}' : ''}/${plural}`;
}

/** Returns the sample of a kind with a name and further metadata. */
export function sampleObject(
  { apiVersion, kind, fields }: SampleKind,
  metadata: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return { apiVersion, kind, metadata, ...fields };
}

/** Waits until the real server has set the condition of a new object, in the background. */
export function settled({ condition }: SampleKind, one: string): Request[] {
  if (condition === undefined) return [];
  const test = { op: 'test', path: '/status/conditions/0/type', value: condition };
  return [patch('json', one, [test], { whileStatus: 422 })];
}
