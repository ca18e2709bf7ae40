import {
  isJsonObject,
  isNotFound,
  builtInKinds,
  apiVersionOf,
  groupOf,
  versionOf,
} from '../object/index.js';
import type {
  KubernetesObject,
  TypeMeta,
  GroupKind,
  ResourceType,
  TypeReference,
} from '../object/index.js';
import { OperatorError, systemClock } from '../system/index.js';
import type { ApiRequest } from './call.js';
import { abortedError } from './exchange.js';
import type { Exchange } from './exchange.js';
import { parseJson } from './answers.js';
import { Deadline } from './request-limits.js';

/** The root of one aggregated discovery document. */
type Root = '/api' | '/apis';

interface GroupDiscoveryList {
  readonly kind: string;
  readonly items?: readonly GroupDiscovery[];
}

interface GroupDiscovery {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly VersionDiscovery[];
}

interface VersionDiscovery {
  readonly version: string;
  readonly resources?: readonly ResourceDiscovery[];
  /** `Stale`: the server behind this version is unavailable. */
  readonly freshness?: string;
}

interface ResourceDiscovery {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
}

interface ApiResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** The content of one aggregated document. */
interface Served {
  readonly types: ReadonlyMap<string, ResourceType>;
  /** The apiVersions whose server is unavailable. */
  readonly stale: ReadonlySet<string>;
}

interface ApiGroup {
  readonly preferredVersion?: { readonly groupVersion: string };
  readonly versions?: readonly { readonly groupVersion: string }[];
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/**
 * Finds the resource types of kinds. The types in `object/kinds.ts` are known without a request. Others come
 * from aggregated discovery (KEP-3352), one request for all groups. On servers without aggregated discovery,
 * they come from the list of one group and version. An unknown kind causes another request, with the `ETag`,
 * so that a new CRD is found at once. So does the next look-up after a known type was not served: its CRD may be
 * replaced by one with another scope or plural.
 */
export class Discovery {
  readonly #exchange: Exchange;
  readonly #builtIn = builtInTypes();
  readonly #known = new Map<Root, Served>();
  /** The types that were requested one version at a time, without aggregated discovery. */
  readonly #single = new Map<string, ResourceType>();
  readonly #etags = new Map<Root, string>();
  readonly #loading = new Map<Root, Promise<void>>();
  /** The documents to request again before a type in them is used. */
  readonly #doubted = new Set<Root>();

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    exchange.onUnserved = (request) => this.#doubt(typeOf(request));
  }

  /**
   * @param signal - ends the wait for a request, which other calls may share
   * @throws OperatorError `UnknownKind`, `Aborted`, and the errors of a request.
   */
  async resourceType<T extends KubernetesObject>(
    reference: TypeReference<T> | GroupKind,
    signal?: AbortSignal,
  ): Promise<ResourceType<T>> {
    const given: unknown = reference;
    if (!isJsonObject(given)) throw noType(reference);
    if ('plural' in reference) return reference;
    // The caller asserts which type belongs to the names; it cannot be checked at run time.
    const type: unknown =
      'apiVersion' in reference
        ? await this.#find(reference, signal)
        : await this.#findPreferred(reference);
    return type as ResourceType<T>;
  }

  /**
   * Finds a type as `resourceType` does, but queries the server again unless the type is built in.
   * @throws as `resourceType` does.
   */
  async resourceTypeAgain<T extends KubernetesObject>(
    reference: TypeReference<T>,
    signal?: AbortSignal,
  ): Promise<ResourceType<T>> {
    if (!('plural' in reference)) this.#doubt(reference);
    return this.resourceType(reference, signal);
  }

