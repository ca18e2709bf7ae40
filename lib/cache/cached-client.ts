import { forwarding, isStaleWrite, subresourceParent } from '../client/index.js';
import type {
  CacheLooks,
  Client,
  DeleteCollectionOptions,
  DeleteOptions,
  WriteOptions,
} from '../client/index.js';
import {
  isAlreadyExists,
  isApiError,
  isConflict,
  isNotFound,
  matchesFields,
  matchesLabels,
  keyOf,
  keyString,
} from '../object/index.js';
import type {
  ApiError,
  KubernetesObject,
  ObjectKey,
  Patch,
  TypeReference,
} from '../object/index.js';
import { systemClock, refuseUnknownOptions } from '../system/index.js';
import type { Clock } from '../system/index.js';
import type { Cache } from './cache.js';
import { getCached, listCached, looksInto, unindexed } from './cached-reads.js';
import type { SharedInformer } from './shared-informer.js';
import { completing } from './whole-updates.js';

/** Options of {@link cachedClient}. */
export interface CachedClientOptions {
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /**
   * Time that a read waits for a lagging watch before it reads from the server, in milliseconds.
   * @defaultValue 1_000
   */
  readonly staleWaitMs?: number | undefined;
}

/** A {@link Client} that reads from a cache. */
export interface CachedClient extends Client {
  /**
   * The wrapped client, for reads that bypass the cache. The cache does not record writes through this
   * client.
   */
  readonly live: Client;
  /** Synchronous reads from the cache. */
  readonly looks: CacheLooks;
}

/**
 * Creates a client that reads cached objects from `cache`, and everything else from `client`.
 *
 * ## Reads
 * - `get`, `list` and `pages` of a kind with a synced informer make no API call. They return shared, frozen
 *   objects: build a new object to change one. Reads of a subresource, a specific `resourceVersion` or an
 *   uncached namespace go to the server.
 * - For a kind cached with selectors, a `get` that misses reads from the server, while a `list` returns only
 *   the cached objects.
 * - Lists are in the server's order. The options `controllerUid`, `namespace` and `index` are looked up in
 *   indexes. If only the server can answer, the client filters the server's list by the requested `index`.
 *
 * ## Writes
 * - Writes go to the server. The next read through any client of the cache shows them (read-your-writes),
 *   even if the watch lags behind.
 * - After a conflict, the next read of that object waits for the watch or reads from the server, so a retry
 *   does not hit the same conflict for the same reason.
 */
