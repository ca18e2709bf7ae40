import type { ContextKey } from './context-key.js';
import type { Cancellation, ResourceContext } from './resource-context.js';

/** A place in a chain. */
export type Place = Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>;

/** The state of one reconcile of one object, which all its contexts share. */
export class Pass {
  reconciliationCanceled: Cancellation | undefined;
  requeueAfterMs: number | undefined;
  /** Whether a resource holds the ones after it. */
  isHeld = false;
  /** The resources that were not started because the chain ended early. */
  notStarted: readonly string[] = [];
  isUpdateAllowed = false;
  isUpdateNecessary = false;
  isDeletionAllowed = false;
  /** The current place. Shows where a reconcile hangs. */
  place: Place;
  readonly values = new Map<ContextKey<unknown>, unknown>();
  readonly #kept = new Map<string, Cancellation>();
  readonly #waiting = new Map<string, Cancellation>();

  constructor(resourceSet: string) {
    this.place = { resourceSet, resource: '', step: 'initContext' };
  }

  get finalizersKept(): readonly Cancellation[] {
    return [...this.#kept.values()];
  }

  /** Records that a resource keeps the finalizer. Its first reason stays. */
  keepFinalizers(by: Cancellation): void {
    if (!this.#kept.has(by.resource)) this.#kept.set(by.resource, by);
  }

  get waiting(): readonly Cancellation[] {
    return [...this.#waiting.values()];
  }

  notReady(by: Cancellation, holdsChain: boolean): void {
    this.#waiting.set(`${by.resource} ${by.reason}`, by);
    this.isHeld ||= holdsChain;
  }

  requeueAfter(ms: number): void {
    this.requeueAfterMs = Math.min(ms, this.requeueAfterMs ?? Infinity);
  }
}

/** The state of one resource of a reconcile. */
export class ResourceScope {
  canceled: Cancellation | undefined;
}