  /**
   * Makes the next look-up of a type query the server whether the type still exists. Does nothing for a type that is
   * built in, or that discovery has not listed.
   */
  #doubt({ apiVersion, kind }: TypeMeta): void {
    const root = rootOf(groupOf(apiVersion));
    const key = keyOf(apiVersion, kind);
    // Only a type that discovery has listed can have changed. Any other kind was described by its caller, and while it
    // is unserved, each use ends with a 404: that must not cause further discovery requests.
    if (this.#builtIn.has(key) || this.#lookUp(root, key) === undefined) return;
    if (this.#known.has(root)) this.#doubted.add(root);
    this.#single.clear();
  }

  async #findPreferred({ group, kind }: GroupKind): Promise<ResourceType> {
    const root = rootOf(group);
    const known = this.#preferred(root, { group, kind });
    if (known !== undefined && !this.#doubted.has(root)) return known;
    await this.#loading.get(root);
    if (this.#mustLoad(root, this.#preferred(root, { group, kind }))) await this.#load(root);
    if (!this.#known.has(root)) await this.#loadGroup(group);
    const found = this.#preferred(root, { group, kind });
    if (found !== undefined) return found;
    const [versions, where] = [[...this.#typesOf(root)], group === '' ? 'the core group' : group];
    const others = versions.filter((type) => type.kind === kind).map((type) => apiVersionOf(type));
    throw unknownKind(`${kind} of ${where}`, others);
  }

  /** Servers list the versions of a group in the order in which they prefer them. */
  #preferred(root: Root, { group, kind }: GroupKind): ResourceType | undefined {
    for (const type of this.#typesOf(root)) {
      if (type.group === group && type.kind === kind) return type;
    }
    return undefined;
  }

  *#typesOf(root: Root): Iterable<ResourceType> {
    yield* this.#known.get(root)?.types.values() ?? [];
    yield* this.#single.values();
  }

  /**
   * Requests the versions of a group, then the resources of each; for servers without aggregated discovery.
   */
  async #loadGroup(group: string): Promise<void> {
    if (group === '') return this.#loadVersion('v1');
    const request = discoveryRequest(`/apis/${group}`, 'application/json');
    const answer = await this.#exchange.send(request).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (answer === undefined) return;
    const { preferredVersion, versions = [] } = parseJson(answer, request.call) as ApiGroup;
    const named = [preferredVersion, ...versions].flatMap((version) => version?.groupVersion ?? []);
    for (const apiVersion of new Set(named)) await this.#loadVersion(apiVersion);
  }

  async #find(type: TypeMeta, signal: AbortSignal | undefined): Promise<ResourceType> {
    const key = keyOf(type.apiVersion, type.kind);
    const root = rootOf(groupOf(type.apiVersion));
    const known = this.#lookUp(root, key);
    const isSure = !this.#doubted.has(root) || this.#builtIn.has(key);
    if (known !== undefined && isSure) return known;
    const asked = this.#ask(type, root, key);
    return signal === undefined ? asked : unlessAborted(asked, root, signal);
  }

  async #ask(type: TypeMeta, root: Root, key: string): Promise<ResourceType> {
    // A request under way may have begun before the caller created the CRD.
    await this.#loading.get(root);
    if (this.#mustLoad(root, this.#lookUp(root, key))) await this.#load(root);
    const served = this.#known.get(root);
    if (served === undefined || served.stale.has(type.apiVersion)) {
      await this.#loadVersion(type.apiVersion);
    }
    const found = this.#lookUp(root, key);
    if (found === undefined) throw this.#unknown(type, root);
    return found;
  }

  #lookUp(root: Root, key: string): ResourceType | undefined {
    return this.#builtIn.get(key) ?? this.#known.get(root)?.types.get(key) ?? this.#single.get(key);
  }