export function cachedClient(
  client: Client,
  cache: Cache,
  options: CachedClientOptions = {},
): CachedClient {
  const { clock = systemClock, staleWaitMs = 1_000 } = options;
  refuseUnknownOptions<CachedClientOptions>('cachedClient', options, { clock, staleWaitMs });
  const reads = { cache, clock, staleWaitMs };
  return {
    ...forwarding(client),
    ...notedWrites(completing(client, cache), new WriteNotes(cache)),
    live: client,
    looks: looksInto(cache),
    get: async (type, key, get = {}) =>
      (await getCached(reads, { type, key }, get)) ?? client.get(type, key, get),
    list: async (type, list = {}) => {
      const cached = await listCached(reads, type, list);
      if (cached !== undefined) return cached;
      const { options: others, select } = unindexed(cache, type, list);
      return select(await client.list(type, others));
    },
    pages: async function* (type, list = {}) {
      const cached = await listCached(reads, type, list);
      if (cached !== undefined) {
        yield cached;
        return;
      }
      const { options: others, select } = unindexed(cache, type, list);
      for await (const page of client.pages(type, others)) yield select(page);
    },
  };
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection'>;

/** Wraps the writes of `client`: each is recorded in the cache before the caller receives the answer. */
function notedWrites(client: Client, notes: WriteNotes): Writes {
  // `writeOf` is called after the server has answered, so the call was valid.
  const noted = async <Answer>(
    call: Promise<Answer>,
    writeOf: () => Write<Answer>,
  ): Promise<Answer> => {
    let answer: Answer;
    try {
      answer = await call;
    } catch (error) {
      if (isApiError(error)) notes.refused(error, writeOf());
      throw error;
    }
    writeOf().note(answer);
    return answer;
  };
  const storing = (object: KubernetesObject, options: WriteOptions | undefined) => {
    const { namespace, name = '', resourceVersion } = object.metadata;
    const target = { type: subresourceParent(object, options ?? {}), key: { namespace, name } };
    const note = (answer: KubernetesObject): void => notes.written(target, answer, options);
    return { target, note, sent: { resourceVersion } };
  };
  return {
    create: (object, options) =>
      noted(client.create(object, options), () => storing(object, options)),
    update: (object, options) =>
      noted(client.update(object, options), () => storing(object, options)),
    patch: (type, key, patch, options) => {
      const target = { type, key };
      const note = (answer: KubernetesObject): void => notes.written(target, answer, options);
      return noted(client.patch(type, key, patch, options), () => {
        return { target, note, sent: { resourceVersion: versionInPatch(patch) } };
      });
    },
    apply: (object, options) =>
      noted(client.apply(object, options), () => {
        const { note, ...write } = storing(object, options);
        return { ...write, note: (applied) => note(applied.object) };
      }),
    delete: (type, key, options = {}) => {
      const target = { type, key };
      const note = (left: KubernetesObject | undefined): void =>
        notes.deleted(target, left, options);
      return noted(client.delete(type, key, options), () => {
        return { target, note, sent: options.preconditions ?? {} };
      });
    },
    deleteCollection: async (type, options) => {
      const deleted = notes.deletingCollection(type, options);
      await client.deleteCollection(type, options);
      deleted();
    },
  };
}

/** A write that a server has answered. */
interface Write<Answer> {
  readonly target: Target;
  readonly sent: Preconditions;
  readonly note: (answer: Answer) => void;
}

/** Requirements of a write on the live object. */
interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

/** Records writes in a cache, so that reads return them before the watch shows them. */
class WriteNotes {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /**
   * Records that a write to `target` returned `answer`. After a write to a subresource, `answer` may be of another
   * kind, such as a Scale.
   */
  written(target: Target, answer: KubernetesObject, options: WriteOptions = {}): void {
    if (options.dryRun === true) return;
    const { resourceVersion, namespace, name } = answer.metadata;
    // For a generated name, the key is known only from the answer.
    const key = name === undefined ? target.key : { namespace, name };
    const isWhole = answer.kind === target.type.kind && answer.metadata.uid !== undefined;
    for (const informer of this.#informers({ ...target, key })) {
      const { overlay } = informer;
      const stored = informer.keyFor(key);
      if (!isWhole) {
        // A Scale has the version of the object that it scales. The answer to an Eviction or a Binding is a Status,
        // which has no version.
        if (resourceVersion !== undefined) overlay.touched(stored, resourceVersion);
        else if (answer.kind === 'Status' && mayShow(informer, stored)) overlay.conflicted(stored);
      } else if (isGoneAfter(answer)) {
        overlay.deleted(stored, answer.metadata.uid);
      } else {
        informer.written(stored, answer);
      }
    }
  }

  /** Records a deletion of `target`; `remaining` is the object if finalizers or a grace period keep it. */
  deleted(target: Target, remaining: KubernetesObject | undefined, options: DeleteOptions): void {
    if (options.dryRun === true) return;
    if (remaining !== undefined) {
      this.written(target, remaining);
      return;
    }
    for (const informer of this.#informers(target)) {
      informer.overlay.deleted(informer.keyFor(target.key), options.preconditions?.uid);
    }
  }

  /**
   * Captures the objects selected by `options` before their deletion. It ignores objects created later, even
   * if they have the same name.
   * @returns a function to call after the deletion
   */
  deletingCollection(
    type: TypeReference<KubernetesObject>,
    options: DeleteCollectionOptions = {},
  ): () => void {
    if (options.dryRun === true) return () => undefined;
    const { namespace, labelSelector = '', fieldSelector = '' } = options;
    const notes = [false, true].flatMap((metadataOnly) => {
      const informer = this.#cache.peek(type, metadataOnly);
      const objects = informer ? shownBy(informer, informer.namespaceFor(namespace)) : [];
      const isSelected = ({ metadata }: KubernetesObject): boolean =>
        matchesLabels(labelSelector, metadata.labels);
      // Field selectors need whole objects. If only metadata is cached, treat all objects as selected, which is
      // harmless.
      const hasFields = (object: KubernetesObject): boolean =>
        metadataOnly || matchesFields(fieldSelector, object);
      return objects
        .filter((object) => isSelected(object) && hasFields(object))
        .map((object) => () => {
          informer?.overlay.deletedWithOthers(keyString(keyOf(object)), object.metadata.uid);
        });
    });
    return () => {
      for (const note of notes) note();
    };
  }

  /**
   * Records that the server rejected a write. If that shows that the cache is behind, the next read of the object
   * waits.
   */
  refused(error: ApiError, { target, sent }: Omit<Write<never>, 'note'>): void {
    if (target.key.name === '') return;
    for (const informer of this.#informers(target)) {
      const { overlay } = informer;
      const key = informer.keyFor(target.key);
      const seen = overlay.look(key);
      const isStale =
        seen.type === 'object'
          ? isNotFound(error) || (isStaleWrite(error) && isAsSent(seen.object, sent))
          : seen.type === 'absent' && mayShow(informer, key) && showsThatItExists(error, sent);
      if (isStale) overlay.conflicted(key);
    }
  }

  /** Returns the informers that record writes to `target`. */
  #informers({ type, key }: Target): readonly SharedInformer[] {
    return [this.#cache.peek(type), this.#cache.peek(type, true)].flatMap((informer) =>
      informer?.notes(key.namespace) === true ? [informer] : [],
    );
  }
}

