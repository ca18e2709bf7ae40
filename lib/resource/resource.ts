import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceContext } from './resource-context.js';

/**
 * A link of a chain: it knows how to bring one thing to its desired state, and how to take it away.
 * `T` is the object that is reconciled. Both methods are called again and again, and must be
 * idempotent; what they throw ends the chain, and has the object reconciled again.
 */
export interface Resource<T extends KubernetesObject = KubernetesObject> {
  /** Identifies it in its set, in logs, metrics and errors; not empty. */
  readonly name: string;
  /** Called while `object` lives: after it was created or changed, and from time to time. */
  ensureCreated(context: ResourceContext, object: T): Promise<void>;
  /** Called when `object` is being deleted; it stays until every resource of its set has returned. */
  ensureDeleted(context: ResourceContext, object: T): Promise<void>;
  /** What a wrapper wraps; absent on what is no wrapper. */
  readonly wrapped?: Resource<T> | undefined;
}
