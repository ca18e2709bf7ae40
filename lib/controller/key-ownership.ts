import type { Fence } from '../client/fence.js';
import type { ReconcileKey } from './reconcile-key.js';

/**
 * Which keys of a controller are this process's, when replicas share them. A controller reconciles
 * what is owned only; what is not is dropped from its queue and will come back when it is acquired.
 *
 * ## Assumptions
 * - Every replica hears what the sources say, owned or not: kinds are watched by all of them. What
 *   comes to one replica only (an HTTP callback) has to be sent on by whoever takes it: best by a
 *   change of the object, which all of them see.
 * - What sources other than kinds say of a key that nobody owns at that moment is remembered by all who
 *   hear it, and heeded by whoever acquires the key; up to 10,000 keys that no cache shows.
 */
export interface KeyOwnership {
  /** Whether a reconcile of `key` may begin now. It must be quick, and not throw. */
  owns(key: ReconcileKey): boolean;
  /** Asked once for each reconcile of `key`, when it begins; the answer before each of its writes. */
  fenceOf(key: ReconcileKey): Fence;
  /** Tells `listener` of each change from now on. @returns ends it */
  subscribe(listener: KeyOwnershipListener): () => void;
}

/** What a controller does when the keys that it owns change. */
export interface KeyOwnershipListener {
  /**
   * More keys are owned, and `owns` says so already: the controller enqueues what its caches say, as
   * at a start: the objects of its kind, those that map to owned keys (their owner may be gone), and
   * keys whose objects were deleted while another owned them.
   * @param isNew - whether a key is one of those more, so that others need not be looked at again;
   * absent: any may be
   */
  acquired(isNew?: (key: ReconcileKey) => boolean): void;
  /**
   * Keys will go: `owns` answers false for them already. Resolves when no reconcile of such a key
   * goes on and none can write any more; their signals are aborted after `graceMs`, and writes
   * refused. A handler that never ends holds its key in this process, but not the promise.
   */
  released(graceMs: number): Promise<void>;
}
