import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { groupOf } from '../../object/resource-type.js';

/** Whether objects of a kind live in a namespace. */
export type IsNamespaced = boolean;

/**
 * The kinds that are defined by objects which are desired themselves: their objects can be desired
 * before they are served. By `apiVersion kind`.
 */
export function comingKinds(
  objects: readonly KubernetesObject[],
): ReadonlyMap<string, IsNamespaced> {
  const definitions = objects.filter(isDefinition).map(({ spec }) => spec);
  return new Map(
    definitions.flatMap(({ group, names, scope, versions }) =>
      versions.map(({ name }) => [`${group}/${name} ${names.kind}`, scope === 'Namespaced']),
    ),
  );
}

function isDefinition(object: KubernetesObject): object is CustomResourceDefinition {
  const { apiVersion, kind } = object;
  if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io') {
    return false;
  }
  // The server will say what is wrong with it.
  const { spec } = object as Partial<CustomResourceDefinition>;
  return Array.isArray(spec?.versions) && (spec.names as unknown) !== undefined;
}
