import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import type { Client, WriteOptions } from './client.js';
import { forwarding } from './forwarding.js';
import { subresourceParent } from './subresource-parent.js';

/**
 * Wraps a Client so that it stays in one namespace. Calls for namespaced kinds use `namespace` if they name
 * none, and throw if they name another. Calls for cluster-scoped kinds are unchanged.
 * @throws OperatorError `InvalidObject` by each call that names another namespace.
 */
export function namespaced(client: Client, namespace: string): Client {
  const scope = new Scope(client, namespace);
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
