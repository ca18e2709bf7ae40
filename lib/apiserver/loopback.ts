import type { ObjectKey, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';

/** A change that the server has committed, in the order of its log. */
export interface CommittedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resourceType: ResourceType;
  readonly object: UnstructuredObject;
  /** The object before the change; absent for `ADDED`. */
  readonly previous?: UnstructuredObject | undefined;
}

/** Options of the writes of {@link Loopback}. */
export interface LoopbackWriteOptions {
  /** Recorded as the field manager and in the request log, for example `kube-controller-manager`. */
  readonly manager: string;
  readonly subresource?: string | undefined;
}

/** Options of {@link Loopback.delete}. */
export interface LoopbackDeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** Options of {@link Loopback.put}. */
export interface LoopbackPutOptions {
  /** Recorded as the manager of all that the object has, by an apply. */
  readonly manager: string;
  /** The bytes of its JSON, about. */
  readonly bytes: number;
  /** Do everything but store. @defaultValue false */
  readonly dryRun?: boolean | undefined;
}

/** Result of {@link Loopback.put}. */
export interface PutObject {
  /** The object before the write. */
  readonly live: UnstructuredObject | undefined;
  /** The stored object: the live one itself if nothing changed. */
  readonly stored: UnstructuredObject;
}

/**
 * How the server's own controllers read and write: through the same write path as a request over
 * HTTP, without one. Objects that it hands out are frozen and shared. Writes throw `StatusError`.
 */
export interface Loopback {
  get(type: ResourceType, key: ObjectKey): UnstructuredObject | undefined;
  list(type: ResourceType, namespace?: string): readonly UnstructuredObject[];
  /** Every kind that is served now, one (the storage) version of each. */
  resourceTypes(): readonly ResourceType[];
  /** Objects with an owner reference to `uid`, of any kind. */
  dependents(uid: string): readonly { resourceType: ResourceType; object: UnstructuredObject }[];
  /** Calls `listener` after each committed change. @returns what ends it. */
  subscribe(listener: (change: CommittedChange) => void): () => void;
  create(object: UnstructuredObject, options: LoopbackWriteOptions): Promise<UnstructuredObject>;
  /** Replaces an object (or its subresource); a `resourceVersion` in it must be the live one. */
  update(object: UnstructuredObject, options: LoopbackWriteOptions): Promise<UnstructuredObject>;
  /**
   * Stores a loose custom resource as it is, as far as it is its manager's alone: a compare, and a commit.
   * The object has a name, labels and annotations and any content, without nulls; parts of it are shared
   * and frozen.
   * @returns undefined: nothing is done, for the object is to be written as others are
   */
  put(object: UnstructuredObject, options: LoopbackPutOptions): PutObject | undefined;
  delete(type: ResourceType, key: ObjectKey, options?: LoopbackDeleteOptions): Promise<void>;
}
