import { Service } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { CrudResource } from '../crud-resource.js';
import { objectsResource } from './objects-resource.js';
import type { KeptObjectsOptions } from './objects-resource-options.js';

/**
 * Makes a resource that keeps Services; see `objectsResource`.
 * @throws InvalidConfigError the name or the field manager is invalid.
 */
export function serviceResource<T extends KubernetesObject>(
  options: KeptObjectsOptions<T, Service>,
): CrudResource<T, Service[], Service[]> {
  return objectsResource({ ...options, types: [Service] });
}
