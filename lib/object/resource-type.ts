import type { KubernetesObject, TypeMeta, UnstructuredObject } from './kubernetes-object.js';

declare const objectType: unique symbol;

/** A kind that the API server serves, and its URL. `T` is the type of its objects. */
export interface ResourceType<out T extends KubernetesObject = UnstructuredObject> {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The name in URLs, for example `configmaps`. */
  readonly plural: string;
  /** Whether its objects have a namespace. */
  readonly namespaced: boolean;
  readonly [objectType]?: T;
}

/** A reference to a kind for a client: a {@link ResourceType}, or an apiVersion and kind to look up. */
export type TypeReference<T extends KubernetesObject = UnstructuredObject> =
  ResourceType<T> | TypeMeta;

/** A kind in the server's preferred version of its group. */
export interface GroupKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
}

/** Returns the English plural as kubebuilder guesses it. */
export function pluralOf(singular: string): string {
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`;
}

/** Returns `v1` for the core group, else `group/version`. */
export function apiVersionOf(type: TypeReference<KubernetesObject>): string {
  if ('apiVersion' in type) return type.apiVersion;
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** Returns the kind of a type for messages; a circular import or plain JavaScript can pass no type. */
export function kindText(type: { readonly kind: string } | null | undefined): string {
  return type === null || type === undefined ? String(type) : type.kind;
}

/** Returns the group of an apiVersion: empty for `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** Returns the group of a type: empty for the core group. */
export function groupOfType(type: TypeReference<KubernetesObject> | GroupKind): string {
  return 'group' in type ? type.group : groupOf(type.apiVersion);
}

/** Whether a group is Kubernetes' own: `apps`, `rbac.authorization.k8s.io`, the core group. */
export function isBuiltInGroup(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}
