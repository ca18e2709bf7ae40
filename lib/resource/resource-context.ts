import type { Client } from '../client/index.js';
import type { Recorder } from '../events/index.js';
import type { Clock, Logger, Random } from '../system/index.js';

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

/** The place where a chain or a resource was canceled, and the reason. */
export interface Cancellation {
  /** The resource that canceled; `''` for the set's `initContext`. */
  readonly resource: string;
  readonly step: StepName | 'initContext';
  /** A message for people; `''` if no reason was given. */
  readonly reason: string;
}

/** Options of {@link ResourceContext.notReady}. */
export interface NotReadyOptions {
  /**
   * While the object lives, holds the resources after this one for this reconcile.
   * @defaultValue false: the chain continues
   */
  readonly holdsChain?: boolean | undefined;
}

/**
 * The context that one reconcile of one object passes to its resources. It is frozen: resources exchange
 * values through its methods, and the values end with the reconcile. All methods are idempotent.
 */
export interface ResourceContext {
  /** Reads cached kinds from the cache. Its calls end when `signal` is aborted. */
  readonly client: Client & { readonly live?: Client };
  /** Aborted when the reconcile times out, or the process stops. Pass it to every long call. */
  readonly signal: AbortSignal;
  /** Has fields for the object, the set, the resource and the step. */
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly random: Random;
  /** The field manager of ready-made resources: the framework's name; undefined uses each resource's name. */
  readonly fieldManager: string | undefined;
  /** The set that handles the object; `''` in direct calls of `processUpdate` or `processDelete`. */
  readonly resourceSet: string;
  /** The current resource; `''` in `initContext`. */
  readonly resource: string;
  /** The current step. */
  readonly step: StepName | 'initContext';

  /**
   * Ends the chain after this step, without an error. If the object is being deleted, its finalizer stays,
   * and the deletion is retried.
   */
  cancelReconciliation(reason?: string): void;
  /** The cancellation of the chain, or undefined. */
  readonly reconciliationCanceled: Cancellation | undefined;
  /** Skips the rest of this resource; the chain continues with the next one. */
  cancelResource(reason?: string): void;
  /** The cancellation of this resource, or undefined. */
  readonly resourceCanceled: Cancellation | undefined;
  /**
   * Keeps the finalizer after the chain, so that the deletion is retried. Use it while something is still
   * being deleted.
   */
  keepFinalizers(reason?: string): void;
  /** The resources that keep the finalizer, each once. */
  readonly finalizersKept: readonly Cancellation[];
  /**
   * Reports that the resource is waiting: the condition `Ready` of the object becomes `False` and names it.
   * Call it in each reconcile while the resource waits; it does not requeue.
   */
  notReady(reason: string, options?: NotReadyOptions): void;
  /** All reports made with `notReady`. */
  readonly notReadyFor: readonly Cancellation[];
  /** Requeues the object after at most this many milliseconds, if the reconcile succeeds. */
  requeueAfter(ms: number): void;
  /** The shortest requested requeue delay, or undefined. */
  readonly requeueAfterMs: number | undefined;

  /** Allows the resources that follow to make updates. */
  setUpdateAllowed(): void;
  readonly isUpdateAllowed: boolean;
  /** Reports to the resources that follow that an update is needed. */
  setUpdateNecessary(): void;
  readonly isUpdateNecessary: boolean;
  /** Allows the resources that follow to make deletions. */
  setDeletionAllowed(): void;
  readonly isDeletionAllowed: boolean;

  /** Sets a value for the rest of the reconcile; `initContext` typically does this. */
  set<V>(key: ContextKey<V>, value: V): void;
  /** Returns the value, or undefined if it was not set. */
  get<V>(key: ContextKey<V>): V | undefined;
  /** Returns the value. @throws ExecutionFailedError it was not set; the error names the key. */
  need<V>(key: ContextKey<V>): V;
}

declare const valueType: unique symbol;

/** Names a value of type `V` in a `ResourceContext`. Two keys of the same name are distinct. */
export interface ContextKey<V> {
  /** Shown in errors. */
  readonly name: string;
  readonly [valueType]?: (value: V) => V;
}

/**
 * Makes a unique key for a value that the resources of one reconcile share.
 *
 * @example
 * ```ts
 * const region = contextKey<string>('region');
 * context.set(region, 'eu-west-1');
 * context.need(region); // 'eu-west-1', a string
 * ```
 */
export function contextKey<V>(name: string): ContextKey<V> {
  return Object.freeze({ name });
}
