import { isApiError, isForbidden, isNotFound, apiVersionOf, groupOf } from '../object/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import { isOperatorError } from '../system/index.js';

/** A permission or a kind that must be granted or installed before a kind can be cached. */
export type Missing =
  /** A missing RBAC rule. */
  | {
      readonly type: 'permission';
      readonly verb: 'list' | 'watch';
      /** The plural name as in a Role, for example `configmaps`. */
      readonly resource: string;
      /** The API group; empty for the core group. */
      readonly group: string;
      /** The namespace of the Role; undefined if a ClusterRole is needed. */
      readonly namespace: string | undefined;
    }
  /** A missing kind: its CustomResourceDefinition, or the API server of its group. */
  | { readonly type: 'kind'; readonly apiVersion: string; readonly kind: string };

/**
 * Returns what `error`, from a list or watch of `type`, shows to be missing; undefined if it shows nothing.
 */
export function missingOf(
  error: unknown,
  type: TypeReference<KubernetesObject>,
  namespace: string | undefined,
): Missing | undefined {
  const apiVersion = apiVersionOf(type);
  if (isNotServed(error)) return { type: 'kind', apiVersion, kind: type.kind };
  if (!isForbidden(error) || !isApiError(error)) return undefined;
  const { kind: named, group = groupOf(apiVersion) } = error.body.details ?? {};
  const plural = 'plural' in type ? type.plural : type.kind;
  const verb = error.context.verb === 'watch' ? 'watch' : 'list';
  return { type: 'permission', verb, resource: named ?? plural, group, namespace };
}

/** Returns true if the kind is not served: a 404 on a collection has no other cause. */
export function isNotServed(error: unknown): boolean {
  return isOperatorError(error, 'UnknownKind') || isNotFound(error);
}

/** Describes the required permission or installation in a message. */
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
