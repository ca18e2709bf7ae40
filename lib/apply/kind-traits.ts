import type { Client } from '../client/client.js';
import { isNotFound } from '../object/api-error.js';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
} from '../object/kinds.js';
import type { KubernetesObject, TypeMeta } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { apiVersionOf, groupOf } from '../object/resource-type.js';
import type { ResourceType, TypeReference } from '../object/resource-type.js';
import { isOperatorError } from '../system/operator-error.js';

/** Which of the `reconcile` methods of a Builder an object belongs to. */
export type Stage =
  'configuration' | 'service' | 'workload' | 'storage' | 'networkPolicy' | 'other';

/** What the builder knows of a kind. */
interface KindTraits {
  readonly type: ResourceType<KubernetesObject>;
  readonly stage: Stage;
  /** Where in the object its pod template is. */
  readonly podTemplate?: readonly string[];
  /** A change of the pod template replaces pods, and one can wait for that. */
  readonly rolls?: boolean;
  /** Paths that the server never lets change; `spec` with {@link mutable} takes some back. */
  readonly immutable?: readonly string[];
  /** Exceptions from `immutable`. */
  readonly mutable?: readonly string[];
  /** Pods need it, so it is made before them; see {@link comesBeforeWorkloads}. */
  readonly early?: boolean;
}

const template = ['spec', 'template'];

const knownKinds: readonly KindTraits[] = [
  { type: ServiceAccount, stage: 'other', early: true },
  { type: Role, stage: 'other', early: true },
  { type: RoleBinding, stage: 'other', early: true, immutable: ['roleRef'] },
  { type: ConfigMap, stage: 'configuration', immutable: ['data', 'binaryData', 'immutable'] },
  { type: Secret, stage: 'configuration', immutable: ['type', 'data', 'immutable'] },
  {
    type: Service,
    stage: 'service',
    immutable: ['spec.clusterIP', 'spec.clusterIPs', 'spec.ipFamilies'],
  },
  { type: PersistentVolumeClaim, stage: 'storage', immutable: ['spec'] },
  { type: NetworkPolicy, stage: 'networkPolicy' },
  {
    ...{ type: Deployment, stage: 'workload', podTemplate: template, rolls: true },
    immutable: ['spec.selector'],
  },
  {
    ...{ type: StatefulSet, stage: 'workload', podTemplate: template, rolls: true },
    immutable: ['spec'],
    mutable: [
      ...['replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit'],
      ...['persistentVolumeClaimRetentionPolicy', 'minReadySeconds'],
    ].map((field) => `spec.${field}`),
  },
  {
    ...{ type: DaemonSet, stage: 'workload', podTemplate: template, rolls: true },
    immutable: ['spec.selector'],
  },
  {
    ...{ type: Job, stage: 'workload', podTemplate: template },
    immutable: [
      ...['template', 'selector', 'completions', 'completionMode', 'podFailurePolicy'],
      ...['backoffLimitPerIndex', 'successPolicy', 'managedBy', 'podReplacementPolicy'],
    ].map((field) => `spec.${field}`),
  },
  {
    ...{ type: CronJob, stage: 'workload' },
    podTemplate: ['spec', 'jobTemplate', 'spec', 'template'],
  },
  { type: PodDisruptionBudget, stage: 'other' },
  { type: HorizontalPodAutoscaler, stage: 'other' },
  { type: Ingress, stage: 'other' },
];

const traitsByKind = new Map(knownKinds.map((traits) => [kindKey(traits.type), traits] as const));

/** `group/kind`: what names a kind whatever the version of its API. */
export function kindKey(type: TypeMeta | ResourceType<KubernetesObject>): string {
  const group = 'apiVersion' in type ? groupOf(type.apiVersion) : type.group;
  return `${group}/${type.kind}`;
}

/** A text that names the object of `ref`, whatever the version of its API. */
export function refId({ apiVersion, kind, namespace = '', name }: ObjectReference): string {
  return `${kindKey({ apiVersion, kind })}/${namespace}/${name}`;
}