/** Returns what readers see: the store, overlaid by recent writes. */
function shownBy<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  namespace: string | undefined,
): readonly T[] {
  const written = informer.overlay.unseen(namespace);
  const keys = new Set(written.map((object) => keyString(keyOf(object))));
  const stored = informer.list(namespace).filter((object) => !keys.has(keyString(keyOf(object))));
  return [...stored, ...written];
}

/** Returns false for an object that a filtered cache lacks: its selectors may exclude the object. */
function mayShow({ filtered, overlay }: SharedInformer, key: string): boolean {
  return !filtered || overlay.look(key).type !== 'absent';
}

/** Whether a write requires the version, or else the UID, that the cache shows to readers. */
function isAsSent(
  { metadata }: KubernetesObject,
  { uid, resourceVersion }: Preconditions,
): boolean {
  if (resourceVersion !== undefined) return metadata.resourceVersion === resourceVersion;
  return uid !== undefined && metadata.uid === uid;
}

/** Returns true if the object must exist: a version conflict proves it, a UID conflict does not. */
function showsThatItExists(error: ApiError, { resourceVersion }: Preconditions): boolean {
  return isAlreadyExists(error) || (isConflict(error) && resourceVersion !== undefined);
}

/** Returns the resourceVersion that a patch requires of the live object, or undefined. */
function versionInPatch(patch: Patch): string | undefined {
  if (patch.type === 'json') {
    const test = patch.operations.find(
      ({ op, path }) => op === 'test' && path === '/metadata/resourceVersion',
    );
    return test !== undefined && 'value' in test ? String(test.value) : undefined;
  }
  return (patch.body as Partial<KubernetesObject>).metadata?.resourceVersion;
}

/** Returns true if a write ended the object: removing the last finalizer deletes it. */
function isGoneAfter(answer: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = answer.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0) return false;
  // A Namespace keeps its finalizers in its spec.
  const { spec } = answer as { spec?: { finalizers?: readonly string[] } };
  return finalizers.length === 0 && (spec?.finalizers ?? []).length === 0;
}
