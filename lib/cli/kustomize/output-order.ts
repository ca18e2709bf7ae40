import type { Resource } from './resource.js';
import type { ResourceId } from './resource-id.js';

/** Which kinds come first, and which last. */
export interface KindOrder {
  readonly first: readonly string[];
  readonly last: readonly string[];
}

/** What others need, first; what refuses others until all is there, last. */
export const usualOrder: KindOrder = {
  first: [
    ...['Namespace', 'ResourceQuota', 'StorageClass', 'CustomResourceDefinition', 'ServiceAccount'],
    ...['PodSecurityPolicy', 'Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
    ...['ConfigMap', 'Secret', 'Endpoints', 'Service', 'LimitRange', 'PriorityClass'],
    ...['PersistentVolume', 'PersistentVolumeClaim', 'Deployment', 'StatefulSet', 'CronJob'],
    'PodDisruptionBudget',
  ],
  last: ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
};

/** Sorts objects as kustomize does: by kind, namespace and name. */
export function inOrder(resources: readonly Resource[], order: KindOrder): readonly Resource[] {
  const keyed = resources.map((resource) => ({ resource, keys: keysOf(resource.id, order) }));
  return keyed
    .toSorted((one, other) => compareKeys(one.keys, other.keys))
    .map((one) => one.resource);
}

type Keys = readonly [rank: number, kind: string, object: string];

function keysOf(id: ResourceId, { first, last }: KindOrder): Keys {
  const { group, version, kind, name, namespace } = id;
  const early = first.lastIndexOf(kind);
  const rank = early >= 0 ? early - first.length : last.lastIndexOf(kind) + 1;
  // What is missing sorts by these words, as it has always done.
  const type = `${group || '~G'}_${version || '~V'}_${kind}`;
  return [rank, type, `${namespace || '~X'}|${name}`];
}

function compareKeys(one: Keys, other: Keys): number {
  return one[0] - other[0] || compareTexts(one[1], other[1]) || compareTexts(one[2], other[2]);
}

/** By their bytes: the language of the machine must not matter. */
function compareTexts(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
