import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { TypeReference } from '../../object/resource-type.js';

/** An RBAC verb. Server-side apply needs `patch`, and `create` for objects that do not exist yet. */
export type AccessVerb =
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | '*';

/** Access that an operator needs to the objects of a kind. */
export interface RequiredAccess {
  readonly type: TypeReference<KubernetesObject>;
  readonly verbs: readonly AccessVerb[];
  /** Subresource, such as `status`. @defaultValue the object itself */
  readonly subresource?: string | undefined;
  /** Restricts the access to a namespace. @defaultValue all namespaces, or the cluster-scoped collection */
  readonly namespace?: string | undefined;
  /**
   * Restricts the access to objects with these names; an empty list allows access to no object. RBAC cannot
   * restrict create, list and watch by name. @defaultValue all
   */
  readonly names?: readonly string[] | undefined;
}

/** Verbs that a cache needs for each kind. */
export const watchVerbs: readonly AccessVerb[] = ['get', 'list', 'watch'];

/** Verbs for applying and pruning objects, beside {@link watchVerbs}. */
export const ownVerbs: readonly AccessVerb[] = ['create', 'patch', 'delete'];
