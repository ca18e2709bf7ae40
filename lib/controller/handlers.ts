import type { CacheEvent } from '../cache/informer.js';
import type { Client } from '../client/client.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import { apiVersionOf, groupOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Logger } from '../system/logger.js';
import type { ReconcileKey } from './reconcile-key.js';

/** What a {@link Mapper} may use. */
export interface MapContext<T extends KubernetesObject = KubernetesObject> {
  readonly event: CacheEvent<T>;
  /** The cluster that it happened in. `''`: the only one. */
  readonly cluster: string;
  /** Reads from the cache what is cached. */
  readonly client: Client;
  readonly logger: Logger;
}

/** The keys to reconcile since something happened, in its cluster where they name none. */
export type Mapped = readonly ReconcileKey[] | Promise<readonly ReconcileKey[]>;

/**
 * Says what to reconcile since `object` changed. It is called for the new and for the old state, so
 * that who lost a reference hears of it. What it throws is logged and counted.
 */
export type Mapper<T extends KubernetesObject = KubernetesObject> = (
  object: T,
  context: MapContext<T>,
) => Mapped;

/** Options of {@link enqueueOwner}. */
export interface EnqueueOwnerOptions {
  /** Every owner of the type, not only the controller. @defaultValue false */
  readonly matchEveryOwner?: boolean | undefined;
}

/** The key of `object`, for the mapper of a watch. */
export function requestFor(object: KubernetesObject): ObjectKey {
  return keyOf(object);
}

/** Reconciles the object itself. */
export function enqueueObject(): Mapper {
  return (object) => [keyOf(object)];
}

/**
 * Reconciles the object's controller, where that is of `owner`'s kind, of whichever version. A kind
 * given as apiVersion and kind counts as namespaced.
 */
export function enqueueOwner(
  owner: TypeReference<KubernetesObject>,
  options: EnqueueOwnerOptions = {},
): Mapper {
  const { matchEveryOwner = false } = options;
  const group = groupOf(apiVersionOf(owner));
  const namespaced = !('namespaced' in owner) || owner.namespaced;
  return ({ metadata: { ownerReferences = [], namespace } }) =>
    ownerReferences
      .filter(
        (reference) =>
          (matchEveryOwner || reference.controller === true) &&
          reference.kind === owner.kind &&
          groupOf(reference.apiVersion) === group,
      )
      .map(({ name }) => (namespaced && namespace !== undefined ? { namespace, name } : { name }));
}
