import { describeObject, keyString, kindText } from '../object/index.js';
import type { GroupKind, KubernetesObject, TypeReference } from '../object/index.js';
import type { CachingClient, Client, Fence } from './client.js';

/**
 * Wraps a Client so that `fence` must allow its writes. The fence is checked before the write waits for anything, and
 * right before each attempt writes its first byte to a connection. Dry runs are checked too. With several wrappers,
 * every fence must allow the write.
 * @throws OperatorError `Fenced` by each write that the fence refuses: nothing was sent.
 * @throws OperatorError `Aborted` by a write under way when the fence is lost: the server may have carried it out.
 */
export function fenced(client: Client, fence: Fence): Client {
  const within = <Options extends { readonly fences?: readonly Fence[] | undefined }>(
    what: string,
    options: Options | undefined,
  ): Options => {
    const term = fence.term?.() ?? fence;
    // Check the fence here too: a `Client` that sends no requests of its own (a fake, a recorder) may ignore `fences`.
    term.check(what);
    return { ...(options as Options), fences: [...(options?.fences ?? []), term] };
  };
  return wrapped(client, (one) => ({
    ...forwarding(one),
    create: async (object, options) =>
      one.create(object, within(`create ${describeObject(object)}`, options)),
    update: async (object, options) =>
      one.update(object, within(`update ${describeObject(object)}`, options)),
    patch: async (type, key, patch, options) =>
      one.patch(type, key, patch, within(`patch ${kindText(type)} ${keyString(key)}`, options)),
    apply: async (object, options) =>
      one.apply(object, within(`apply ${describeObject(object)}`, options)),
    delete: async (type, key, options) =>
      one.delete(type, key, within(`delete ${kindText(type)} ${keyString(key)}`, options)),
    deleteCollection: async (type, options) =>
      one.deleteCollection(type, within(`deletecollection ${kindText(type)}`, options)),
  }));
}

/** Wraps a Client so that the server validates, defaults and answers its writes, but does not store them. */
export function dryRun(client: Client): Client {
  const dry = { dryRun: true };
  return wrapped(client, (one) => ({
    ...forwarding(one),
    create: (object, options) => one.create(object, { ...options, ...dry }),
    update: (object, options) => one.update(object, { ...options, ...dry }),
    patch: (type, key, patch, options) => one.patch(type, key, patch, { ...options, ...dry }),
    apply: (object, options) => one.apply(object, { ...options, ...dry }),
    delete: (type, key, options) => one.delete(type, key, { ...options, ...dry }),
    deleteCollection: (type, options) => one.deleteCollection(type, { ...options, ...dry }),
  }));
}

/** Wraps a client and, if it reads from a cache, its `live` client. */
function wrapped(client: CachingClient, wrap: (client: Client) => Client): CachingClient {
  const { live } = client;
  return { ...wrap(client), ...(live !== undefined && { live: wrap(live) }) };
}

/** Returns a Client that forwards every call to `client`: the base of wrappers, which override some calls. */
export function forwarding(client: Client): Client {
  return routing(() => client);
}

/**
 * Returns a Client that forwards each call to the client that `of` returns.
 * @param of - gets the type, or the object that is written
 */
export function routing(of: (what: TypeReference<KubernetesObject> | GroupKind) => Client): Client {
  return {
    get: (type, key, options) => of(type).get(type, key, options),
    list: (type, options) => of(type).list(type, options),
    pages: (type, options) => of(type).pages(type, options),
    watch: (type, options) => of(type).watch(type, options),
    stream: (type, key, options) => of(type).stream(type, key, options),
    create: (object, options) => of(object).create(object, options),
    update: (object, options) => of(object).update(object, options),
    patch: (type, key, patch, options) => of(type).patch(type, key, patch, options),
    apply: (object, options) => of(object).apply(object, options),
    delete: (type, key, options) => of(type).delete(type, key, options),
    deleteCollection: (type, options) => of(type).deleteCollection(type, options),
    resourceType: (type) => of(type).resourceType(type),
  };
}