/** Every kind that the builder has a method for. */
export const builtInTypes: readonly ResourceType<KubernetesObject>[] = knownKinds.map(
  ({ type }) => type,
);

/** Where a kind is served that needs no discovery, or undefined. */
export function builtInType(type: TypeMeta): ResourceType<KubernetesObject> | undefined {
  const known = traitsByKind.get(kindKey(type))?.type;
  // Another version of the API is another matter: discovery knows it.
  return known !== undefined && apiVersionOf(known) === type.apiVersion ? known : undefined;
}

/** Where a kind is served; only other kinds than {@link builtInTypes} need discovery. */
export async function servedType(
  client: Client,
  type: TypeReference<KubernetesObject>,
): Promise<ResourceType<KubernetesObject>> {
  if ('plural' in type) return type;
  return builtInType(type) ?? (await client.resourceType(type));
}

/** Where those of `types` are served that the server knows; of the others there can't be any objects. */
export async function servedTypes(
  client: Client,
  types: readonly TypeReference<KubernetesObject>[],
): Promise<readonly ResourceType<KubernetesObject>[]> {
  const served = types.map(async (type) => {
    try {
      return [await servedType(client, type)];
    } catch (error) {
      if (isAbsentKind(error)) return [];
      throw error;
    }
  });
  return (await Promise.all(served)).flat();
}

/** Whether `error` says that the server knows no such kind. */
export function isAbsentKind(error: unknown): boolean {
  return isNotFound(error) || isOperatorError(error, 'UnknownKind');
}

/** Which `reconcile` method the objects of a kind belong to. */
export function stageOf(type: TypeMeta): Stage {
  return traitsByKind.get(kindKey(type))?.stage ?? 'other';
}

// Kinds without a link of their own that pods may need.
const alsoEarly = new Set([
  ...[ClusterRole, ClusterRoleBinding, StorageClass].map((type) => kindKey(type)),
  'scheduling.k8s.io/PriorityClass',
]);

/** Whether pods may need objects of this kind, so that they come before any workload. */
export function comesBeforeWorkloads(type: TypeMeta): boolean {
  if (isContainer(type) || alsoEarly.has(kindKey(type))) return true;
  const traits = traitsByKind.get(kindKey(type));
  if (traits === undefined || traits.stage === 'workload') return false;
  return traits.stage !== 'other' || traits.early === true;
}

/** Whether other objects live in those of the kind: applied before them, and deleted after them. */
export function isContainer(type: TypeMeta): boolean {
  return isKind(type, Namespace) || isKind(type, CustomResourceDefinition);
}

/** Whether the server calls what the object names, so that all the rest comes before it. */
export function comesLast(type: TypeMeta): boolean {
  const key = kindKey(type);
  return ['Validating', 'Mutating'].some(
    (word) => key === `admissionregistration.k8s.io/${word}WebhookConfiguration`,
  );
}

/** Where the pod template of a kind is, or undefined. */
export function podTemplatePath(type: TypeMeta): readonly string[] | undefined {
  return traitsByKind.get(kindKey(type))?.podTemplate;
}

/** Whether changing the pod template of a kind replaces running pods. */
export function rollsPods(type: TypeMeta): boolean {
  return traitsByKind.get(kindKey(type))?.rolls === true;
}

/** Whether the server refuses every change of the field at `path` (`spec.selector`). */
export function isImmutablePath(type: TypeMeta, path: string): boolean {
  const { immutable = [], mutable = [] } = traitsByKind.get(kindKey(type)) ?? {};
  const within = (parent: string): boolean =>
    path === parent || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
  return immutable.some(within) && !mutable.some(within);
}

/** Whether `type` is the kind of `known`, in whatever version. */
export function isKind(type: TypeMeta, known: ResourceType<KubernetesObject>): boolean {
  return kindKey(type) === kindKey(known);
}
