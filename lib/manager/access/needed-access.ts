import type { CachedType } from '../../cache/cache-options.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { ManagedCluster, ManagerCacheOptions } from '../managed-cluster.js';
import { eventAccess } from '../recorder-end.js';
import { watchVerbs } from './required-access.js';
import type { RequiredAccess } from './required-access.js';

/**
 * Returns the access needed on a cluster: `get`, `list` and `watch` of its cached kinds, plus `declared`.
 * Entries without a namespace are narrowed to the cached namespaces.
 */
export function neededAccess(
  { cache, cacheOptions }: ManagedCluster,
  declared: readonly RequiredAccess[],
): readonly RequiredAccess[] {
  const watched = cache
    .status()
    .map(({ apiVersion, kind }) => ({ type: { apiVersion, kind }, verbs: watchVerbs }));
  return inCachedNamespaces([...watched, ...declared], cacheOptions);
}

/** Returns optional access: Events about quarantined objects. */
export function wishedAccess({ cache, cacheOptions }: ManagedCluster): readonly RequiredAccess[] {
  return cache.status().length === 0 ? [] : inCachedNamespaces(eventAccess, cacheOptions);
}

function inCachedNamespaces(
  all: readonly RequiredAccess[],
  cacheOptions: ManagerCacheOptions,
): readonly RequiredAccess[] {
  const { types = [], namespaces, allNamespacesOf = () => false } = cacheOptions;
  const namespacesOf = (type: TypeReference<KubernetesObject>): readonly (string | undefined)[] => {
    const own = types.find((each: CachedType) => isSame(each.type, type));
    const usual = allNamespacesOf(type) ? undefined : namespaces;
    return own?.namespaces ?? usual ?? [undefined];
  };
  return all.flatMap((access: RequiredAccess) => {
    if (access.namespace !== undefined) return [access];
    return namespacesOf(access.type).map((namespace) => ({ ...access, namespace }));
  });
}

function isSame(a: TypeReference<KubernetesObject>, b: TypeReference<KubernetesObject>): boolean {
  return a.kind === b.kind && apiVersionOf(a) === apiVersionOf(b);
}
