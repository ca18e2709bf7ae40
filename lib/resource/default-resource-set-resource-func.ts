import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Resource } from './resource.js';
import type { ResourceContext } from './resource-context.js';

/** Returns the resources that reconcile an object. */
export type ResourceFunc<T extends KubernetesObject> = (
  context: ResourceContext,
  object: T,
) => readonly Resource<T>[];

/** Makes a function that returns the same resources for every object. */
export function defaultResourceSetResourceFunc<T extends KubernetesObject>(
  resources: readonly Resource<T>[],
): ResourceFunc<T> {
  return () => resources;
}
