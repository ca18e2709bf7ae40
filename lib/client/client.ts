import type {
  FieldChange,
  KubernetesObject,
  LabelSelector,
  ObjectKey,
  ObjectList,
  UnstructuredObject,
  Patch,
  GroupKind,
  ResourceType,
  TypeReference,
} from '../object/index.js';

/** The options of every call. */
export interface CallOptions {
  /** Ends the call; it throws `Aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link Client.get}. */
export interface GetOptions extends CallOptions {
  /** The version to read: `'0'` allows any version, possibly a stale one. Absent: the newest. */
  readonly resourceVersion?: string | undefined;
  /** Reads this subresource, for example `status` or `scale`. */
  readonly subresource?: string | undefined;
  /** Reads only `metadata` (a `PartialObjectMetadata`). @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
}

/** Options of {@link Client.stream}. */
export interface StreamOptions extends CallOptions {
  /** The subresource, for example `log`. */
  readonly subresource: string;
  /** Query parameters, for example `{ container: 'web', follow: true }`. @defaultValue none */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
}

/** Options of {@link Client.list} and {@link Client.pages}. */
export interface ListOptions extends CallOptions {
  /** Selects the objects of this namespace. Absent: all namespaces, or the cluster-scoped collection. */
  readonly namespace?: string | undefined;
  /**
   * Selects objects by labels: a text such as `app=web,tier in (a,b)`, or a selector object such as
   * `{ matchLabels: { app: 'web' } }`. @defaultValue all objects
   */
  readonly labelSelector?: string | LabelSelector | undefined;
  /**
   * Selects objects by fields that the server supports, for example `metadata.name=web`. A cached client reads from the
   * server if the cache lacks the value that the server compares: for `selectableFields` of custom resources, and for
   * fields that only the server computes. Use `index` for those. @defaultValue all objects
   */
  readonly fieldSelector?: string | undefined;
  /**
   * Selects the objects whose controller has this UID. API servers cannot select by it: a cached client uses an
   * index, a live client filters the list.
   */
  readonly controllerUid?: string | undefined;
  /**
   * Selects the objects that the named indexes list under these values, for example `{ node: 'n1' }`.
   * `manager.index` and `cache.index` declare them; a client without a cache refuses the option.
   */
  readonly index?: Readonly<Record<string, string>> | undefined;
  /** Objects per page, at least 1. @defaultValue 500 */
  readonly limit?: number | undefined;
  /** The version of the list, as `resourceVersionMatch` states. Absent: the newest. */
  readonly resourceVersion?: string | undefined;
  /** Whether the list must have exactly `resourceVersion`, or may be newer. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  /** Reads only `metadata` of each object. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
}

/** Options of {@link Client.watch}. */
export interface WatchOptions extends CallOptions {
  /** As in {@link ListOptions}. */
  readonly namespace?: string | undefined;
  /** As in {@link ListOptions}. */
  readonly labelSelector?: string | LabelSelector | undefined;
  /** As in {@link ListOptions}. */
  readonly fieldSelector?: string | undefined;
  /** Continues after this version. Absent: begins with an `ADDED` event for every existing object. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'NotOlderThan' | undefined;
  /** Requests `BOOKMARK` events. @defaultValue true */
  readonly allowWatchBookmarks?: boolean | undefined;
  /** Begins with the existing objects, then a bookmark (a streaming list, KEP-3157). */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after this many milliseconds (rounded up to seconds). */
  readonly timeoutMs?: number | undefined;
  /** Receives only `metadata` of each object. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /**
   * States that the caller does not need `metadata.managedFields`. The client omits the field where that saves time:
   * reading an event then takes a third less time. @defaultValue false
   */
  readonly omitManagedFields?: boolean | undefined;
  /**
   * Returns known values for texts of `spec` and `status`, so that the client need not parse them. Objects then
   * share these parts, and the caller must not modify them. @defaultValue every text is parsed
   */
  readonly knownParts?: KnownParts | undefined;
}

/** Values of `spec` and `status` of objects, by their JSON text. */
export interface KnownParts {
  /**
   * Returns the value of a text: a known one, or a new one from `JSON.parse`.
   * @param uid - `metadata.uid` of the object
   * @throws SyntaxError: the text is not JSON.
   */
  read(uid: unknown, name: 'spec' | 'status', text: string): unknown;
}

/** Details of a write for its event. Only a `recordingClient` reads them. */
export interface WriteDetails {
  /**
   * Changed fields, or a function of the object after the write; values of a Secret are redacted before they
   * are reported. @defaultValue `[]`
   */
  readonly changes?:
    readonly FieldChange[] | ((after: KubernetesObject) => readonly FieldChange[]) | undefined;
  /** The cause of the write, for people. */
  readonly cause?: string | undefined;
  /** Returns true for an error that the caller handles: it is not reported. @defaultValue reports every error */
  readonly handles?: ((error: unknown) => boolean) | undefined;
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /**
   * The field manager, which owns the written fields. {@link Client.apply} needs one, given here or by a
   * wrapper.
   */
  readonly fieldManager?: string | undefined;
  /** The server validates and defaults the write without storing it. @defaultValue false */
  readonly dryRun?: boolean | undefined;
  /** The server's treatment of unknown and duplicate fields. @defaultValue the server's: `Warn` */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
  /** Writes this subresource, for example `status` or `scale`. */
  readonly subresource?: string | undefined;
  /**
   * The kind that has the subresource, if the written object is of another kind than the one in the path, as a `Scale`
   * is. Not needed for `Eviction`, `Binding` and `TokenRequest`.
   * @defaultValue the written object's own kind
   */
  readonly parent?: TypeReference<KubernetesObject> | undefined;
  /** Every fence must allow each attempt of the write; see `fenced`. @defaultValue none */
  readonly fences?: readonly Fence[] | undefined;
  /** Details for the event of the write. @defaultValue none */
  readonly details?: WriteDetails | undefined;
}

/** Options of {@link Client.apply}. */
export interface ApplyOptions extends WriteOptions {
  /** Takes fields from other managers instead of failing with a conflict. @defaultValue false */
  readonly force?: boolean | undefined;
}

/** Options of {@link Client.delete} and {@link Client.deleteCollection}. */
export interface DeleteOptions extends CallOptions {
  /** The server checks the deletion without carrying it out. @defaultValue false */
  readonly dryRun?: boolean | undefined;
  /**
   * Deletes the dependents after the object (`Background`), before it (`Foreground`), or not at all (`Orphan`).
   * @defaultValue the kind's default, for most kinds `Background`
   */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  /** The time that Pods get to end, in seconds; 0 deletes at once. @defaultValue the object's own */
  readonly gracePeriodSeconds?: number | undefined;
  /** Deletes the object only if these match; otherwise 409 Conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  /** Every fence must allow each attempt of the write; see `fenced`. @defaultValue none */
  readonly fences?: readonly Fence[] | undefined;
  /** Details for the event of the write. @defaultValue none */
  readonly details?: WriteDetails | undefined;
}

/** Options of {@link Client.deleteCollection}. */
export interface DeleteCollectionOptions extends DeleteOptions {
  /** The namespace; required for a namespaced kind: servers refuse to delete across namespaces. */
  readonly namespace?: string | undefined;
  /** As in {@link ListOptions}. */
  readonly labelSelector?: string | LabelSelector | undefined;
  /** As in {@link ListOptions}. */
  readonly fieldSelector?: string | undefined;
}

/** The result of {@link Client.apply}. */
export interface Applied<T> {
  readonly object: T;
  /** True: the object was created (201). False: it existed (200). */
  readonly created: boolean;
}

/** One event of a watch. An `ERROR` event is thrown as an `ApiError`. */
export type WatchEvent<T extends KubernetesObject = UnstructuredObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      readonly initialEventsEnd: boolean;
    };

/**
 * Access to a cluster. Objects are plain JSON in both directions: no field is dropped, renamed or converted.
 * Wrappers are Clients too, so they compose.
 *
 * Numbers are JavaScript's: an integer beyond 2^53 (`Number.MAX_SAFE_INTEGER`) loses its last digits when it
 * is read. An update of the whole object then writes the rounded value back. No built-in kind has such values
 * in practice. If a custom resource has them, write other fields by `apply` or a merge patch, or declare the
 * field as a string.
 *
 * `get` and `list` throw `TooDeep` for objects that nest deeper than 500 levels; `pages` and `watch` yield
 * objects unchecked.
 *
 * Every call throws `ApiError` if the server answers with an error; `ConnectionFailed`, `Timeout` or
 * `Aborted` if no answer arrives; and `UnknownKind` if the server does not serve the kind.
 */
export interface Client {
  /** Reads one object. @throws ApiError 404: see `isNotFound`. */
  get<T extends KubernetesObject>(
    type: TypeReference<T>,
    key: ObjectKey,
    options?: GetOptions,
  ): Promise<T>;
  /** Reads a whole collection, page by page. */
  list<T extends KubernetesObject>(
    type: TypeReference<T>,
    options?: ListOptions,
  ): Promise<ObjectList<T>>;
  /** Reads a collection one page at a time, so that it need not fit in memory. */
  pages<T extends KubernetesObject>(
    type: TypeReference<T>,
    options?: ListOptions,
  ): AsyncIterable<ObjectList<T>>;
  /** Watches a collection until the server ends the watch, the caller leaves the loop or aborts `signal`. */
  watch<T extends KubernetesObject>(
    type: TypeReference<T>,
    options?: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;
  /**
   * Streams a subresource that is not an object, such as the log of a Pod. A chunk may end within a line or a
   * character: decode text with `new TextDecoder()` and `stream: true`. The answer must begin within the request
   * time-out; its body has no time limit. The stream ends when the caller leaves the loop or aborts `signal`.
   */
  stream<T extends KubernetesObject>(
    type: TypeReference<T>,
    key: ObjectKey,
    options: StreamOptions,
  ): AsyncIterable<Uint8Array>;
  /** Creates an object, and returns it as stored. @throws ApiError 409: see `isAlreadyExists`. */
  create<T extends KubernetesObject>(object: T, options?: WriteOptions): Promise<T>;
  /** Replaces an object. Its `resourceVersion`, if set, must be the live one. */
  update<T extends KubernetesObject>(object: T, options?: WriteOptions): Promise<T>;
  /** Changes an object by a patch, and returns it as stored. @throws ApiError 404: see `isNotFound`. */
  patch<T extends KubernetesObject>(
    type: TypeReference<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Server-side apply: the field manager owns the fields of `object`; other fields stay unchanged. */
  apply<T extends KubernetesObject>(object: T, options?: ApplyOptions): Promise<Applied<T>>;
  /**
   * Deletes one object.
   * @returns the object if it still exists (finalizers, grace period), else undefined.
   */
  delete<T extends KubernetesObject>(
    type: TypeReference<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | undefined>;
  /**
   * Deletes the objects of one namespace, or of a cluster-scoped kind, that the selectors match; without selectors,
   * all of them.
   */
  deleteCollection<T extends KubernetesObject>(
    type: TypeReference<T>,
    options?: DeleteCollectionOptions,
  ): Promise<void>;
  /**
   * Finds the resource type of a kind by discovery. Without a version: the server's preferred version among
   * those that have the kind.
   * @throws OperatorError `UnknownKind`.
   */
  resourceType<T extends KubernetesObject>(
    type: TypeReference<T> | GroupKind,
  ): Promise<ResourceType<T>>;
}

/** Synchronous reads from a cache, without a request. */
export interface CacheLooks {
  /** Returns the result of `get`. Null: no such object. Undefined: the cache cannot answer, or cannot answer yet. */
  get<T extends KubernetesObject>(type: TypeReference<T>, key: ObjectKey): T | null | undefined;
  /** Returns the items that `list` returns. Undefined: the cache cannot answer, or cannot answer yet. */
  list<T extends KubernetesObject>(
    type: TypeReference<T>,
    options: ListOptions,
  ): readonly T[] | undefined;
}

/** A client that may read from a cache. */
export type CachingClient = Client & {
  /** Reads from the server if this client reads from a cache. */
  readonly live?: Client | undefined;
  /** Synchronous reads from the cache. */
  readonly looks?: CacheLooks | undefined;
};

/**
 * Decides whether a process may still write: it holds a lease, and the lease is fresh. The client checks
 * right before it sends each attempt of a write. So a delay before that (a rate limit, a retry, new
 * credentials, a stopped process) cannot outlast the lease.
 */
export interface Fence {
  /**
   * Returns normally if a write may start now.
   * @throws OperatorError `Fenced`: no write is allowed to start now; nothing was sent.
   */
  check(what: string): void;
  /**
   * Aborted as soon as no further write is allowed to start. The client then aborts writes under way, which the server
   * may have carried out, and ends waiting retries at once. Absent: both continue.
   */
  readonly lost?: AbortSignal | undefined;
  /**
   * Returns the fence for a call that begins now. If the right to write can be lost and regained, the fence
   * is bound to the current term: calls of an earlier term stay refused. Absent: this fence itself.
   */
  term?(): Fence;
}
