import type { Fence } from '../client/fence.js';
import type { ReconcileKey } from './reconcile-key.js';

/**
 * Selects the keys that this process owns when replicas share a controller's keys. A controller reconciles
 * owned keys only. It drops others from its queue and enqueues them when they are acquired.
 *
 * ## Assumptions
 * - Every replica receives all source events, owned or not, since all replicas watch the kinds. If an event
 *   reaches only one replica (an HTTP callback), its receiver must forward it: best by changing the object,
 *   which all replicas watch.
 * - If a source other than a kind names a key that no replica owns at the time, every replica that receives
 *   the event remembers it, and the replica that acquires the key handles it. Each replica remembers up to
 *   10,000 keys that no cache shows.
 */
export interface KeyOwnership {
  /** Returns true if a reconcile of `key` may start now. It must be fast and must not throw. */
  owns(key: ReconcileKey): boolean;
  /** Called once at the start of each reconcile of `key`; the fence is checked before each of its writes. */
  fenceOf(key: ReconcileKey): Fence;
  /**
   * Notifies `listener` of each change from now on.
   * @returns a function that ends the subscription
   */
  subscribe(listener: KeyOwnershipListener): () => void;
}

/** Handles changes of the owned keys in a controller. */
export interface KeyOwnershipListener {
  /**
   * Handles newly owned keys; `owns` already returns true for them. The controller enqueues from its caches
   * as at a start: the objects of its kind, the objects that map to owned keys (their owner may be gone), and
   * the keys whose objects were deleted under another owner.
   * @param isNew - returns true for a newly owned key, so that others can be skipped; if absent, any key may
   *   be new
   */
  acquired(isNew?: (key: ReconcileKey) => boolean): void;
  /**
   * Handles keys about to be released; `owns` already returns false for them. Resolves when their
   * reconciles have ended or can no longer write. After `graceMs` their signals are aborted and their writes
   * refused. A handler that never ends holds its key in this process, but does not block the promise.
   */
  released(graceMs: number): Promise<void>;
}
