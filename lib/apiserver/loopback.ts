import type { ObjectKey, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';

/** A committed change, in the order of the server's log. */
export interface CommittedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resourceType: ResourceType;
  readonly object: UnstructuredObject;
  /** The object before the change; absent for `ADDED`. */
  readonly previous?: UnstructuredObject | undefined;
}

/** Options of the writes of {@link Loopback}. */
export interface LoopbackWriteOptions {
  /** The field manager, for example `kube-controller-manager`. */
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
  /** The field manager of the whole object, recorded as an apply. */
  readonly manager: string;
  /** The approximate size of the object's JSON, in bytes. */
  readonly bytes: number;
  /** Run all steps but do not store the object. @defaultValue false */
  readonly dryRun?: boolean | undefined;
}

/** Result of {@link Loopback.put}. */
export interface PutObject {
  /** The object before the write. */
  readonly live: UnstructuredObject | undefined;
  /** The stored object; the same instance as `live` if nothing changed. */
  readonly stored: UnstructuredObject;
}

/**
 * Reads and writes of the server's own controllers: the write path of HTTP requests, without HTTP. Returned
 * objects are frozen and shared. Writes throw `StatusError`.
 */
export interface Loopback {
  get(type: ResourceType, key: ObjectKey): UnstructuredObject | undefined;
  list(type: ResourceType, namespace?: string): readonly UnstructuredObject[];
  /** Returns every kind that is served now, in its storage version. */
  resourceTypes(): readonly ResourceType[];
  /** Returns the objects of any kind with an owner reference to `uid`. */
  dependents(uid: string): readonly { resourceType: ResourceType; object: UnstructuredObject }[];
  /** Calls `listener` after each committed change. @returns ends the subscription */
  subscribe(listener: (change: CommittedChange) => void): () => void;
  create(object: UnstructuredObject, options: LoopbackWriteOptions): Promise<UnstructuredObject>;
  /** Replaces an object (or its subresource). If it has a `resourceVersion`, this must be the live one. */
  update(object: UnstructuredObject, options: LoopbackWriteOptions): Promise<UnstructuredObject>;
  /**
   * Stores a loose custom resource with one comparison and one commit, if no other manager has a part in it.
   * The object has a name, labels, annotations and any content without nulls. The store shares and freezes
   * parts of it.
   * @returns undefined if nothing was written; the caller must then use a regular write
   */
  put(object: UnstructuredObject, options: LoopbackPutOptions): PutObject | undefined;
  delete(type: ResourceType, key: ObjectKey, options?: LoopbackDeleteOptions): Promise<void>;
}
