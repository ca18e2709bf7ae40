import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { CacheEvent, CacheEventHandler, HandlerRegistration } from './informer.js';

/** Those who are told what changes; one that throws hinders nobody. */
export class EventHandlers<T extends KubernetesObject> {
  readonly #handlers = new Set<CacheEventHandler<T>>();
  readonly #onError: (error: unknown, object: T) => void;

  /** @param onError - told when a handler throws */
  constructor(onError: (error: unknown, object: T) => void) {
    this.#onError = onError;
  }

  /** Adds a handler; it is told at once of `existing`. */
  add(handler: CacheEventHandler<T>, existing: readonly T[]): HandlerRegistration {
    // One of its own: the same function may be added twice.
    const own: CacheEventHandler<T> = (event) => handler(event);
    for (const object of existing)
      this.#tell(own, { type: 'added', object, isInInitialList: true });
    this.#handlers.add(own);
    return { remove: () => this.#handlers.delete(own) };
  }

  /** Tells all of them, in order. */
  emit(events: readonly CacheEvent<T>[]): void {
    // One that is added meanwhile has seen the store as it is after all of these events.
    const handlers = [...this.#handlers];
    for (const event of events) {
      for (const handler of handlers) {
        // Removed by a handler before it.
        if (this.#handlers.has(handler)) this.#tell(handler, event);
      }
    }
  }

  clear(): void {
    this.#handlers.clear();
  }

  #tell(handler: CacheEventHandler<T>, event: CacheEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.#onError(error, event.object);
    }
  }
}
