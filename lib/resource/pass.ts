import type { ContextKey } from './context-key.js';
import type { Cancellation, ResourceContext } from './resource-context.js';

/** A place in a chain. */
export type Place = Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>;

/** What one pass over one object has come to; all its contexts share it. */
export class Pass {
  reconciliationCanceled: Cancellation | undefined;
  requeueAfterMs: number | undefined;
  /** Whether a resource has the ones after it wait. */
  isHeld = false;
  /** The resources that an early end has left out. */
  notStarted: readonly string[] = [];
  isUpdateAllowed = false;
  isUpdateNecessary = false;
  isDeletionAllowed = false;
  /** Where it is; what hangs is there. */
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

  /** The first reason of a resource stays. */
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

/** What one resource of a pass has come to. */
export class ResourceScope {
  canceled: Cancellation | undefined;
}
