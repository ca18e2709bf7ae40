import type { ContextKey } from './context-key.js';
import type { Cancellation, ResourceContext } from './resource-context.js';

/** A place in a chain. */
export type Place = Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>;

/** What one pass over one object has come to; all its contexts share it. */
export class Pass {
  reconciliationCanceled: Cancellation | undefined;
  requeueAfterMs: number | undefined;
  isUpdateAllowed = false;
  isUpdateNecessary = false;
  isDeletionAllowed = false;
  /** Where it is; what hangs is there. */
  place: Place;
  readonly values = new Map<ContextKey<unknown>, unknown>();
  readonly #kept = new Map<string, Cancellation>();

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

  requeueAfter(ms: number): void {
    this.requeueAfterMs = Math.min(ms, this.requeueAfterMs ?? Infinity);
  }
}

/** What one resource of a pass has come to. */
export class ResourceScope {
  canceled: Cancellation | undefined;
}
