import { isApiError, isForbidden, isNotFound } from '../object/api-error.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { apiVersionOf, groupOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import { isOperatorError } from '../system/operator-error.js';

/** What somebody has to grant or to install before a kind can be cached. */
export type Missing =
  /** An RBAC rule. */
  | {
      readonly type: 'permission';
      readonly verb: 'list' | 'watch';
      /** As in a Role, for example `configmaps`. */
      readonly resource: string;
      /** Empty for the core group. */
      readonly group: string;
      /** Undefined: in all of the cluster, by a ClusterRole. */
      readonly namespace: string | undefined;
    }
  /** The kind itself: its CustomResourceDefinition, or the server behind its group. */
  | { readonly type: 'kind'; readonly apiVersion: string; readonly kind: string };

/** What `error`, of a list or a watch of `type`, says is missing; undefined: nothing of this sort. */
export function missingOf(
  error: unknown,
  type: TypeReference<KubernetesObject>,
  namespace: string | undefined,
): Missing | undefined {
  const apiVersion = apiVersionOf(type);
  if (isNotServed(error)) return { type: 'kind', apiVersion, kind: type.kind };
  if (!isForbidden(error) || !isApiError(error)) return undefined;
  const { kind: told, group = groupOf(apiVersion) } = error.body.details ?? {};
  const plural = 'plural' in type ? type.plural : type.kind;
  const verb = error.context.verb === 'watch' ? 'watch' : 'list';
  return { type: 'permission', verb, resource: told ?? plural, group, namespace };
}

/** No such kind: a 404 on a collection can mean nothing else. */
export function isNotServed(error: unknown): boolean {
  return isOperatorError(error, 'UnknownKind') || isNotFound(error);
}

/** For people: what to grant or to install. */
export function describeMissing(missing: Missing): string {
  if (missing.type === 'kind') {
    const { kind, apiVersion } = missing;
    return `the server does not serve ${kind} of ${apiVersion}: install its CustomResourceDefinition`;
  }
  const { verb, resource, group, namespace } = missing;
  const name = group === '' ? resource : `${resource}.${group}`;
  const role = namespace === undefined ? 'a ClusterRole' : `a Role in namespace ${namespace}`;
  return `no permission to ${verb} ${name}: grant list and watch by ${role}`;
}
