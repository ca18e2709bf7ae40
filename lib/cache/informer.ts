import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Indexer } from './indexer.js';
import type { Missing } from './missing.js';
import type { QuarantinedObject } from './quarantine.js';

/** What a cache tells of one object. Objects are shared and frozen: never write into them. */
export type CacheEvent<T extends KubernetesObject = KubernetesObject> =
  AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>;

/** An object came into the cache. */
export interface AddedEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'added';
  readonly object: T;
  /** It existed already when the handler was added or the cache was filled first. */
  readonly isInInitialList: boolean;
}

/** An object changed, not always by one step: a cache that lost its watch sees the last state. */
export interface UpdatedEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'updated';
  readonly object: T;
  readonly old: T;
}

/** An object is gone, or does not match the cache's selectors any more. */
export interface DeletedEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'deleted';
  /** Its last state. */
  readonly object: T;
  /** The deletion itself was missed: `object` is the last state that was seen, maybe not the last. */
  readonly finalStateUnknown: boolean;
}

/**
 * Told of every change in order, synchronously: be quick. What it throws is logged and counted, and
 * ends nothing.
 */
export type CacheEventHandler<T extends KubernetesObject = KubernetesObject> = (
  event: CacheEvent<T>,
) => void;

/** A handler that was added. */
export interface HandlerRegistration {
  /** Ends it. No event comes after. */
  remove(): void;
}

/** Options of {@link Informer.waitForSync} and `Cache.waitForSync`. */
export interface WaitForSyncOptions {
  /** What to do about kinds that the server does not serve. @defaultValue 'wait' */
  readonly parked?: 'wait' | 'pass' | undefined;
}

/** How one kind in a cache is doing; for readiness checks and people. */
export interface InformerStatus {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadataOnly: boolean;
  readonly objects: number;
  readonly synced: boolean;
  /** The server does not serve the kind; it is looked for again and again. */
  readonly parked: boolean;
  /** What keeps it from being up to date, until that is overcome; undefined: nothing does. */
  readonly problem: unknown;
  /** Objects that can't be taken in; all others are. */
  readonly quarantined: readonly QuarantinedObject[];
  /** What `problem` says has to be granted or installed; undefined: nothing of this sort. */
  readonly missing: Missing | undefined;
}

/**
 * One kind in a cache, shared by all who ask for it. It is fed as long as anybody uses it: call
 * {@link Informer.release} when you are done.
 */
export interface Informer<T extends KubernetesObject = KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Everything that existed at the start is there. */
  readonly synced: boolean;
  /**
   * Waits until it is synced, or given up.
   * @throws the signal's reason, as soon as it is aborted.
   */
  waitForSync(signal?: AbortSignal, options?: WaitForSyncOptions): Promise<void>;
  /**
   * What the watch has shown of an object.
   * @throws OperatorError `Quarantined`: it can't be taken in.
   */
  get(key: ObjectKey): T | undefined;
  /**
   * What the watch has shown, of one namespace or all of them, in no order; of objects in quarantine
   * the last good state. The `list` of a cached client refuses to show these.
   */
  list(namespace?: string): T[];
  /**
   * What the watch has shown under `value` of an index, in no order.
   * @throws OperatorError `InvalidOption`: there is no such index.
   */
  byIndex(name: string, value: string): T[];
  /**
   * Adds an index. The same one again is no error.
   * @throws OperatorError `InvalidOption`: another index has the name.
   */
  addIndexer(name: string, indexer: Indexer<T>): void;
  /** Adds a handler; it is told at once, with `isInInitialList`, of what is there already. */
  addHandler(handler: CacheEventHandler<T>): HandlerRegistration;
  status(): InformerStatus;
  /** Gives it up: its handlers are removed, and the kind is dropped when nobody else uses it. */
  release(): void;
}
