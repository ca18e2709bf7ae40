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
 * A resource that keeps objects of any kinds for the object that is reconciled: what is missing is
 * created, what differs is updated, what is superfluous is deleted, and all goes with the object.
 *
 * ## Guarantees
 * - Objects are applied on the server's side: defaults are no drift, a field that somebody else took
 *   is taken back, fields that the desired state does not name stay with whoever set them.
 * - Nothing is written where nothing differs; with a cached client nothing is read, either.
 * - What the object does not control is never written nor deleted, unless `adopt` takes over what is
 *   nobody's.
 * - Nothing is written before the whole list was found to be right.
 *
 * ## Caveats
 * - The object controls what is kept for it, so that a namespaced one has objects in its own namespace
 *   only; one of the cluster has them anywhere.
 * - An object that moves to another resource of the chain keeps its UID only if that one comes first,
 *   and loses fields that are dropped later only if both have one `fieldManager`, as in a framework.
 * - An object with the annotation `operator-builder.io/prune: "false"` is not deleted by the resource;
 *   garbage collection takes it with its owner.
 * - When the owner is deleted, the chain waits until every object is gone, with what that one owns:
 *   pods of a Deployment included. Superfluous objects of a live owner are not waited for. An object
 *   that is being deleted and is desired again ends the chain quietly until it is gone.
 * @throws InvalidConfigError the name or the field manager is none, or there are no kinds.
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
