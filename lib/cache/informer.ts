import {
  labelRequirementsOf,
  matchesFields,
  parseFieldSelector,
  matchesLabels,
} from '../object/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../object/index.js';
import type { Resolved } from '../system/index.js';
import type { CachedType } from './cache-options.js';
import type { Indexer } from './indexer.js';
import type { Missing } from './missing.js';
import type { QuarantinedObject } from './quarantine.js';

/** A change of one object in the cache. Objects are shared and frozen: never modify them. */
export type CacheEvent<T extends KubernetesObject = KubernetesObject> =
  AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>;

/** An object was added to the cache. */
export interface AddedEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'added';
  readonly object: T;
  readonly old?: undefined;
  /** True if the object existed when the handler was added or when the cache was first filled. */
  readonly isInInitialList: boolean;
}

/** An object changed. The event may cover several changes if the watch was interrupted. */
export interface UpdatedEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'updated';
  readonly object: T;
  readonly old: T;
}

/** An object was deleted, or no longer matches the cache's selectors. */
export interface DeletedEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'deleted';
  /** The last known state. */
  readonly object: T;
  readonly old?: undefined;
  /** True if the deletion itself was missed: `object` is the last state seen and may be out of date. */
  readonly finalStateUnknown: boolean;
}

/**
 * Handles every change in order. The handler runs synchronously, so it must be fast. Exceptions are logged
 * and counted, and do not stop the cache.
 */
export type CacheEventHandler<T extends KubernetesObject = KubernetesObject> = (
  event: CacheEvent<T>,
) => void;

/** The registration of an event handler. */
export interface HandlerRegistration {
  /** Removes the handler, which then receives no further events. */
  remove(): void;
}

/** Options of {@link Informer.waitForSync} and `Cache.waitForSync`. */
export interface WaitForSyncOptions {
  /** `pass` does not wait for kinds that the server does not serve. @defaultValue 'wait' */
  readonly parked?: 'wait' | 'pass' | undefined;
}

/** The state of one kind in a cache, for readiness checks and diagnostics. */
export interface InformerStatus {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadataOnly: boolean;
  readonly objects: number;
  readonly synced: boolean;
  /** True if the server does not serve the kind. The informer checks repeatedly if the kind is served. */
  readonly parked: boolean;
  /** The error that keeps the kind from being up to date; undefined if there is no problem. */
  readonly problem: unknown;
  /** The objects that the cache can't store. Other objects are not affected. */
  readonly quarantined: readonly QuarantinedObject[];
  /** The permission or kind that `problem` shows to be missing; undefined if it shows no such thing. */
  readonly missing: Missing | undefined;
}

/**
 * One kind in a cache, shared by all its users. It stays up to date as long as it has users: call
 * {@link Informer.release} when you no longer need it.
 */
export interface Informer<T extends KubernetesObject = KubernetesObject> {
  readonly type: TypeReference<T>;
  /** True once the initial list is in the cache. */
  readonly synced: boolean;
  /**
   * Waits until the informer is synced or released.
   * @throws the signal's reason, as soon as it is aborted.
   * @throws OperatorError `Stopped`: the cache was stopped meanwhile.
   */
  waitForSync(signal?: AbortSignal, options?: WaitForSyncOptions): Promise<void>;
  /**
   * Returns an object as the watch last showed it.
   * @throws OperatorError `Quarantined`: the cache can't store the object.
   */
  get(key: ObjectKey): T | undefined;
  /**
   * Returns the objects of one namespace or of all, in no order, as the watch last showed them. Quarantined
   * objects appear in their last valid state; the `list` of a cached client throws for them instead.
   */
  list(namespace?: string): T[];
  /**
   * Returns the objects under `value` of an index, in no order, as the watch last showed them.
   * @throws OperatorError `InvalidOption`: the index does not exist.
   */
  byIndex(name: string, value: string): T[];
  /**
   * Adds an index. Adding the same one again is allowed.
   * @throws OperatorError `InvalidOption`: a different index has that name.
   */
  addIndexer(name: string, indexer: Indexer<T>): void;
  /** Adds a handler, and calls it at once for each existing object, with `isInInitialList` set. */
  addHandler(handler: CacheEventHandler<T>): HandlerRegistration;
  status(): InformerStatus;
  /** Removes the handlers of this informer. The cache drops the kind when it has no other users. */
  release(): void;
}

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
      this.#notify(own, { type: 'added', object, isInInitialList: true });
    this.#handlers = [...this.#handlers, own];
    return { remove: () => this.#remove(own) };
  }

  /** Calls all handlers with each event, in order. */
  emit(events: readonly CacheEvent<T>[]): void {
    // A handler added meanwhile has already received the store's state after all of these events.
    const handlers = this.#handlers;
    for (const event of events) {
      for (const handler of handlers) {
        // An earlier handler may have removed this handler.
        const isThere = this.#handlers === handlers || this.#handlers.includes(handler);
        if (isThere) this.#notify(handler, event);
      }
    }
  }

  clear(): void {
    this.#handlers = [];
  }

  #remove(handler: CacheEventHandler<T>): void {
    this.#handlers = this.#handlers.filter((other) => other !== handler);
  }

  #notify(handler: CacheEventHandler<T>, event: CacheEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.#onError(error, event.object);
    }
  }
}

/** Selects the cached objects of one kind and the parts of them that are kept. */
export interface InformerScope<T extends KubernetesObject> extends Resolved<
  CachedType<T>,
  'namespaces' | 'labelSelector' | 'fieldSelector' | 'transform'
> {
  readonly metadataOnly: boolean;
}

/** Returns a function that tests whether a watch of this scope shows an object of its kind. */
export function selectedBy({
  namespaces,
  labelSelector,
  fieldSelector,
}: Pick<InformerScope<never>, 'namespaces' | 'labelSelector' | 'fieldSelector'>): (
  object: KubernetesObject,
) => boolean {
  const labels = labelRequirementsOf(labelSelector ?? '');
  const fields = parseFieldSelector(fieldSelector ?? '');
  return (object) =>
    (namespaces === undefined || namespaces.includes(object.metadata.namespace ?? '')) &&
    matchesLabels(labels, object.metadata.labels) &&
    matchesFields(fields, object);
}
