import type { Client } from '../client/client.js';
import type { Recorder } from '../events/recorder.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Random } from '../system/random.js';
import type { ContextKey } from './context-key.js';

/** A method of a resource, or a step of a CRUD resource. */
export type StepName =
  | 'ensureCreated'
  | 'ensureDeleted'
  | 'getCurrentState'
  | 'getDesiredState'
  | 'newUpdatePatch'
  | 'newDeletePatch'
  | 'applyCreateChange'
  | 'applyDeleteChange'
  | 'applyUpdateChange';

/** Who stopped something, and why. */
export interface Cancellation {
  /** The resource that asked for it; `''`: the set's `initContext`. */
  readonly resource: string;
  readonly step: StepName | 'initContext';
  /** For people; `''` where none was given. */
  readonly reason: string;
}

/** Options of {@link ResourceContext.notReady}. */
export interface NotReadyOptions {
  /**
   * While the object lives, the resources after this one are not started in this reconcile.
   * @defaultValue false: the chain goes on
   */
  readonly holdsChain?: boolean | undefined;
}

/**
 * What one pass over one object hands down to its resources. It is frozen: what resources tell one
 * another goes through its methods, and ends with the pass. Telling twice is as telling once.
 */
export interface ResourceContext {
  /** Reads from the cache what is cached; its calls end with `signal`. */
  readonly client: Client & { readonly live?: Client };
  /** Aborted when the pass takes too long, or all stops; hand it to every long call. */
  readonly signal: AbortSignal;
  /** Names the object, the set, and in a resource that one and its step. */
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly random: Random;
  /** Who owns what ready-made resources apply: the framework's name; undefined: each has its own. */
  readonly fieldManager: string | undefined;
  /** The set that handles the object; `''` in a `processUpdate` or `processDelete` of one's own. */
  readonly resourceSet: string;
  /** The resource that it was handed to; `''` in `initContext`. */
  readonly resource: string;
  /** The step that it was handed to. */
  readonly step: StepName | 'initContext';

  /**
   * Ends the chain after this step, without an error. While the object is deleted, its finalizer
   * stays, and deletion is played again.
   */
  cancelReconciliation(reason?: string): void;
  /** Whoever ended the chain, or undefined. */
  readonly reconciliationCanceled: Cancellation | undefined;
  /** Skips the rest of this resource; the ones after it go on. */
  cancelResource(reason?: string): void;
  /** Whoever skipped the rest of this resource, or undefined. */
  readonly resourceCanceled: Cancellation | undefined;
  /**
   * Keeps the finalizer when the chain has ended, so that deletion is played again: something takes
   * its time to go.
   */
  keepFinalizers(reason?: string): void;
  /** Everyone who keeps the finalizer, each once. */
  readonly finalizersKept: readonly Cancellation[];
  /**
   * Reports that the resource waits for something: the condition `Ready` of the object is `False` and
   * names it. Call it in each reconcile for as long as that holds; it requeues nothing.
   */
  notReady(reason: string, options?: NotReadyOptions): void;
  /** Everything that resources have reported by `notReady`. */
  readonly notReadyFor: readonly Cancellation[];
  /** Has the object looked at again after this many milliseconds at the latest, if the pass succeeds. */
  requeueAfter(ms: number): void;
  /** The shortest time that was asked for, or undefined. */
  readonly requeueAfterMs: number | undefined;

  /** Tells the resources that follow that an update may be carried out. */
  setUpdateAllowed(): void;
  readonly isUpdateAllowed: boolean;
  /** Tells the resources that follow that an update is needed. */
  setUpdateNecessary(): void;
  readonly isUpdateNecessary: boolean;
  /** Tells the resources that follow that a deletion may be carried out. */
  setDeletionAllowed(): void;
  readonly isDeletionAllowed: boolean;

  /** Keeps a value for the rest of the pass, as `initContext` does. */
  set<V>(key: ContextKey<V>, value: V): void;
  /** The value, or undefined where none was set. */
  get<V>(key: ContextKey<V>): V | undefined;
  /** The value. @throws ExecutionFailedError where none was set; it names the key. */
  need<V>(key: ContextKey<V>): V;
}
