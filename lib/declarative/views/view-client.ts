import { routing, subresourceParent } from '../../client/index.js';
import type { Client, WriteOptions } from '../../client/index.js';
import {
  isJsonObject,
  memberOf,
  apiVersionOf,
  groupOf,
  groupOfType,
  versionOf,
} from '../../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  TypeMeta,
  GroupKind,
  ResourceType,
  TypeReference,
} from '../../object/index.js';
import { operatorOfViewGroup, isViewGroup } from '../spec/operator-spec.js';
import { viewVersion, unknownView } from './view-kinds.js';
import type { ViewKinds } from './view-kinds.js';

/**
 * Returns a client for views only. A create or an apply first adds the kind of its object, if it is not
 * served; all other calls reject an unserved kind. A view may have no namespace.
 */
export function viewClient(client: Client, kinds: ViewKinds): Client {
  const paths = new ViewPaths(kinds);
  return {
    get: async (type, key, options) => client.get(await paths.to(type, key), key, options),
    list: async (type, options) => client.list(await paths.typeOf(type), options),
    pages: async function* (type, options) {
      yield* client.pages(await paths.typeOf(type), options);
    },
    watch: async function* (type, options) {
      yield* client.watch(await paths.typeOf(type), options);
    },
    stream: async function* (type, key, options) {
      yield* client.stream(await paths.to(type, key), key, options);
    },
    create: async (object, options) => {
      await paths.make(object, options);
      return client.create(object, await paths.forWrite(object, options));
    },
    update: async (object, options) => client.update(object, await paths.forWrite(object, options)),
    patch: async (type, key, patch, options) =>
      client.patch(await paths.to(type, key), key, patch, options),
    apply: async (object, options) => {
      await paths.make(object, options);
      return client.apply(object, { ...options, ...(await paths.forWrite(object, options)) });
    },
    delete: async (type, key, options) => client.delete(await paths.to(type, key), key, options),
    deleteCollection: async (type, options) =>
      client.deleteCollection(await paths.typeOf(type), options),
    resourceType: (type) => paths.typeOf(type),
  };
}

/** Finds the paths of views on the server. */
class ViewPaths {
  readonly #kinds: ViewKinds;

  constructor(kinds: ViewKinds) {
    this.#kinds = kinds;
  }

  /** @throws OperatorError `UnknownKind`: the kind is not served. */
  async typeOf<T extends KubernetesObject>(
    given: TypeReference<T> | GroupKind,
  ): Promise<ResourceType<T>> {
    if ('plural' in given) return given;
    const reference = 'apiVersion' in given ? given : inOnlyVersion(given);
    const operator = operatorOf(reference);
    const found = operator === undefined ? undefined : this.#kinds.find(operator, reference.kind);
    if (found === undefined) throw unknownView(reference);
    // The compiler can't check that `T` is the type of the view's objects; the caller chooses it.
    const type: unknown = found;
    return type as ResourceType<T>;
  }

  /** Returns the type with which to build the path of an object: namespaced or not. */
  async to<T extends KubernetesObject>(
    reference: TypeReference<T>,
    { namespace = '' }: Pick<ObjectKey, 'namespace'>,
  ): Promise<ResourceType<T>> {
    const type = await this.typeOf(reference);
    return namespace === '' ? { ...type, namespaced: false } : type;
  }

  /** Serves the kind of `object`, if it is a view. */
  async make(object: KubernetesObject, options: WriteOptions = {}): Promise<void> {
    const reference = subresourceParent(object, options);
    const operator = operatorOf(reference);
    if (operator !== undefined) await this.#kinds.ensure(operator, reference.kind);
  }

  async forWrite(object: KubernetesObject, options: WriteOptions = {}): Promise<WriteOptions> {
    const parent = await this.to(subresourceParent(object, options), object.metadata);
    return { ...options, parent };
  }
}

function inOnlyVersion({ group, kind }: GroupKind): TypeMeta {
  return { apiVersion: `${group}/${viewVersion}`, kind };
}

/** Returns the operator that owns the view; undefined: not a view. */
function operatorOf(type: TypeReference<KubernetesObject>): string | undefined {
  const apiVersion = apiVersionOf(type);
  return versionOf(apiVersion) === viewVersion
    ? operatorOfViewGroup(groupOf(apiVersion))
    : undefined;
}

/**
 * Returns a client that sends calls for view groups to `views` and all other calls to `native`. It answers
 * access reviews of views itself: always allowed.
 */
export function routedClient(views: Client, native: Client): Client {
  const of = (type: TypeReference<KubernetesObject> | GroupKind): Client =>
    isViewGroup(groupOfType(type)) ? views : native;
  const ofWrite = (object: KubernetesObject, options: WriteOptions = {}): Client =>
    of(subresourceParent(object, options));
  return {
    ...routing(of),
    create: async (object, options) =>
      isReviewOfViews(object)
        ? { ...object, status: allowed }
        : ofWrite(object, options).create(object, options),
    update: (object, options) => ofWrite(object, options).update(object, options),
    apply: (object, options) => ofWrite(object, options).apply(object, options),
  };
}

const allowed = { allowed: true, reason: 'this process owns its views' };

/** Whether `object` is an access review of views. The cluster does not serve views, so it would deny access. */
function isReviewOfViews(object: KubernetesObject): boolean {
  if (groupOf(object.apiVersion) !== 'authorization.k8s.io') return false;
  const { spec } = object as { spec?: unknown };
  const asked = isJsonObject(spec) ? memberOf(spec, 'resourceAttributes') : undefined;
  const group = isJsonObject(asked) ? memberOf(asked, 'group') : undefined;
  return typeof group === 'string' && isViewGroup(group);
}
