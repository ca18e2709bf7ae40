import {
  Service,
  checkDepth,
  controllerOf,
  describeObject,
  unicodeEscape,
} from '../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  ObjectList,
  Patch,
  GroupKind,
  ResourceType,
  TypeReference,
} from '../object/index.js';
import type { Metrics } from '../system/index.js';
import { OperatorError } from '../system/index.js';
import {
  describeCall,
  checkCallOptions,
  labelQuery,
  metadataOf,
  requestFor,
  watchQuery,
  writeQuery,
  subresourceParent,
} from './call.js';
import type { ApiRequest, PlainRequest } from './call.js';
import type {
  Applied,
  ApplyOptions,
  Client,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  StreamOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.js';
import { resolveClientOptions } from './client-options.js';
import type { ClientOptions } from './client-options.js';
import {
  deleteBody,
  dryRunQuery,
  itemsOf,
  jsonBody,
  parseJson,
  remainingObject,
  withTypeOf,
} from './answers.js';
import { Discovery } from './discovery.js';
import { Exchange } from './exchange.js';
import { flattened, jsonLines, watchEvent } from './watch-events.js';
import { concatenatePages, pagesOf } from './list-pages.js';
import type { PageRequest } from './list-pages.js';

/** A {@link Client} that holds connections. */
export interface ConnectedClient extends Client {
  /** The namespace of the kubeconfig's context or of the Pod, else `default`. */
  readonly defaultNamespace: string;
  /**
   * Counts later requests in `metrics`, unless the client was created with metrics. A `Manager` with metrics
   * calls it for its clients while it runs.
   * @returns a function that stops the counting
   */
  countIn(metrics: Metrics): () => void;
  /**
   * @internal Posts to a server behind a Service, through the API server's proxy. The request may be sent again.
   * @param service - the name has the form `https:name:port`
   * @param post - `credentialsHeader` names a header that repeats the credentials, which the proxy removes
   * @returns the body of the response
   */
  postToService(
    service: ObjectKey,
    post: {
      readonly path: string;
      readonly query: Readonly<Record<string, string | boolean | undefined>>;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly credentialsHeader?: string | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<string>;
  /** Closes every connection, watches included. Later calls throw `Stopped`. */
  close(): Promise<void>;
}

/** Returns true if `client` sends requests to a server itself, so that they can be counted. */
export function isConnected(client: Client): client is ConnectedClient {
  return 'countIn' in client;
}

/**
 * Creates a client of the API server that `transport` connects to.
 *
 * If a connection breaks, the client repeats reads, applies, and updates and merge patches that carry a
 * `resourceVersion`. So an update can conflict with its own first attempt (409), and an apply can return
 * `created: false` for an object that it created itself. The client never repeats other writes after a broken
 * connection: the first attempt may have been carried out. It repeats every request after a 429 or 503 with
 * `Retry-After`, which the server sends before it does anything.
 * @throws OperatorError `InvalidOption`: an option is out of range.
 */
export function createClient(options: ClientOptions): ConnectedClient {
  return new HttpClient(options);
}

// The server ends a watch at its time-out. If a watch is still open this much later, its connection is dead.
const watchGraceMs = 30_000;

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

class HttpClient implements ConnectedClient {
  readonly defaultNamespace: string;
  readonly #exchange: Exchange;
  readonly #discovery: Discovery;
  readonly #close: () => Promise<void>;

  constructor(options: ClientOptions) {
    const resolved = resolveClientOptions(options);
    this.defaultNamespace = resolved.defaultNamespace;
    this.#exchange = new Exchange(resolved);
    this.#discovery = new Discovery(this.#exchange);
    this.#close = () => resolved.transport.close();
  }

  countIn(metrics: Metrics): () => void {
    return this.#exchange.countIn(metrics);
  }

  close(): Promise<void> {
    return this.#close();
  }

  resourceType<T extends KubernetesObject>(
    reference: TypeReference<T> | GroupKind,
  ): Promise<ResourceType<T>> {
    return this.#discovery.resourceType(reference);
  }

  async get<T extends KubernetesObject>(
    reference: TypeReference<T>,
    key: ObjectKey,
    options: GetOptions = {},
  ): Promise<T> {
    checkCallOptions('get', options);
    const type = await this.#typeFor(reference, key, options.signal);
    const { resourceVersion, subresource, metadataOnly = false, signal } = options;
    const target = { verb: 'get', ...keyOf(key), subresource };
    const request = requestFor(type, target, { query: { resourceVersion }, signal });
    const accept = metadataOnly ? metadataOf('PartialObjectMetadata') : undefined;
    const object = await this.#send<T>({ method: 'GET', accept, repeatable: true, ...request });
    return withTypeOf(checkDepth(object, describeCall(request.call)), type);
  }

  async list<T extends KubernetesObject>(
    reference: TypeReference<T>,
    options: ListOptions = {},
  ): Promise<ObjectList<T>> {
    checkCallOptions('list', options);
    refuseIndex('list', reference, options);
    const type = await this.#discovery.resourceType(reference, options.signal);
    const list = await concatenatePages((page) => this.#page(type, options, page), options);
    for (const item of list.items) checkDepth(item, `list ${describeObject(item)}`);
    return list;
  }

  async *pages<T extends KubernetesObject>(
    reference: TypeReference<T>,
    options: ListOptions = {},
  ): AsyncGenerator<ObjectList<T>> {
    checkCallOptions('pages', options);
    refuseIndex('pages', reference, options);
    const type = await this.#discovery.resourceType(reference, options.signal);
    yield* pagesOf((page) => this.#page(type, options, page), options);
  }

  async #page<T extends KubernetesObject>(
    type: ResourceType<T>,
    options: ListOptions,
    page: PageRequest,
  ): Promise<ObjectList<T>> {
    const { namespace, labelSelector, fieldSelector, signal } = options;
    const { metadataOnly = false, controllerUid } = options;
    const query = { labelSelector: labelQuery(labelSelector), fieldSelector, ...page };
    const request = requestFor(type, { verb: 'list', namespace }, { query, signal });
    const accept = metadataOnly ? metadataOf('PartialObjectMetadataList') : undefined;
    const sent = this.#send<ObjectList<T>>({ method: 'GET', accept, repeatable: true, ...request });
    const list = await sent;
    const all = itemsOf(list, request.call).map((item) => withTypeOf(item, type));
    const items = all.filter(
      (item) => controllerUid === undefined || controllerOf(item)?.uid === controllerUid,
    );
    const { apiVersion, kind, metadata } = list;
    return { apiVersion, kind, metadata, items };
  }

  watch<T extends KubernetesObject>(
    reference: TypeReference<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    return flattened(this.#watchByChunk(reference, options));
  }

  async *#watchByChunk<T extends KubernetesObject>(
    reference: TypeReference<T>,
    options: WatchOptions,
  ): AsyncGenerator<Iterable<WatchEvent<T>>> {
    checkCallOptions('watch', options);
    const type = await this.#discovery.resourceType(reference, options.signal);
    const { namespace, signal, timeoutMs = Infinity, metadataOnly = false } = options;
    const request = requestFor(
      type,
      { verb: 'watch', namespace },
      { query: watchQuery(options), signal },
    );
    const accept = metadataOnly ? metadataOf('PartialObjectMetadata') : undefined;
    const { body, events } = await this.#exchange.stream(
      { method: 'GET', accept, repeatable: true, ...request },
      { maxMs: timeoutMs + watchGraceMs },
    );
    const valueOf = (line: unknown): WatchEvent<T> => watchEvent(line, type, request.call);
    const { omitManagedFields, knownParts } = options;
    const batches =
      events === undefined
        ? jsonLines(body, request.call, { valueOf, omitManagedFields, knownParts })
        : mappedBatches(events, valueOf);
    for await (const batch of batches) yield batch;
  }

  async *stream<T extends KubernetesObject>(
    reference: TypeReference<T>,
    key: ObjectKey,
    options: StreamOptions,
  ): AsyncGenerator<Uint8Array> {
    checkCallOptions('stream', options);
    const { subresource, query, signal } = options;
    const type = await this.#typeFor(reference, key, signal);
    const target = { verb: 'get', ...keyOf(key), subresource };
    const request = requestFor(type, target, { ...(query && { query }), signal });
    // As in client-go: errors come as JSON, everything else unchanged.
    const accept = 'application/json, */*';
    const complete: ApiRequest = { method: 'GET', accept, repeatable: true, ...request };
    yield* (await this.#exchange.stream(complete, { maxMs: Infinity })).body;
  }

  async postToService(
    service: ObjectKey,
    { path, query, signal, ...post }: Parameters<ConnectedClient['postToService']>[1],
  ): Promise<string> {
    const type = await this.resourceType(Service);
    const target = { verb: 'post', ...keyOf(service), subresource: `proxy${path}` };
    const request = requestFor(type, target, { query, signal });
    const sent: ApiRequest = { ...request, ...post, method: 'POST', ...json, repeatable: true };
    return (await this.#exchange.send(sent)).text;
  }

  async create<T extends KubernetesObject>(object: T, options: WriteOptions = {}): Promise<T> {
    checkCallOptions('create', options);
    checkObject('create', object);
    const { subresource } = options;
    const type = await this.#typeToWrite(object, options);
    const { namespace, name } = object.metadata;
    // The name of a new object is in its body only.
    const target = {
      verb: 'create',
      namespace,
      name: subresource === undefined ? undefined : name,
    };
    const request = requestFor(type, { subresource, ...target }, writeQuery(options));
    const call = { ...request.call, name: name ?? object.metadata.generateName };
    const body = jsonBody(object, call);
    if (type.namespaced && namespace === undefined) throw noNamespace(call);
    return this.#send({ method: 'POST', body, repeatable: false, ...json, ...request, call });
  }

  async update<T extends KubernetesObject>(object: T, options: WriteOptions = {}): Promise<T> {
    checkCallOptions('update', options);
    checkObject('update', object);
    const type = await this.#typeToWrite(object, options);
    const request = this.#objectRequest(type, object, { ...options, verb: 'update' });
    const repeatable = object.metadata.resourceVersion !== undefined;
    const body = jsonBody(object, request.call);
    return this.#send({ method: 'PUT', body, repeatable, ...json, ...request });
  }

  async patch<T extends KubernetesObject>(
    reference: TypeReference<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    checkCallOptions('patch', options);
    checkPatch(patch);
    const type = await this.#typeFor(reference, key, options.signal);
    const { subresource } = options;
    const target = { verb: 'patch', ...keyOf(key), subresource };
    const request = requestFor(type, target, writeQuery(options));
    const body = jsonBody(patch.type === 'json' ? patch.operations : patch.body, request.call);
    const contentType = patchTypes[patch.type];
    const repeatable = patch.type === 'merge' && hasResourceVersion(patch.body);
    return this.#send({ method: 'PATCH', contentType, body, repeatable, ...request });
  }

  async apply<T extends KubernetesObject>(
    object: T,
    options: ApplyOptions = {},
  ): Promise<Applied<T>> {
    checkCallOptions('apply', options);
    checkObject('apply', object);
    const type = await this.#typeToWrite(object, options);
    const request = this.#objectRequest(type, object, { ...options, verb: 'apply' });
    if ((options.fieldManager ?? '') === '') {
      const message = `${describeCall(request.call)}: fieldManager is missing, apply needs one`;
      throw new OperatorError(
        'InvalidOption',
        `${message}; give { fieldManager } after the object`,
      );
    }
    // The content type says YAML, but JSON is YAML, except for some characters.
    const contentType = 'application/apply-patch+yaml';
    const body = jsonBody(object, request.call).replaceAll(unlikeYaml, unicodeEscape);
    const complete: ApiRequest = {
      method: 'PATCH',
      contentType,
      body,
      repeatable: true,
      ...request,
    };
    const answer = await this.#exchange.send(complete);
    return { object: parseJson(answer, request.call) as T, created: answer.status === 201 };
  }

  async delete<T extends KubernetesObject>(
    reference: TypeReference<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    checkCallOptions('delete', options);
    const type = await this.#typeFor(reference, key, options.signal);
    const target = { verb: 'delete', ...keyOf(key) };
    const { signal, fences } = options;
    const request = requestFor(type, target, { query: dryRunQuery(options), signal, fences });
    const body = JSON.stringify(deleteBody(options));
    const sent: ApiRequest = { method: 'DELETE', body, repeatable: false, ...json, ...request };
    return remainingObject<T>(await this.#send(sent), request.call);
  }

  async deleteCollection<T extends KubernetesObject>(
    reference: TypeReference<T>,
    options: DeleteCollectionOptions = {},
  ): Promise<void> {
    checkCallOptions('deleteCollection', options);
    const type = await this.#discovery.resourceType(reference, options.signal);
    const { namespace, labelSelector, fieldSelector, signal, fences } = options;
    const target = { verb: 'deletecollection', namespace };
    const query = {
      labelSelector: labelQuery(labelSelector),
      fieldSelector,
      ...dryRunQuery(options),
    };
    const request = requestFor(type, target, { query, signal, fences });
    const body = JSON.stringify(deleteBody(options));
    await this.#send({ method: 'DELETE', body, repeatable: false, ...json, ...request });
  }

  async #send<T>(request: ApiRequest): Promise<T> {
    // The caller asserts the type: the response is not checked against it, and nothing is converted or dropped.
    return parseJson(await this.#exchange.send(request), request.call) as T;
  }

  #typeToWrite<T extends KubernetesObject>(
    object: T,
    options: WriteOptions,
  ): Promise<ResourceType<KubernetesObject>> {
    return this.#typeFor(subresourceParent(object, options), object.metadata, options.signal);
  }

  /**
   * Returns the resource type of one object. If the object lacks the namespace that the type requires, discovery is
   * queried again: the CRD may have been replaced by a cluster-scoped one.
   */
  async #typeFor<T extends KubernetesObject>(
    reference: TypeReference<T>,
    key: { readonly namespace?: string | undefined } | null | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ResourceType<T>> {
    const type = await this.#discovery.resourceType(reference, signal);
    const isWhole = !type.namespaced || key?.namespace !== undefined;
    return isWhole ? type : this.#discovery.resourceTypeAgain(reference, signal);
  }

  #objectRequest(
    type: ResourceType<KubernetesObject>,
    { metadata: { namespace, name = '' } }: KubernetesObject,
    { verb, ...options }: ApplyOptions & { readonly verb: string },
  ): PlainRequest {
    const target = { verb, namespace, name, subresource: options.subresource };
    return requestFor(type, target, writeQuery(options));
  }
}

const json = { contentType: 'application/json' };

/** @throws OperatorError `InvalidOption`: the options name an index; servers have no indexes. */
function refuseIndex(
  verb: 'list' | 'pages',
  reference: { readonly kind: string },
  { index }: ListOptions,
): void {
  if (index === undefined) return;
  const problem = `index ${Object.keys(index).join(', ')}: this client has no cache, thus no indexes`;
  const remedy = 'use the client of a manager or reconcile, or cachedClient';
  throw new OperatorError('InvalidOption', `${verb} ${reference.kind}: ${problem}; ${remedy}`);
}

// The compiler requires an object; plain JavaScript and casts may pass null or undefined.
function keyOf(key: ObjectKey | null | undefined): ObjectKey {
  const { namespace, name } = key ?? {};
  return { namespace, name: name as string };
}

/** @throws OperatorError `InvalidObject`: no server would accept the body as an object. */
function checkObject(verb: string, object: Partial<KubernetesObject> | null | undefined): void {
  const { apiVersion, kind, metadata } = object ?? {};
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    const want = 'want an object with apiVersion and kind';
    throw new OperatorError('InvalidObject', `${verb}: ${want}, got ${typeName(object)}`);
  }
  if (typeof metadata === 'object' && (metadata as object | null) !== null) return;
  const problem = `metadata: want an object, got ${typeName(metadata)}`;
  throw new OperatorError('InvalidObject', `${verb} ${kind}: ${problem}`);
}

async function* mappedBatches<T>(
  batches: AsyncIterable<readonly unknown[]>,
  valueOf: (value: unknown) => T,
): AsyncGenerator<Iterable<T>> {
  for await (const batch of batches) {
    // Convert lazily: if `valueOf` throws for an event, the caller still receives the events before it.
    yield (function* () {
      for (const value of batch) yield valueOf(value);
    })();
  }
}

/** @throws OperatorError `InvalidPatch`: the patch is missing, or its type is unknown. */
function checkPatch(patch: Patch | null | undefined): void {
  const type = patch?.type ?? 'none';
  if (type in patchTypes) return;
  const known = Object.keys(patchTypes).join(', ');
  throw new OperatorError('InvalidPatch', `patch: type: want one of ${known}, got ${type}`);
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value;
}

function hasResourceVersion(body: object): boolean {
  const { metadata } = body as { metadata?: { resourceVersion?: unknown } };
  return typeof metadata?.resourceVersion === 'string';
}

function noNamespace(call: PlainRequest['call']): OperatorError {
  const message = `${describeCall(call)}: metadata.namespace is missing; set it, because the kind is namespaced`;
  return new OperatorError('InvalidObject', message);
}

/** Characters that JSON contains as they are, but that YAML does not allow, or takes for line breaks. */
const unlikeYaml = /[\u007f-\u009f\u2028\u2029\ufffe\uffff]/g;
