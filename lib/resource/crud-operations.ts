import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Patch } from './patch.js';
import type { ResourceContext } from './resource-context.js';

/** What a step may return. */
export type Awaitable<R> = R | Promise<R>;

/**
 * The steps of a CRUD resource. `T` is the object that is reconciled, `State` what the resource
 * looks at, as ConfigMaps or the answer of a cloud, and `Change` what one part of a patch carries.
 *
 * ## Flow
 * current state, desired state, patch, then the parts of the patch that were set. Before each step
 * it is looked at whether the chain or the resource was canceled.
 */
export interface CrudOperations<T extends KubernetesObject, State, Change> {
  /** Identifies the resource; not empty. */
  readonly name: string;
  /** How it is. Called while the object lives and while it is being deleted. */
  getCurrentState(context: ResourceContext, object: T): Awaitable<State>;
  /**
   * How it should be, by what the object says. Called in both cases, too. An error in a deletion
   * counts only if `newDeletePatch` reads `desired`.
   */
  getDesiredState(context: ResourceContext, object: T): Awaitable<State>;
  /** What has to be done while the object lives; undefined: nothing. */
  newUpdatePatch(
    context: ResourceContext,
    object: T,
    states: States<State>,
  ): Awaitable<Patch<Change> | undefined>;
  /** What has to be done when the object is being deleted; undefined: nothing. */
  newDeletePatch(
    context: ResourceContext,
    object: T,
    states: States<State>,
  ): Awaitable<Patch<Change> | undefined>;
  applyCreateChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
  applyDeleteChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
  applyUpdateChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
}

/** What a patch is made from. */
export interface States<State> {
  readonly current: State;
  readonly desired: State;
}
