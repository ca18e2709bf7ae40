import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { CacheEvent, CacheEventHandler, HandlerRegistration } from './informer.js';

/** The event handlers of an informer. An exception in one handler does not affect the others. */
export class EventHandlers<T extends KubernetesObject> {
  /** Copied on each change, so that a running `emit` iterates over a fixed list. */
  #handlers: readonly CacheEventHandler<T>[] = [];
  readonly #onError: (error: unknown, object: T) => void;

  /** @param onError - called when a handler throws */
  constructor(onError: (error: unknown, object: T) => void) {
    this.#onError = onError;
  }

  /** Adds a handler, and calls it at once for each of the `existing` objects. */
  add(handler: CacheEventHandler<T>, existing: readonly T[]): HandlerRegistration {
    // A new function for each registration, since a handler may be added twice.
    const own: CacheEventHandler<T> = (event) => handler(event);
    for (const object of existing)
      this.#tell(own, { type: 'added', object, isInInitialList: true });
    this.#handlers = [...this.#handlers, own];
    return { remove: () => this.#remove(own) };
  }

  /** Calls all handlers with each event, in order. */
  emit(events: readonly CacheEvent<T>[]): void {
    // A handler added meanwhile has already received the store's state after all of these events.
    const handlers = this.#handlers;
    for (const event of events) {
      for (const handler of handlers) {
        // An earlier handler may have removed this one.
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
