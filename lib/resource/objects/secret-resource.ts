import { Secret } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { CrudResource } from '../crud-resource.js';
import { objectsResource } from './objects-resource.js';
import type { KeptObjectsOptions } from './objects-resource-options.js';

/**
 * Makes a resource that keeps Secrets; see `objectsResource`.
 * @throws InvalidConfigError the name or the field manager is invalid.
 */
export function secretResource<T extends KubernetesObject>(
  options: KeptObjectsOptions<T, Secret>,
): CrudResource<T, Secret[], Secret[]> {
  return objectsResource({ ...options, types: [Secret] });
}
