import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Resource } from './resource.js';
import type { ResourceContext } from './resource-context.js';

/** Says which resources reconcile an object. */
export type ResourceFunc<T extends KubernetesObject> = (
  context: ResourceContext,
  object: T,
) => readonly Resource<T>[];

/** A function that has every object reconciled by the same resources: always the same list. */
export function defaultResourceSetResourceFunc<T extends KubernetesObject>(
  resources: readonly Resource<T>[],
): ResourceFunc<T> {
  return () => resources;
}
