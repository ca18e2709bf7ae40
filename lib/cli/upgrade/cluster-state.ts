import { podReferencesOf, podTemplateIn } from '../../apply/index.js';
import type { StoreSnapshot } from '../../apiserver/index.js';
import { automanagedLabel } from '../../apiserver/internal.js';
import type { UnstructuredObject, ObjectReference } from '../../object/index.js';
import { controllerOf, referenceTo, groupOf } from '../../object/index.js';

/** All objects of a cluster at a moment, by `group/kind/namespace/name`. */
export type ClusterState = ReadonlyMap<string, UnstructuredObject>;

export function objectsIn({ collections }: StoreSnapshot): ClusterState {
  const objects = [...collections.values()].flatMap((collection) => [...collection.values()]);
  return new Map(objects.map((object) => [idOf(object), object] as const));
}

/** Returns an object's key in a {@link ClusterState}, independent of its API version. */
export function idOf({ apiVersion, kind, metadata }: UnstructuredObject): string {
  return [groupOf(apiVersion), kind, metadata.namespace ?? '', metadata.name ?? ''].join('/');
}

const made = ['ReplicaSet', 'ControllerRevision', 'Endpoints', 'EndpointSlice', 'Event', 'Lease'];
const ofCluster = ['Node', 'Namespace', 'CustomResourceDefinition', 'PersistentVolume'];

/** Objects of the cluster in each namespace. */
const inEachNamespace = ['ConfigMap kube-root-ca.crt', 'ServiceAccount default'];

/** Field manager of the writes that the check itself makes. */
export const checkManager = 'upgrade-check';

const clusterManagers = [
  ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'],
  checkManager,
];

/** Whether an object is an operator's own rather than derived by the cluster's controllers. */
export function isOperatorsOwn(object: UnstructuredObject): boolean {
  const { kind, metadata } = object;
  if (metadata.labels?.[automanagedLabel] !== undefined || made.includes(kind)) return false;
  const controller = controllerOf(object);
  if (controller !== undefined) return !['apps', 'batch'].includes(groupOf(controller.apiVersion));
  return !ofCluster.includes(kind) || isWrittenByOperator(object);
}

/** Whether the cluster creates and deletes the object with its namespace. */
export function isOfNamespace(object: UnstructuredObject): boolean {
  const { kind, metadata } = object;
  const isKnown = inEachNamespace.includes(`${kind} ${metadata.name ?? ''}`);
  return isKnown && controllerOf(object) === undefined && !isWrittenByOperator(object);
}

function isWrittenByOperator({ kind, metadata }: UnstructuredObject): boolean {
  // The definitions of the operator are installed by its user, and compared by other means.
  if (kind === 'CustomResourceDefinition') return false;
  const { managedFields = [] } = metadata;
  return managedFields.some(({ manager = '' }) => !clusterManagers.includes(manager));
}

/** Returns the workloads and Pods that refer to an object by name. */
export function usersOf(
  { kind, metadata }: UnstructuredObject,
  state: ClusterState,
): readonly ObjectReference[] {
  const { namespace, name = '' } = metadata;
  const users = [...state.values()].filter((user) => {
    if (user.metadata.namespace !== namespace || !isOperatorsOwn(user)) return false;
    const template = user.kind === 'Pod' ? { spec: user['spec'] } : podTemplateIn(user);
    if (template === undefined) return false;
    const references = podReferencesOf(template as Parameters<typeof podReferencesOf>[0]);
    return namesOf(references, kind).includes(name);
  });
  return users.map((user) => referenceTo(user));
}

function namesOf(
  references: ReturnType<typeof podReferencesOf>,
  kind: string,
): readonly (string | undefined)[] {
  const { configMaps, secrets, nodeSecrets, claims, serviceAccount } = references;
  if (kind === 'ConfigMap') return configMaps;
  if (kind === 'Secret') return [...secrets, ...nodeSecrets];
  if (kind === 'PersistentVolumeClaim') return claims;
  return kind === 'ServiceAccount' ? [serviceAccount] : [];
}