  #mustLoad(root: Root, known: ResourceType | undefined): boolean {
    return known === undefined || this.#doubted.has(root);
  }

  /** Joins the request under way, or starts one. */
  #load(root: Root): Promise<void> {
    let loading = this.#loading.get(root);
    if (loading === undefined) {
      loading = this.#loadAll(root).finally(() => this.#loading.delete(root));
      this.#loading.set(root, loading);
    }
    return loading;
  }

  async #loadAll(root: Root): Promise<void> {
    const etag = this.#etags.get(root);
    const request = discoveryRequest(root, `${aggregated},application/json`);
    const wasDoubted = this.#doubted.delete(root);
    const sent = this.#exchange.send({
      ...request,
      ...(etag !== undefined && { headers: { 'if-none-match': etag } }),
    });
    const answer = await sent.catch((error: unknown) => {
      if (wasDoubted) this.#doubted.add(root);
      throw error;
    });
    if (answer.status === 304) return;
    const document = parseJson(answer, request.call) as GroupDiscoveryList;
    // A server without aggregated discovery (before 1.27) answers with another document.
    if (document.kind !== 'APIGroupDiscoveryList') return;
    this.#known.set(root, servedBy(document));
    const newEtag = answer.headers['etag'];
    if (newEtag !== undefined) this.#etags.set(root, newEtag);
  }

  async #loadVersion(apiVersion: string): Promise<void> {
    const path = groupOf(apiVersion) === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
    const request = discoveryRequest(path, 'application/json');
    const answer = await this.#exchange.send(request).catch((error: unknown) => {
      if (isNotFound(error)) return undefined; // No such group: the kind stays unknown.
      throw error;
    });
    if (answer === undefined) return;
    const { resources = [] } = parseJson(answer, request.call) as ApiResourceList;
    for (const { name, kind, namespaced } of resources) {
      if (name.includes('/')) continue; // A subresource.
      const [group, version] = [groupOf(apiVersion), versionOf(apiVersion)];
      const type = { group, version, kind, plural: name, namespaced };
      this.#single.set(keyOf(apiVersion, kind), type);
    }
  }

  #unknown({ apiVersion, kind }: TypeMeta, root: Root): OperatorError {
    const known = [...this.#typesOf(root)];
    const others = known.filter((type) => type.kind === kind).map((type) => apiVersionOf(type));
    return unknownKind(`${kind} of ${apiVersion}`, others);
  }
}

async function unlessAborted<T>(asked: Promise<T>, root: Root, signal: AbortSignal): Promise<T> {
  const aborted = new Deadline(signal, systemClock, Infinity);
  try {
    return await aborted.until(asked);
  } catch (error) {
    throw aborted.isOver ? abortedError({ ...discoveryRequest(root, ''), signal }) : error;
  } finally {
    aborted.release();
  }
}

function unknownKind(what: string, others: readonly string[]): OperatorError {
  const hint =
    others.length === 0
      ? 'install its CustomResourceDefinition or check the spelling'
      : `it serves ${others.join(', ')}`;
  return new OperatorError('UnknownKind', `${what}: kind not served (${hint})`);
}

function rootOf(group: string): Root {
  return group === '' ? '/api' : '/apis';
}

function servedBy({ items = [] }: GroupDiscoveryList): Served {
  const types = new Map<string, ResourceType>();
  const stale = new Set<string>();
  for (const { metadata, versions = [] } of items) {
    const group = metadata?.name ?? '';
    for (const { version, resources = [], freshness } of versions) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      if (freshness === 'Stale') stale.add(apiVersion);
      for (const { resource, responseKind, scope } of resources) {
        const kind = responseKind?.kind ?? '';
        const type = { group, version, kind, plural: resource, namespaced: scope === 'Namespaced' };
        types.set(keyOf(apiVersion, kind), type);
      }
    }
  }
  return { types, stale };
}

function builtInTypes(): ReadonlyMap<string, ResourceType> {
  const types = Object.values(builtInKinds) as ResourceType[];
  return new Map(types.map((type) => [keyOf(apiVersionOf(type), type.kind), type]));
}

function keyOf(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`;
}

/** Returns the type of the object or the collection that a request is about. */
function typeOf({ path, call: { kind } }: ApiRequest): TypeMeta {
  const [, root, group = '', version = ''] = path.split('/');
  const [parent = kind] = kind.split('/');
  return { apiVersion: root === 'api' ? group : `${group}/${version}`, kind: parent };
}

function discoveryRequest(path: string, accept: string): ApiRequest {
  const call = { verb: 'discover', kind: path };
  return { call, method: 'GET', path, accept, repeatable: true };
}

/** A circular import, or plain JavaScript, can pass a value that the compiler would reject. */
function noType(given: unknown): OperatorError {
  const want = 'want a ResourceType, such as ConfigMap, or { apiVersion, kind }';
  const got = given === null ? 'null' : typeof given;
  return new OperatorError('InvalidOption', `type: ${want}, got ${got}`);
}
