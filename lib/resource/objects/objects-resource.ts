import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { TypeReference } from '../../object/resource-type.js';
import { CrudResource } from '../crud-resource.js';
import { KeptObjects } from './kept-objects.js';
import { objectsResourceOptionNames } from './objects-resource-options.js';
import type {
  KeptObjectsOptions,
  ObjectOfType,
  ObjectsResourceOptions,
} from './objects-resource-options.js';
import { refuseUnknownOptions } from '../../system/known-options.js';

/**
 * Makes a resource that keeps objects of any kinds for the reconciled object: creates missing objects,
 * updates changed ones, and deletes superfluous ones. All are deleted with the owner.
 *
 * ## Guarantees
 * - Uses server-side apply: defaults are no drift, a field that another manager changed is restored, and
 *   fields that the desired state does not set stay with their managers.
 * - Writes only where something differs; with a cached client it makes no read requests either.
 * - Never writes or deletes an object that the owner does not control, unless `adopt` takes over an object
 *   without a controlling owner.
 * - Validates the whole list before the first write.
 *
 * ## Caveats
 * - The reconciled object is the controlling owner. A namespaced owner can have objects only in its own
 *   namespace; a cluster-scoped one in any.
 * - An object that moves to another resource of the chain keeps its UID only if that resource comes first.
 *   Fields that are dropped later are removed only if both have the same `fieldManager`, as in a framework.
 * - The resource does not delete an object with the annotation `operator-builder.io/prune: "false"`; garbage
 *   collection deletes it with its owner.
 * - When the owner is deleted, the chain waits until every object is gone, with its dependents, such as the
 *   pods of a Deployment. It does not wait for superfluous objects of a live owner. A desired object that is
 *   still being deleted cancels the chain, without an error, until it is gone.
 * @throws InvalidConfigError the name or the field manager is invalid, or there are no kinds.
 *
 * @example
 * ```ts
 * const workloads = objectsResource({
 *   name: 'workloads',
 *   types: [Deployment, Service],
 *   getDesiredState: (context, shop: Shop) => [deploymentOf(shop), serviceOf(shop)],
 * });
 * ```
 */
export function objectsResource<
  T extends KubernetesObject,
  R extends TypeReference<KubernetesObject>,
  L extends string = string,
>(options: ObjectsResourceOptions<T, R, L>): CrudResource<T, ObjectOfType<R>[], ObjectOfType<R>[]> {
  refuseUnknownOptions(`objectsResource ${options.name}`, options, objectsResourceOptionNames);
  const { types, order } = options;
  // No object can be a LiteralHint.
  const kept = options as unknown as KeptObjectsOptions<T, ObjectOfType<R>>;
  return new CrudResource({ operations: new KeptObjects({ ...kept, types }), order });
}
