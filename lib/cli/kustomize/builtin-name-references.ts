import type { FieldSpec } from './field-spec.js';
import type { NameReference } from './transform-specs.js';

/** Paths of the pod spec in each kind. */
const podSpecs: readonly FieldSpec[] = [
  { kind: 'Pod', version: 'v1', path: 'spec' },
  { kind: 'PodTemplate', path: 'template/spec' },
  { kind: 'Deployment', path: 'spec/template/spec' },
  { kind: 'ReplicaSet', path: 'spec/template/spec' },
  { kind: 'DaemonSet', path: 'spec/template/spec' },
  { kind: 'StatefulSet', path: 'spec/template/spec' },
  { kind: 'Job', path: 'spec/template/spec' },
  { kind: 'CronJob', path: 'spec/jobTemplate/spec/template/spec' },
];

/** The kinds for which kustomize covers more than ConfigMaps and Secrets; it omits ReplicaSets. */
const moreOf: readonly FieldSpec[] = [
  ...podSpecs.filter(({ kind = '' }) => !['PodTemplate', 'ReplicaSet'].includes(kind)),
  { kind: 'ReplicationController', path: 'spec/template/spec' },
];

const inPods = (pods: readonly FieldSpec[], ...paths: readonly string[]): readonly FieldSpec[] =>
  pods.flatMap((pod) => paths.map((path) => ({ ...pod, path: `${pod.path}/${path}` })));

const inContainers = (...paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) => [`containers/${path}`, `initContainers/${path}`]);

const rbac = 'rbac.authorization.k8s.io';
const admission = 'admissionregistration.k8s.io';

const resourceNames: readonly FieldSpec[] = ['Role', 'ClusterRole'].map((kind) => {
  return { kind, path: 'rules/resourceNames' };
});

const ingress = (...paths: readonly string[]): readonly FieldSpec[] =>
  paths.map((path) => ({ kind: 'Ingress', path }));

const annotation = (name: string): string => `metadata/annotations/${name.replace('/', '\\/')}`;

const configMaps: readonly FieldSpec[] = [
  ...inPods(
    podSpecs,
    'volumes/configMap/name',
    'volumes/projected/sources/configMap/name',
    ...inContainers('env/valueFrom/configMapKeyRef/name', 'envFrom/configMapRef/name'),
  ),
  { kind: 'Node', path: 'spec/configSource/configMap' },
  ...resourceNames,
  ...ingress(annotation('nginx.ingress.kubernetes.io/fastcgi-params-configmap')),
];

const secrets: readonly FieldSpec[] = [
  ...inPods(
    podSpecs,
    'volumes/secret/secretName',
    'volumes/projected/sources/secret/name',
    'imagePullSecrets/name',
    ...inContainers('env/valueFrom/secretKeyRef/name', 'envFrom/secretRef/name'),
  ),
  ...ingress(
    'spec/tls/secretName',
    annotation('ingress.kubernetes.io/auth-secret'),
    annotation('nginx.ingress.kubernetes.io/auth-secret'),
    annotation('nginx.ingress.kubernetes.io/auth-tls-secret'),
  ),
  { kind: 'ServiceAccount', path: 'imagePullSecrets/name' },
  ...['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map((name) => {
    return { kind: 'StorageClass', path: `parameters/${name}` };
  }),
  ...resourceNames,
  {
    ...{ kind: 'Service', group: 'serving.knative.dev', version: 'v1' },
    path: 'spec/template/spec/containers/env/valueFrom/secretKeyRef/name',
  },
  { kind: 'PersistentVolume', path: 'spec/azureFile/secretName' },
];

const services: readonly FieldSpec[] = [
  { kind: 'StatefulSet', group: 'apps', path: 'spec/serviceName' },
  ...ingress(
    'spec/rules/http/paths/backend/serviceName',
    'spec/backend/serviceName',
    'spec/rules/http/paths/backend/service/name',
    'spec/defaultBackend/service/name',
  ),
  { kind: 'APIService', group: 'apiregistration.k8s.io', path: 'spec/service/name' },
  // The whole reference: the namespace changes along with the name.
  ...['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => {
    return { kind, group: admission, path: 'webhooks/clientConfig/service' };
  }),
];

const bindings = ['RoleBinding', 'ClusterRoleBinding'].map((kind) => ({ kind, group: rbac }));

const storageClasses: readonly FieldSpec[] = [
  { kind: 'PersistentVolume', path: 'spec/storageClassName' },
  { kind: 'PersistentVolumeClaim', path: 'spec/storageClassName' },
  { kind: 'StatefulSet', path: 'spec/volumeClaimTemplates/spec/storageClassName' },
];

/** The fields in which kustomize looks for names of other objects. */
export const builtinNameReferences: readonly NameReference[] = [
  ...['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => {
    const path = 'spec/scaleTargetRef/name';
    return { kind, fieldSpecs: [{ kind: 'HorizontalPodAutoscaler', path }] };
  }),
  { kind: 'ConfigMap', version: 'v1', fieldSpecs: configMaps },
  { kind: 'Secret', version: 'v1', fieldSpecs: secrets },
  { kind: 'Service', version: 'v1', fieldSpecs: services },
  {
    ...{ kind: 'Role', group: rbac },
    fieldSpecs: [{ kind: 'RoleBinding', group: rbac, path: 'roleRef/name' }],
  },
  {
    ...{ kind: 'ClusterRole', group: rbac },
    fieldSpecs: bindings.map((binding) => ({ ...binding, path: 'roleRef/name' })),
  },
  {
    ...{ kind: 'ServiceAccount', version: 'v1' },
    fieldSpecs: [
      ...bindings.map((binding) => ({ ...binding, path: 'subjects' })),
      ...inPods(moreOf, 'serviceAccountName'),
    ],
  },
  {
    ...{ kind: 'PersistentVolumeClaim', version: 'v1' },
    fieldSpecs: inPods(moreOf, 'volumes/persistentVolumeClaim/claimName'),
  },
  {
    ...{ kind: 'PersistentVolume', version: 'v1' },
    fieldSpecs: [
      { kind: 'PersistentVolumeClaim', path: 'spec/volumeName' },
      { kind: 'ClusterRole', path: 'rules/resourceNames' },
    ],
  },
  { kind: 'StorageClass', version: 'v1', group: 'storage.k8s.io', fieldSpecs: storageClasses },
  {
    ...{ kind: 'PriorityClass', version: 'v1', group: 'scheduling.k8s.io' },
    fieldSpecs: inPods(moreOf, 'priorityClassName'),
  },
  {
    ...{ kind: 'ValidatingAdmissionPolicy', group: admission },
    fieldSpecs: [
      { kind: 'ValidatingAdmissionPolicyBinding', group: admission, path: 'spec/policyName' },
    ],
  },
];
