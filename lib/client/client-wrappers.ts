import { describeObject, keyString, kindText } from '../object/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import { subresourceParent } from './call.js';
import type { CachingClient, Client, Fence, WriteOptions } from './client.js';

/**
 * Wraps a Client so that it stays in one namespace. Calls for namespaced kinds use `namespace` if they name
 * none, and throw if they name another. Calls for cluster-scoped kinds are unchanged.
 * @throws OperatorError `InvalidObject` by each call that names another namespace.
 */
export function namespaced(client: Client, namespace: string): Client {
  return wrapped(client, (one) => inNamespace(one, new Scope(one, namespace)));
}

function inNamespace(client: Client, scope: Scope): Client {
  return {
    ...forwarding(client),
    get: async (type, key, options) => client.get(type, await scope.key(type, key), options),
    list: async (type, options) => client.list(type, await scope.within(type, options)),
    pages: async function* (type, options) {
      yield* client.pages(type, await scope.within(type, options));
    },
    watch: async function* (type, options) {
      yield* client.watch(type, await scope.within(type, options));
    },
    stream: async function* (type, key, options) {
      yield* client.stream(type, await scope.key(type, key), options);
    },
    create: async (object, options) => client.create(await scope.object(object, options), options),
    update: async (object, options) => client.update(await scope.object(object, options), options),
    patch: async (type, key, patch, options) =>
      client.patch(type, await scope.key(type, key), patch, options),
    apply: async (object, options) => client.apply(await scope.object(object, options), options),
    delete: async (type, key, options) => client.delete(type, await scope.key(type, key), options),
    deleteCollection: async (type, options) =>
      client.deleteCollection(type, await scope.within(type, options)),
  };
}

interface WithNamespace {
  readonly namespace?: string | undefined;
}

class Scope {
  readonly #client: Client;
  readonly #namespace: string;

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async key(type: TypeReference<KubernetesObject>, key: ObjectKey): Promise<ObjectKey> {
    return { ...key, namespace: await this.#namespaceFor(type, key.namespace, key.name) };
  }

  async within<Options extends WithNamespace>(
    type: TypeReference<KubernetesObject>,
    options?: Options,
  ): Promise<Options & WithNamespace> {
    const namespace = await this.#namespaceFor(type, options?.namespace, 'a collection');
    return { ...(options as Options), namespace };
  }

  async object<T extends KubernetesObject>(object: T, options: WriteOptions = {}): Promise<T> {
    const type = subresourceParent(object, options);
    const { metadata } = object;
    const what = describeObject(object);
    const namespace = await this.#namespaceFor(type, metadata.namespace, what);
    if (namespace === metadata.namespace || namespace === undefined) return object;
    return { ...object, metadata: { ...metadata, namespace } };
  }

  async #namespaceFor(
    reference: TypeReference<KubernetesObject>,
    wanted: string | undefined,
    what: string,
  ): Promise<string | undefined> {
    const type = await this.#client.resourceType(reference);
    if (!type.namespaced) return wanted;
    if (wanted === undefined || wanted === '' || wanted === this.#namespace) return this.#namespace;
    const message = `${type.kind} ${what} of namespace ${wanted}`;
    const remedy = `this client stays in namespace ${this.#namespace}`;
    throw new OperatorError('InvalidObject', `${message}: out of reach, ${remedy}`);
  }
}

/** The API server's limit. */
const longestName = 128;

/**
 * Wraps a Client so that writes without a field manager use `fieldManager`.
 * @throws OperatorError `InvalidOption`: the name is empty or longer than 128 characters.
 */
export function withFieldManager(client: Client, fieldManager: string): Client {
  if (fieldManager === '' || fieldManager.length > longestName) {
    const got = `got ${fieldManager.length}`;
    const message = `fieldManager: want 1 to ${longestName} characters, ${got}`;
    throw new OperatorError('InvalidOption', message);
  }
  const managed = (given?: WriteOptions): WriteOptions => ({
    fieldManager: given?.fieldManager ?? fieldManager,
  });
  return wrapped(client, (one) => writing(one, managed));
}

/**
 * Wraps a Client so that `fence` must allow its writes. The fence is checked before the write waits for
 * anything, and right before each attempt writes its first byte to a connection. Dry runs are checked too.
 * With several wrappers, every fence must allow the write.
 * @throws OperatorError `Fenced` by each write that may not start: nothing was sent.
 * @throws OperatorError `Aborted` by a write under way when the fence is lost: the server may have carried it
 * out.
 */
export function fenced(client: Client, fence: Fence): Client {
  const within = <Options extends { readonly fences?: readonly Fence[] | undefined }>(
    what: string,
    options: Options | undefined,
  ): Options => {
    const term = fence.term?.() ?? fence;
    // Checked here too: a Client that sends nothing itself (a fake, a recorder) may ignore fences.
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
    ...writing(one, () => dry),
    delete: (type, key, options) => one.delete(type, key, { ...options, ...dry }),
    deleteCollection: (type, options) => one.deleteCollection(type, { ...options, ...dry }),
  }));
}

/** Returns a Client whose writes of objects have the options of the call and those that `more` adds. */
function writing(client: Client, more: (given?: WriteOptions) => WriteOptions): Client {
  const all = <Options extends WriteOptions>(given?: Options) => ({ ...given, ...more(given) });
  return {
    ...forwarding(client),
    create: (object, options) => client.create(object, all(options)),
    update: (object, options) => client.update(object, all(options)),
    patch: (type, key, patch, options) => client.patch(type, key, patch, all(options)),
    apply: (object, options) => client.apply(object, all(options)),
  };
}

/** Wraps a client and, if it reads from a cache, its `live` client. */
function wrapped(client: CachingClient, wrap: (client: Client) => Client): CachingClient {
  const { live } = client;
  return { ...wrap(client), ...(live !== undefined && { live: wrap(live) }) };
}

/** Returns a Client that forwards every call to `client`: the base of wrappers, which override some calls. */
export function forwarding(client: Client): Client {
  return {
    get: (type, key, options) => client.get(type, key, options),
    list: (type, options) => client.list(type, options),
    pages: (type, options) => client.pages(type, options),
    watch: (type, options) => client.watch(type, options),
    stream: (type, key, options) => client.stream(type, key, options),
    create: (object, options) => client.create(object, options),
    update: (object, options) => client.update(object, options),
    patch: (type, key, patch, options) => client.patch(type, key, patch, options),
    apply: (object, options) => client.apply(object, options),
    delete: (type, key, options) => client.delete(type, key, options),
    deleteCollection: (type, options) => client.deleteCollection(type, options),
    resourceType: (type) => client.resourceType(type),
  };
}
