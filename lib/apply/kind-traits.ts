import type { Client, ListOptions } from '../client/index.js';
import {
  isNotFound,
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
  apiVersionOf,
  groupOf,
} from '../object/index.js';
import type {
  KubernetesObject,
  TypeMeta,
  ObjectReference,
  ResourceType,
  TypeReference,
  UnstructuredObject,
} from '../object/index.js';
import { isOperatorError } from '../system/index.js';

/** The `reconcile` method of a Builder to which an object belongs. */
export type Stage =
  'configuration' | 'service' | 'workload' | 'storage' | 'networkPolicy' | 'other';

/** Facts about a kind that the builder relies on. */
interface KindTraits {
  readonly type: ResourceType<KubernetesObject>;
  /** The stage in which a Builder reconciles objects of the kind. @defaultValue `other` */
  readonly stage?: Stage;
  /** The path of the pod template in the object. */
  readonly podTemplate?: readonly string[];
  /** True if a change of the pod template starts a rollout that can be awaited. */
  readonly rolls?: boolean;
  /** Paths that the server never lets change; {@link mutable} lists exceptions below `spec`. */
  readonly immutable?: readonly string[];
  /** Exceptions to `immutable`. */
  readonly mutable?: readonly string[];
  /**
   * True if pods may need objects of the kind, so that these are created before pods; see {@link comesBeforeWorkloads}.
   */
  readonly early?: boolean;
}

const template = ['spec', 'template'];

const knownKinds: readonly KindTraits[] = [
  { type: ServiceAccount, early: true },
  { type: Role, early: true },
  { type: RoleBinding, early: true, immutable: ['roleRef'] },
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
      ...['backoffLimitPerIndex', 'successPolicy', 'managedBy'],
    ].map((field) => `spec.${field}`),
  },
  {
    ...{ type: CronJob, stage: 'workload' },
    podTemplate: ['spec', 'jobTemplate', 'spec', 'template'],
  },
  { type: PodDisruptionBudget },
  { type: HorizontalPodAutoscaler },
  { type: Ingress },
];

const traitsByKind = new Map(knownKinds.map((traits) => [kindKey(traits.type), traits] as const));

/** Returns `group/kind`: the name of a kind in any version of its API. */
export function kindKey(type: TypeMeta | ResourceType<KubernetesObject>): string {
  const group = 'apiVersion' in type ? groupOf(type.apiVersion) : type.group;
  return `${group}/${type.kind}`;
}

/** Returns a string that identifies the object of `ref` in any version of its API. */
export function refId({ apiVersion, kind, namespace = '', name }: ObjectReference): string {
  return `${kindKey({ apiVersion, kind })}/${namespace}/${name}`;
}

/** All kinds for which the builder has a method. */
export const builtInTypes: readonly ResourceType<KubernetesObject>[] = knownKinds.map(
  ({ type }) => type,
);

/** Returns the resource type of a kind that needs no discovery, or undefined. */
export function builtInType(type: TypeMeta): ResourceType<KubernetesObject> | undefined {
  const known = traitsByKind.get(kindKey(type))?.type;
  // Other versions of the API need discovery.
  return known !== undefined && apiVersionOf(known) === type.apiVersion ? known : undefined;
}

/** Returns the resource type of a kind; kinds other than {@link builtInTypes} need discovery. */
export async function servedType(
  client: Client,
  type: TypeReference<KubernetesObject>,
): Promise<ResourceType<KubernetesObject>> {
  if ('plural' in type) return type;
  return builtInType(type) ?? (await client.resourceType(type));
}

/** Returns the resource types of the served kinds among `types`; unserved kinds can't have objects. */
export async function servedTypes(
  client: Client,
  types: readonly TypeReference<KubernetesObject>[],
): Promise<readonly ResourceType<KubernetesObject>[]> {
  const served = await Promise.all(types.map((type) => typeIfServed(client, type)));
  return served.filter((type) => type !== undefined);
}

/** Returns the resource type of a kind; undefined if the server does not serve it. */
export function typeIfServed(
  client: Client,
  type: TypeReference<KubernetesObject>,
): Promise<ResourceType<KubernetesObject> | undefined> {
  return unlessAbsent(() => servedType(client, type));
}

/**
 * Lists objects, and adds `apiVersion` and `kind`, which the items of a list lack. Returns an empty list if the server
 * does not serve the kind.
 */
export async function listOfKind(
  client: Client,
  type: ResourceType<KubernetesObject>,
  options: ListOptions,
): Promise<readonly UnstructuredObject[]> {
  const list = await unlessAbsent(() => client.list(type, options));
  const typeMeta = { apiVersion: apiVersionOf(type), kind: type.kind };
  return (list?.items ?? []).map((item) => ({ ...item, ...typeMeta }));
}

async function unlessAbsent<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isAbsentKind(error)) return undefined;
    throw error;
  }
}

/** Returns true if `error` means that the server does not serve the kind. */
export function isAbsentKind(error: unknown): boolean {
  return isNotFound(error) || isOperatorError(error, 'UnknownKind');
}

/** Returns the `reconcile` method to which the objects of a kind belong. */
export function stageOf(type: TypeMeta): Stage {
  return traitsByKind.get(kindKey(type))?.stage ?? 'other';
}

// Kinds that pods may need, and for which the builder has no method.
const alsoEarly = new Set([
  ...[ClusterRole, ClusterRoleBinding, StorageClass].map((type) => kindKey(type)),
  'scheduling.k8s.io/PriorityClass',
]);

/** Returns true if pods may need objects of this kind, so that they come before any workload. */
export function comesBeforeWorkloads(type: TypeMeta): boolean {
  if (isContainer(type) || alsoEarly.has(kindKey(type))) return true;
  const stage = stageOf(type);
  if (stage === 'other') return traitsByKind.get(kindKey(type))?.early === true;
  return stage !== 'workload';
}

/** Returns true if objects of the kind contain others: applied before their content, deleted after it. */
export function isContainer(type: TypeMeta): boolean {
  return isKind(type, Namespace) || isKind(type, CustomResourceDefinition);
}

/** Returns true if objects of the kind make the server call a webhook, so that all others come first. */
export function comesLast(type: TypeMeta): boolean {
  const key = kindKey(type);
  return ['Validating', 'Mutating'].some(
    (word) => key === `admissionregistration.k8s.io/${word}WebhookConfiguration`,
  );
}

/** Returns the path of the pod template of a kind, or undefined. */
export function podTemplatePath(type: TypeMeta): readonly string[] | undefined {
  return traitsByKind.get(kindKey(type))?.podTemplate;
}

/** Returns true if a change of the pod template of a kind replaces running pods. */
export function rollsPods(type: TypeMeta): boolean {
  return traitsByKind.get(kindKey(type))?.rolls === true;
}

/** Returns true if the server refuses every change of the field at `path` (`spec.selector`). */
export function isImmutablePath(type: TypeMeta, path: string): boolean {
  const { immutable = [], mutable = [] } = traitsByKind.get(kindKey(type)) ?? {};
  const within = (parent: string): boolean => isWithin(path, parent);
  return immutable.some(within) && !mutable.some(within);
}

/** Returns true if `path` is `parent` or a part of it. */
export function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

/** Returns true if `type` is the kind of `known`, in any version. */
export function isKind(type: TypeMeta, known: ResourceType<KubernetesObject>): boolean {
  return kindKey(type) === kindKey(known);
}
