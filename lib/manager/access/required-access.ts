import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { TypeReference } from '../../object/resource-type.js';

/** A verb of RBAC. Server-side apply needs `patch`, and `create` for what does not exist yet. */
export type AccessVerb =
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | '*';

/** What an operator must be allowed to do to the objects of a kind. */
export interface RequiredAccess {
  readonly type: TypeReference<KubernetesObject>;
  readonly verbs: readonly AccessVerb[];
  /** For example `status`. @defaultValue the object itself */
  readonly subresource?: string | undefined;
  /** Only there. @defaultValue all namespaces, or the cluster-scoped collection */
  readonly namespace?: string | undefined;
  /**
   * Only to the objects of these names. RBAC knows no names of what is to be created, listed or
   * watched. An empty list: to none. @defaultValue all
   */
  readonly names?: readonly string[] | undefined;
}

/** What a cache needs of each kind. */
export const watchVerbs: readonly AccessVerb[] = ['get', 'list', 'watch'];

/** What whoever applies and prunes objects of a kind needs beside {@link watchVerbs}. */
export const ownVerbs: readonly AccessVerb[] = ['create', 'patch', 'delete'];
