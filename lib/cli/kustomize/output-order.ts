import type { Resource } from './resource.js';
import type { ResourceId } from './resource-id.js';

/** The kinds that come first and last. */
export interface KindOrder {
  readonly first: readonly string[];
  readonly last: readonly string[];
}

/** First the kinds that others depend on; last the webhooks, which reject objects until their server runs. */
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
  // Kustomize's placeholders for missing parts, which determine the order.
  const type = `${group || '~G'}_${version || '~V'}_${kind}`;
  return [rank, type, `${namespace || '~X'}|${name}`];
}

function compareKeys(one: Keys, other: Keys): number {
  return one[0] - other[0] || compareTexts(one[1], other[1]) || compareTexts(one[2], other[2]);
}

/** Compares bytes: the order must not depend on the locale. */
function compareTexts(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
