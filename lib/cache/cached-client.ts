import type { CacheLooks, Client, WriteOptions } from '../client/client.js';
import { forwarding } from '../client/forwarding.js';
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
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /**
   * How long a read waits for a watch that is known to be behind, before it asks the server, in
   * milliseconds. @defaultValue 1_000
   */
  readonly staleWaitMs?: number | undefined;
}

/** A {@link Client} that reads from a cache. */
export interface CachedClient extends Client {
  /** Reads from the server, too. */
  readonly live: Client;
  /** Looks into the cache. */
  readonly looks: CacheLooks;
}

/**
 * A client that reads from `cache` what is cached there, and all else from `client`.
 *
 * ## Reads
 * - `get`, `list` and `pages` of a kind that has a synced informer make no API call. What they return
 *   is shared and frozen: build a new object to change it. A subresource, a certain
 *   `resourceVersion`, or a namespace that is not cached is read from the server.
 * - A kind that is cached by selectors: a `get` that misses asks the server; a `list` shows what is
 *   cached.
 * - Lists are in the server's order; `controllerUid`, `namespace` and `index` are answered by an index.
 *   Where only the server can answer, the objects that an `index` lists are selected from its list.
 *
 * ## Writes
 * - They go to the server, and the next read, through whichever client of the cache, shows them
 *   (read-your-writes), though the watch may be behind.
 * - After a conflict, the next read of that object waits for the watch, or asks the server: a retry
 *   does not meet the same conflict for the same reason.
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

/** The writes of `client`, each noted in the cache before the caller hears of it. */
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

/** A write on its way. */
interface Write<Answer> {
  readonly target: Target;
  /** The resourceVersion that it names. */
  readonly version: string | undefined;
  readonly note: (answer: Answer) => void;
}

/** `call`, with `refused` told when it fails. */
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
