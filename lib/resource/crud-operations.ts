import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { Patch } from './patch.js';
import type { ResourceContext } from './resource-context.js';

/** The result of a step, or a promise of it. */
export type Awaitable<R> = R | Promise<R>;

/**
 * The steps of a CRUD resource. `T` is the reconciled object. `State` is the state that the resource
 * compares, for example ConfigMaps or the response of a cloud API. `Change` is the content of one part of a
 * patch.
 *
 * ## Flow
 * Current state, desired state, patch, then the parts of the patch that were set. Cancellation of the chain
 * or of the resource is checked before each step.
 */
export interface CrudOperations<T extends KubernetesObject, State, Change> {
  /** Identifies the resource; not empty. */
  readonly name: string;
  /** Returns the current state. Called for live objects and for objects that are being deleted. */
  getCurrentState(context: ResourceContext, object: T): Awaitable<State>;
  /**
   * Returns the desired state, from the spec of `object`. Called for live objects and for objects that are
   * being deleted. During a deletion, an error counts only if `newDeletePatch` reads `desired`.
   */
  getDesiredState(context: ResourceContext, object: T): Awaitable<State>;
  /** Returns the changes to make for a live object; undefined if there are no changes. */
  newUpdatePatch(
    context: ResourceContext,
    object: T,
    states: States<State>,
  ): Awaitable<Patch<Change> | undefined>;
  /** Returns the changes to make for an object that is being deleted; undefined if there are no changes. */
  newDeletePatch(
    context: ResourceContext,
    object: T,
    states: States<State>,
  ): Awaitable<Patch<Change> | undefined>;
  applyCreateChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
  applyDeleteChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
  applyUpdateChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
}

/** The two states that a patch is computed from. */
export interface States<State> {
  readonly current: State;
  readonly desired: State;
}
