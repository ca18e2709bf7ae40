import upperFirst from 'lodash/upperFirst.js';
import { builtinKinds } from '../../apiserver/internal.js';
import { builtInKinds as constants } from '../../object/index.js';
import type { ResourceType, Schema } from '../../object/index.js';
import { camelCase, kebabCase } from './names.js';
import { wholeGroup } from './project-file.js';
import type { Project, ProjectResource, ProjectWebhooks } from './project-file.js';
import type { TemplateValues } from './template.js';

/** The parts of an API to create. */
export interface ApiParts {
  /** Whether to create the schema, the CRD, a sample and roles for people. */
  readonly withResource: boolean;
  /** Whether to create the controller, its test and its permissions. */
  readonly withController: boolean;
}

/** Returns the template values of a version of a kind. */
export function valuesOf(
  project: Project,
  resource: ProjectResource,
  parts: ApiParts = { withResource: true, withController: resource.controller !== undefined },
): TemplateValues {
  const { group, version, kind, plural, scope, controller } = resource;
  const style = controller ?? 'builder';
  const conditions = [
    scope === 'Cluster' ? 'cluster-scoped' : 'namespaced',
    ...(parts.withController ? ['controller', `controller-${style}`] : []),
    ...(parts.withResource ? ['resource'] : []),
    ...(builtInKind(resource) === undefined ? ['custom'] : []),
  ];
  return {
    words: {
      ...{ 'operator-name': project.name, 'domain.example': project.domain, groupname: group },
      ...{ KindName: kind, kindName: camelCase(kind), 'kind-name': kebabCase(kind) },
      ...{ kindname: kind.toLowerCase(), kindnames: plural, v99alpha99: version },
      ...groupWords(project, resource),
      ...{ V99alpha99: upperFirst(version), Namespaced: scope },
    },
    conditions: new Set(conditions),
    style,
  };
}

/** Returns the words that replace the template's group by a foreign group, which may be empty. */
function groupWords(project: Project, resource: ProjectResource): Readonly<Record<string, string>> {
  if (resource.external !== true) return {};
  const group = wholeGroup(project, resource);
  const apiVersion = group === '' ? resource.version : `${group}/${resource.version}`;
  const whole = 'groupname.domain.example';
  return {
    [whole]: group,
    [`${whole}/v99alpha99`]: apiVersion,
    [`${whole}/v98alpha98`]: apiVersion,
  };
}

/** The version of a kind that gets webhooks. */
export interface WebhookSubject {
  readonly project: Project;
  /** The version whose objects the webhooks receive. */
  readonly resource: ProjectResource;
  /** The stored version of the kind. */
  readonly first: ProjectResource;
  /** All other versions of the kind. */
  readonly others: readonly ProjectResource[];
}

/** Returns the values of the webhook template, which covers at most two versions of a kind. */
export function webhookValues(
  { project, resource, first, others }: WebhookSubject,
  webhooks: ProjectWebhooks,
): TemplateValues {
  const isFirst = resource.version === first.version;
  const later = isFirst ? (others[0] ?? resource) : resource;
  const { words, conditions } = valuesOf(project, later);
  const own = Object.entries(webhooks).filter(([, isThere]) => isThere === true);
  const admission = isAdmission(webhooks) ? ['admission'] : [];
  return {
    words: { ...words, v98alpha98: first.version, V98alpha98: upperFirst(first.version) },
    conditions: new Set([...conditions, ...own.map(([word]) => word), ...admission]),
    style: styleOf(resource, isFirst),
  };
}

function styleOf({ external }: ProjectResource, isFirst: boolean): string {
  if (external === true) return 'foreign';
  return isFirst ? 'first' : 'later';
}

/** Whether the webhooks default or validate objects. */
export function isAdmission({ defaulting, validation }: ProjectWebhooks): boolean {
  return defaulting === true || validation === true;
}

/** Returns the suffix of default webhook names for a version other than the stored one. */
export function laterName({ resource, first }: WebhookSubject): string {
  return resource.version === first.version ? '' : `-${resource.version}`;
}

/** A kind of Kubernetes that controllers can watch. */
export interface BuiltInKind {
  readonly type: ResourceType;
  /** Whether the package exports a constant with the resource type of the kind. */
  readonly hasConstant: boolean;
  /** The fields of the kind's objects. */
  readonly schema: Schema;
}

