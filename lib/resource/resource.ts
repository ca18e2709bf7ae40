import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceContext } from './resource-context.js';

/**
 * A link of a chain: brings one thing to its desired state, and deletes it. `T` is the reconciled object.
 * Both methods are called repeatedly and must be idempotent. An error ends the chain and requeues the object.
 */
export interface Resource<T extends KubernetesObject = KubernetesObject> {
  /** Identifies the resource in its set, in logs, metrics and errors; not empty. */
  readonly name: string;
  /** Called for a live `object`: after it was created or changed, and on each resync. */
  ensureCreated(context: ResourceContext, object: T): Promise<void>;
  /** Called while `object` is being deleted; it stays until every resource of its set has returned. */
  ensureDeleted(context: ResourceContext, object: T): Promise<void>;
  /** The resource that a wrapper wraps; absent on other resources. */
  readonly wrapped?: Resource<T> | undefined;
}
