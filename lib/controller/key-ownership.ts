import type { Fence } from '../client/fence.js';
import type { ObjectKey } from '../object/kubernetes-object.js';

/**
 * Which keys of a controller are this process's, when replicas share them. A controller reconciles
 * what is owned only; what is not is dropped from its queue and will come back when it is acquired.
 */
export interface KeyOwnership {
  /** Whether a reconcile of `key` may begin now. */
  owns(key: ObjectKey): boolean;
  /** Asked before each write of a reconcile of `key`. */
  fenceOf(key: ObjectKey): Fence;
  /** Tells `listener` of each change from now on. @returns ends it */
  subscribe(listener: KeyOwnershipListener): () => void;
}

/** What a controller does when the keys that it owns change. */
export interface KeyOwnershipListener {
  /** More keys are owned: the controller enqueues every object of its kind that is owned now. */
  acquired(): void;
  /**
   * Keys will go: `owns` answers false for them already. Resolves when no reconcile of such a key
   * goes on and none can write any more; their signals are aborted after `graceMs`, and writes refused.
   */
  released(graceMs: number): Promise<void>;
}
