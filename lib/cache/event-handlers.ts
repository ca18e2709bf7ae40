import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { CacheEvent, CacheEventHandler, HandlerRegistration } from './informer.js';

/** Those who are told what changes; one that throws hinders nobody. */
export class EventHandlers<T extends KubernetesObject> {
  /** Replaced where it changes: a round of events goes through those that there were. */
  #handlers: readonly CacheEventHandler<T>[] = [];
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
    this.#handlers = [...this.#handlers, own];
    return { remove: () => this.#remove(own) };
  }

  /** Tells all of them, in order. */
  emit(events: readonly CacheEvent<T>[]): void {
    // One that is added meanwhile has seen the store as it is after all of these events.
    const handlers = this.#handlers;
    for (const event of events) {
      for (const handler of handlers) {
        // Removed by a handler before it.
        const isThere = this.#handlers === handlers || this.#handlers.includes(handler);
        if (isThere) this.#tell(handler, event);
      }
    }
  }

  clear(): void {
    this.#handlers = [];
  }

  #remove(handler: CacheEventHandler<T>): void {
    this.#handlers = this.#handlers.filter((other) => other !== handler);
  }

  #tell(handler: CacheEventHandler<T>, event: CacheEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.#onError(error, event.object);
    }
  }
}
