import type {
  KubernetesObject,
  ObjectKey,
  ObjectList,
  UnstructuredObject,
} from '../object/kubernetes-object.js';
import type { Patch } from '../object/patch.js';
import type { GroupKind, ResourceType, TypeReference } from '../object/resource-type.js';
import type { Fence } from './fence.js';

/** What every call takes. */
export interface CallOptions {
  /** Ends the call; it throws `Aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link Client.get}. */
export interface GetOptions extends CallOptions {
  /** `'0'`: any version will do. Absent: the newest. */
  readonly resourceVersion?: string | undefined;
  /** Read this subresource, for example `status` or `scale`. */
  readonly subresource?: string | undefined;
  /** Only `metadata` is wanted (a `PartialObjectMetadata`). @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
}

/** Options of {@link Client.stream}. */
export interface StreamOptions extends CallOptions {
  /** What is read, for example `log`. */
  readonly subresource: string;
  /** Its parameters, for example `{ container: 'web', follow: true }`. @defaultValue none */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
}

/** Options of {@link Client.list} and {@link Client.pages}. */
export interface ListOptions extends CallOptions {
  /** Only this namespace; absent: all of them, or the whole cluster-scoped collection. */
  readonly namespace?: string | undefined;
  /** For example `app=web,tier in (a,b)`. */
  readonly labelSelector?: string | undefined;
  /** For example `metadata.name=web`. */
  readonly fieldSelector?: string | undefined;
  /**
   * Only objects whose controller is the owner of this UID. No API server can select by it: a
   * cached client answers from an index, a live one leaves out the others.
   */
  readonly controllerUid?: string | undefined;
  /**
   * Only objects that the named indexes list under these values, for example `{ node: 'n1' }`.
   * `manager.index` and `cache.index` declare them; a client without a cache refuses the option.
   */
  readonly index?: Readonly<Record<string, string>> | undefined;
  /** Objects per page, at least 1. @defaultValue 500 */
  readonly limit?: number | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  readonly metadataOnly?: boolean | undefined;
}

/** Options of {@link Client.watch}. */
export interface WatchOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Go on from here; absent: begin with an `ADDED` for every object that exists. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'NotOlderThan' | undefined;
  /** Ask for `BOOKMARK` events. @defaultValue true */
  readonly allowWatchBookmarks?: boolean | undefined;
  /** Begin with the objects that exist, then a bookmark (a streaming list, KEP-3157). */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after this many milliseconds (rounded up to seconds). */
  readonly timeoutMs?: number | undefined;
  readonly metadataOnly?: boolean | undefined;
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Who owns the written fields; for {@link Client.apply} it must be given here or by a wrapper. */
  readonly fieldManager?: string | undefined;
  /** Let the server do all but store it. @defaultValue false */
  readonly dryRun?: boolean | undefined;
  /** What to do with unknown and duplicate fields. @defaultValue the server's: `Warn` */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
  /** Write this subresource, for example `status` or `scale`. */
  readonly subresource?: string | undefined;
  /**
   * Whose subresource it is, where the written object is of another kind than the one in the path,
   * as a `Scale` is. Known for `Eviction`, `Binding` and `TokenRequest`.
   * @defaultValue the written object's own kind
   */
  readonly parent?: TypeReference<KubernetesObject> | undefined;
  /** All of them must allow the write whenever it is sent; see `fenced`. @defaultValue none */
  readonly fences?: readonly Fence[] | undefined;
}

/** Options of {@link Client.apply}. */
export interface ApplyOptions extends WriteOptions {
  /** Take fields from other managers instead of failing with a conflict. @defaultValue false */
  readonly force?: boolean | undefined;
}

/** Options of {@link Client.delete} and {@link Client.deleteCollection}. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean | undefined;
  /** @defaultValue the kind's own, for most `Background` */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  /** Delete only this very object: 409 Conflict otherwise. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  /** All of them must allow the write whenever it is sent; see `fenced`. @defaultValue none */
  readonly fences?: readonly Fence[] | undefined;
}

/** Options of {@link Client.deleteCollection}. */
export interface DeleteCollectionOptions extends DeleteOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** What {@link Client.apply} did. */
export interface Applied<T> {
  readonly object: T;
  /** The object did not exist (201); else it did (200). */
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
 * The one way to a cluster. Objects are plain JSON in both directions: no field is dropped, renamed
 * or converted. Wrappers are Clients too, so they compose.
 *
 * Numbers are JavaScript's: an integer beyond 2^53 (`Number.MAX_SAFE_INTEGER`) loses its last digits
 * when it is read, and an update of the whole object would write that back. No built-in kind has such
 * values in practice. Where a custom resource has: write it by `apply` or a merge patch of other
 * fields, or declare the field as a string.
 *
 * `get` and `list` throw `TooDeep` for objects that nest deeper than 500 levels; `pages` and `watch`
 * yield objects as the server sends them.
 *
 * Every call throws `ApiError` when the server answers with an error, `ConnectionFailed`, `Timeout`
 * or `Aborted` when no answer comes, and `UnknownKind` when the server serves no such kind.
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
  /** Follows a collection until the server ends the watch, `signal` is aborted or the loop is left. */
  watch<T extends KubernetesObject>(
    type: TypeReference<T>,
    options?: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;
  /**
   * Reads a subresource that is no object, such as the log of a Pod, as its bytes come; `podLog` and
   * `podLogLines` make text of them. The answer must begin within the request time-out and may go on
   * for ever. Leaving the loop, or `signal`, ends it.
   */
  stream<T extends KubernetesObject>(
    type: TypeReference<T>,
    key: ObjectKey,
    options: StreamOptions,
  ): AsyncIterable<Uint8Array>;
  create<T extends KubernetesObject>(object: T, options?: WriteOptions): Promise<T>;
  /** Replaces an object; its `resourceVersion`, where set, must be the live one. */
  update<T extends KubernetesObject>(object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubernetesObject>(
    type: TypeReference<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Server-side apply: the fields of `object` become the field manager's, the rest stays. */
  apply<T extends KubernetesObject>(object: T, options?: ApplyOptions): Promise<Applied<T>>;
  /** Deletes one object. @returns the object where it still exists (finalizers, grace), else undefined. */
  delete<T extends KubernetesObject>(
    type: TypeReference<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | undefined>;
  deleteCollection<T extends KubernetesObject>(
    type: TypeReference<T>,
    options?: DeleteCollectionOptions,
  ): Promise<void>;
  /**
   * Where a kind is served, from discovery; without a version: in the one that the server prefers
   * among those that have the kind.
   * @throws OperatorError `UnknownKind`.
   */
  resourceType<T extends KubernetesObject>(
    type: TypeReference<T> | GroupKind,
  ): Promise<ResourceType<T>>;
}

/** Looks into a cache: at once, and without a request. */
export interface CacheLooks {
  /** Looks for what `get` returns; null: there is none; undefined: the cache can't say, or not yet. */
  get<T extends KubernetesObject>(type: TypeReference<T>, key: ObjectKey): T | null | undefined;
  /** Looks for the items that `list` returns; undefined: the cache can't say, or not yet. */
  list<T extends KubernetesObject>(
    type: TypeReference<T>,
    options: ListOptions,
  ): readonly T[] | undefined;
}

/** A client that may read from a cache. */
export type CachingClient = Client & {
  /** Reads from the server, where the client itself reads from a cache. */
  readonly live?: Client | undefined;
  /** Looks into the cache. */
  readonly looks?: CacheLooks | undefined;
};