/** Returns a kind by its group (`core` or empty for that of Pods); undefined if Kubernetes has no such kind. */
export function builtInKind(named: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): BuiltInKind | undefined {
  const group = named.group === 'core' ? '' : named.group;
  const isNamed = (one: ResourceType): boolean =>
    one.group === group && one.version === named.version && one.kind === named.kind;
  const found = builtinKinds().find(({ type, verbs }) => isNamed(type) && verbs.includes('watch'));
  if (found === undefined) return undefined;
  const hasConstant = Object.values(constants).some((one) => isNamed(one));
  return { type: found.type, hasConstant, schema: found.schema() ?? {} };
}

const containers = [{ name: 'app', image: 'registry.example/app:1' }];
const labels = { app: 'sample' };
const template = { metadata: { labels }, spec: { containers } };
const workload = { spec: { selector: { matchLabels: labels }, template } };
const jobTemplate = { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } };
const role = { apiGroup: 'rbac.authorization.k8s.io', name: 'sample' };
const policyRules = [
  { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
];
const policy = { failurePolicy: 'Ignore', matchConstraints: { resourceRules: policyRules } };
const metricsOf = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'sample' };

/** Minimal content of built-in kinds with required fields, for tests. */
const contents: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ClusterRoleBinding: { roleRef: { ...role, kind: 'ClusterRole' } },
  CSIStorageCapacity: { storageClassName: 'sample' },
  ControllerRevision: { revision: 1, data: {} },
  CronJob: { spec: { schedule: '@daily', jobTemplate } },
  DaemonSet: workload,
  Deployment: workload,
  EndpointSlice: { addressType: 'IPv4', endpoints: [] },
  Event: {
    ...{ eventTime: '2026-01-01T00:00:00.000000Z', type: 'Normal', reason: 'Sample' },
    ...{ action: 'Sample', reportingController: 'example.com/sample', reportingInstance: 'a' },
  },
  FlowSchema: { spec: { priorityLevelConfiguration: { name: 'global-default' } } },
  HorizontalPodAutoscaler: { spec: { scaleTargetRef: metricsOf, maxReplicas: 2 } },
  Ingress: { spec: { defaultBackend: { service: { name: 'sample', port: { number: 80 } } } } },
  IngressClass: { spec: { controller: 'example.com/sample' } },
  Job: jobTemplate,
  MutatingAdmissionPolicy: {
    spec: {
      ...{ ...policy, reinvocationPolicy: 'Never' },
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{}' },
        },
      ],
    },
  },
  MutatingAdmissionPolicyBinding: { spec: { policyName: 'sample' } },
  NetworkPolicy: { spec: { podSelector: {} } },
  PersistentVolume: {
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
      hostPath: { path: '/tmp' },
    },
  },
  PersistentVolumeClaim: {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  Pod: { spec: { containers } },
  PodDisruptionBudget: { spec: { selector: { matchLabels: labels } } },
  PodTemplate: { template },
  PriorityLevelConfiguration: {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  },
  ReplicaSet: workload,
  ReplicationController: { spec: { selector: labels, template } },
  RoleBinding: { roleRef: { ...role, kind: 'Role' } },
  RuntimeClass: { handler: 'sample' },
  Service: { spec: { ports: [{ port: 80 }] } },
  StatefulSet: { spec: { ...workload.spec, serviceName: 'sample' } },
  StorageClass: { provisioner: 'example.com/sample' },
  ValidatingAdmissionPolicy: { spec: { ...policy, validations: [{ expression: 'true' }] } },
  ValidatingAdmissionPolicyBinding: {
    spec: { policyName: 'sample', validationActions: ['Warn'] },
  },
  VolumeAttachment: {
    spec: {
      ...{ attacher: 'example.com', nodeName: 'sample' },
      source: { persistentVolumeName: 'sample' },
    },
  },
  VolumeAttributesClass: { driverName: 'example.com/sample', parameters: { sample: 'a' } },
  'core/Event': {
    ...{ involvedObject: { kind: 'Pod', name: 'a', namespace: 'default' }, type: 'Normal' },
    ...{ eventTime: '2026-01-01T00:00:00.000000Z', reason: 'Sample', action: 'Sample' },
    ...{ reportingComponent: 'example.com/sample', reportingInstance: 'a' },
  },
};

/** Returns the minimal content of a built-in kind besides its metadata. */
export function builtInContent({
  group,
  kind,
}: Pick<ProjectResource, 'group' | 'kind'>): Readonly<Record<string, unknown>> {
  return (group === 'core' ? contents[`core/${kind}`] : undefined) ?? contents[kind] ?? {};
}
