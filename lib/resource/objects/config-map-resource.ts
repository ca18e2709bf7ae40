import { ConfigMap } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { CrudResource } from '../crud-resource.js';
import { objectsResource } from './objects-resource.js';
import type { KeptObjectsOptions } from './objects-resource-options.js';

/**
 * Makes a resource that keeps ConfigMaps; see `objectsResource`.
 * @throws InvalidConfigError the name or the field manager is invalid.
 */
export function configMapResource<T extends KubernetesObject>(
  options: KeptObjectsOptions<T, ConfigMap>,
): CrudResource<T, ConfigMap[], ConfigMap[]> {
  return objectsResource({ ...options, types: [ConfigMap] });
}
