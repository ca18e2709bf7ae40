import type { CacheLooks, Client, WriteOptions } from '../client/client.js';
import { forwarding } from '../client/client-wrappers.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import type { Cache } from './cache.js';
import { getCached, listCached, looksInto, unindexed } from './cached-reads.js';
import { WriteNotes, versionInPatch } from './write-notes.js';
import type { Target } from './write-notes.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of {@link cachedClient}. */
export interface CachedClientOptions {
  /** @defaultValue the machine's clock */
  readonly clock?: Clock | undefined;
  /**
   * Time that a read waits for a lagging watch before it reads from the server, in milliseconds.
   * @defaultValue 1_000
   */
  readonly staleWaitMs?: number | undefined;
}

/** A {@link Client} that reads from a cache. */
export interface CachedClient extends Client {
  /** Reads from the server as well. */
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
 * - Lists are in the server's order. An index answers `controllerUid`, `namespace` and `index`. If only the
 *   server can answer, the client filters the server's list by the requested `index`.
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
    ...notedWrites(client, new WriteNotes(cache)),
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
  const noted = async <Answer>(call: Promise<Answer>, write: Write<Answer>): Promise<Answer> => {
    const answer = await heard(call, (error) => notes.refused(write.target, error, write.version));
    write.note(answer);
    return answer;
  };
  const storing = (object: KubernetesObject, options: WriteOptions | undefined) => {
    const target = targetOf(object, options);
    const note = (answer: KubernetesObject): void => notes.written(target, answer, options);
    return { target, note, version: object.metadata.resourceVersion };
  };
  return {
    create: (object, options) => noted(client.create(object, options), storing(object, options)),
    update: (object, options) => noted(client.update(object, options), storing(object, options)),
    patch: (type, key, patch, options) => {
      const target = { type, key };
      const note = (answer: KubernetesObject): void => notes.written(target, answer, options);
      const write = { target, note, version: versionInPatch(patch) };
      return noted(client.patch(type, key, patch, options), write);
    },
    apply: (object, options) => {
      const { note, ...write } = storing(object, options);
      const call = client.apply(object, options);
      return noted(call, { ...write, note: (applied) => note(applied.object) });
    },
    delete: (type, key, options = {}) => {
      const target = { type, key };
      const note = (left: KubernetesObject | undefined): void =>
        notes.deleted(target, left, options);
      const write = { target, note, version: options.preconditions?.resourceVersion };
      return noted(client.delete(type, key, options), write);
    },
    deleteCollection: async (type, options) => {
      const deleted = notes.deletingCollection(type, options);
      await client.deleteCollection(type, options);
      deleted();
    },
  };
}

/** A write in progress. */
interface Write<Answer> {
  readonly target: Target;
  /** The resourceVersion that the write specifies. */
  readonly version: string | undefined;
  readonly note: (answer: Answer) => void;
}

/** Awaits `call`; calls `refused` with the error if it fails. */
async function heard<T>(call: Promise<T>, refused: (error: unknown) => void): Promise<T> {
  try {
    return await call;
  } catch (error) {
    refused(error);
    throw error;
  }
}

function targetOf(
  object: KubernetesObject,
  { parent }: { readonly parent?: Target['type'] | undefined } = {},
): Target {
  const { namespace, name = '' } = object.metadata;
  return { type: parent ?? object, key: { namespace, name } };
}
