import { Pod, ServiceAccount, formatLabelSelector } from '../object/index.js';
import type {
  KubernetesObject,
  LabelSelector,
  ResourceType,
  TypeReference,
} from '../object/index.js';
import { refuseUnknownOptions, OperatorError } from '../system/index.js';
import type { OptionNames, TransportRequest } from '../system/index.js';
import type {
  ApplyOptions,
  CallOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  Fence,
  GetOptions,
  ListOptions,
  StreamOptions,
  WatchOptions,
  WriteOptions,
} from './client.js';

/** The verb and the object of a call, for error messages. */
export interface Call {
  /** `get`, `list`, `create`, `apply`, … */
  readonly verb: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** A {@link Call} as an HTTP request, before credentials. */
export interface ApiRequest {
  readonly call: Call;
  readonly method: TransportRequest['method'];
  /** The path with its query. */
  readonly path: string;
  /** The `Accept` header. Absent: plain JSON. */
  readonly accept?: string | undefined;
  readonly contentType?: string | undefined;
  readonly body?: string | undefined;
  /** Other headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Name of a header that repeats the credentials, for a server behind a proxy that removes them. */
  readonly credentialsHeader?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Every fence must allow each attempt, right before it is sent. */
  readonly fences?: readonly Fence[] | undefined;
  /**
   * The request can be sent again even if the first attempt may have arrived: reads, and writes that carry a
   * resource version or are idempotent.
   */
  readonly repeatable: boolean;
}

/** Formats a call, for example `get ConfigMap default/web`. */
export function describeCall({ verb, kind, namespace = '', name = '' }: Call): string {
  const key = namespace !== '' && name !== '' ? `${namespace}/${name}` : namespace + name;
  return key === '' ? `${verb} ${kind}` : `${verb} ${kind} ${key}`;
}

/**
 * The parts of an {@link ApiRequest} that all verbs share. Spread them at the end of an object literal
 * (`{ method, ...request }`): V8 creates a hidden class for each object that begins with a spread, and reads it slowly.
 */
export type PlainRequest = Pick<ApiRequest, 'call' | 'path' | 'signal' | 'fences'>;

interface Asked extends Pick<PlainRequest, 'signal' | 'fences'> {
  readonly query?: Query;
}

/** Returns a request for `target`, without its method and body. */
export function requestFor(
  type: ResourceType<KubernetesObject>,
  target: ResourceTarget,
  { query, signal, fences }: Asked,
): PlainRequest {
  const { verb, namespace, name, subresource } = target;
  const kind = subresource === undefined ? type.kind : `${type.kind}/${subresource}`;
  const call = { verb, kind, namespace, name };
  return { call, path: resourcePath(type, target, query), signal, fences };
}

/**
 * Returns the `Accept` header that requests only the metadata of objects. `kind` is `PartialObjectMetadata`, or its
 * list.
 */
export function metadataOf(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

/** Returns the query, signal and fences of a write. */
export function writeQuery(options: ApplyOptions): Asked {
  const { fieldManager, fieldValidation, dryRun = false, force, signal, fences } = options;
  const query = { fieldManager, fieldValidation, force, dryRun: dryRun ? 'All' : undefined };
  return { query, signal, fences };
}

/**
 * Returns a selector as a parameter of a query.
 * @throws OperatorError `InvalidSelector`: a selector object is invalid. The server checks a selector that is a string.
 */
export function labelQuery(selector: string | LabelSelector | undefined): string | undefined {
  return selector === undefined ? undefined : formatLabelSelector(selector);
}

export function watchQuery(options: WatchOptions): Query {
  const { fieldSelector, resourceVersion, allowWatchBookmarks = true } = options;
  const { sendInitialEvents, timeoutMs } = options;
  // The server requires `resourceVersionMatch` with `sendInitialEvents` (KEP-3157).
  const match = sendInitialEvents === undefined ? undefined : 'NotOlderThan';
  const { resourceVersionMatch = match } = options;
  return {
    watch: true,
    labelSelector: labelQuery(options.labelSelector),
    ...{ fieldSelector, resourceVersion, resourceVersionMatch },
    ...{ allowWatchBookmarks, sendInitialEvents },
    timeoutSeconds: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / 1_000),
  };
}

/** The target of a request within a kind: a collection, an object or a subresource. */
interface ResourceTarget {
  readonly verb: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

// With any other verb, a request without a name would address the whole collection, and a delete would delete
// it.
const collectionVerbs: ReadonlySet<string> = new Set([
  ...['list', 'watch', 'create', 'deletecollection'],
]);

/** Verbs that take the name from the written object; all others get a key. */
const ofObjects: ReadonlySet<string> = new Set(['create', 'update', 'apply']);

/** Parameters of a request; undefined ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Returns a path such as `/api/v1/namespaces/default/configmaps/web?limit=1`. Omits the namespace of a
 * cluster-scoped kind; an object of a namespaced kind needs a namespace.
 * @throws OperatorError `InvalidObject`: the namespace or name is missing, or cannot be part of a path.
 */
function resourcePath(
  type: ResourceType<KubernetesObject>,
  target: ResourceTarget,
  query: Query = {},
): string {
  const { name, subresource, verb } = target;
  if (typeof name !== 'string' && (subresource !== undefined || !collectionVerbs.has(verb))) {
    const remedy = ofObjects.has(verb) ? '' : '; a key is an object: { name, namespace }';
    throw invalid(type, target, `name: want a string, got ${typeof name}${remedy}`);
  }
  const root = type.group === '' ? '/api' : `/apis/${type.group}`;
  let path = `${root}/${type.version}`;
  if (type.namespaced && target.namespace !== undefined) {
    path += `/namespaces/${segment(type, target, target.namespace)}`;
  } else if (type.namespaced && name !== undefined) {
    const remedy = 'set namespace in the key, or metadata.namespace in the object';
    throw invalid(type, target, `the kind is namespaced; ${remedy}`);
  }
  path += `/${type.plural}`;
  if (name !== undefined) path += `/${segment(type, target, name)}`;
  if (subresource !== undefined) path += `/${subresource}`;
  return path + queryString(query);
}

function queryString(query: Query): string {
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

/** Returns true if a request can address an object or a namespace of this name. */
export function isPathSegment(name: string | undefined): name is string {
  if (typeof name !== 'string') return false;
  // An empty name would address the whole collection; a dot segment, another path.
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);
}

function segment(
  type: ResourceType<KubernetesObject>,
  target: ResourceTarget,
  value: string,
): string {
  if (typeof value !== 'string') {
    throw invalid(type, target, `namespace: want a string, got ${typeof value}`);
  }
  if (!isPathSegment(value)) {
    throw invalid(
      type,
      target,
      `want a name without / and % that is not empty, . or .., got ${JSON.stringify(value)}`,
    );
  }
  return encodeURIComponent(value);
}

function invalid(
  type: ResourceType<KubernetesObject>,
  { verb, namespace, name }: ResourceTarget,
  reason: string,
): OperatorError {
  const call = describeCall({ verb, kind: type.kind, namespace, name });
  return new OperatorError('InvalidObject', `${call}: ${reason}`);
}

/** Kinds that exist only as a subresource of one kind. */
const parents: Readonly<Record<string, TypeReference<KubernetesObject>>> = {
  'Eviction/eviction': Pod,
  'Binding/binding': Pod,
  'TokenRequest/token': ServiceAccount,
};

/**
 * Returns the kind whose path `object` is written to: its own kind, or the kind of the subresource's parent.
 * @throws OperatorError `InvalidOption`: a `Scale` can have many parents, so `parent` is required.
 */
export function subresourceParent(
  object: KubernetesObject,
  { subresource, parent }: WriteOptions,
): TypeReference<KubernetesObject> {
  if (parent !== undefined) return parent;
  const { kind, apiVersion } = object;
  if (subresource === undefined) return { apiVersion, kind };
  if (kind === 'Scale') {
    const problem = `write Scale ${object.metadata.name ?? ''}: parent is missing`;
    const remedy = 'give the kind that is scaled';
    throw new OperatorError('InvalidOption', `${problem}; ${remedy}`);
  }
  return parents[`${kind}/${subresource}`] ?? { apiVersion, kind };
}

// A misspelt option is dangerous: `deleteCollection` with `labelselector` would delete every object.
const call: OptionNames<CallOptions> = { signal: true };
const selection = { namespace: true, labelSelector: true, fieldSelector: true };
const get: OptionNames<GetOptions> = {
  ...{ ...call, resourceVersion: true, subresource: true, metadataOnly: true },
};
const list: OptionNames<ListOptions> = {
  ...{ ...call, ...selection, controllerUid: true, index: true, limit: true },
  ...{ resourceVersion: true, resourceVersionMatch: true, metadataOnly: true },
};
const watch: OptionNames<WatchOptions> = {
  ...{ ...call, ...selection, resourceVersion: true, resourceVersionMatch: true },
  ...{ allowWatchBookmarks: true, sendInitialEvents: true, timeoutMs: true, metadataOnly: true },
  ...{ omitManagedFields: true, knownParts: true },
};
export const writeOptionNames: OptionNames<WriteOptions> = {
  ...{ ...call, fieldManager: true, dryRun: true, fieldValidation: true },
  ...{ subresource: true, parent: true, fences: true, details: true },
};
const remove: OptionNames<DeleteOptions> = {
  ...{ ...call, dryRun: true, propagationPolicy: true, gracePeriodSeconds: true },
  ...{ preconditions: true, fences: true, details: true },
};

interface OptionsByVerb {
  readonly get: GetOptions;
  readonly list: ListOptions;
  readonly pages: ListOptions;
  readonly watch: WatchOptions;
  readonly stream: StreamOptions;
  readonly create: WriteOptions;
  readonly update: WriteOptions;
  readonly patch: WriteOptions;
  readonly apply: ApplyOptions;
  readonly delete: DeleteOptions;
  readonly deleteCollection: DeleteCollectionOptions;
}

const optionNames: { readonly [Verb in keyof OptionsByVerb]: OptionNames<OptionsByVerb[Verb]> } = {
  ...{ get, list, pages: list, watch, create: writeOptionNames },
  ...{ update: writeOptionNames, patch: writeOptionNames },
  stream: { ...call, subresource: true, query: true },
  apply: { ...writeOptionNames, force: true },
  delete: remove,
  deleteCollection: { ...remove, ...selection },
};

/** @throws OperatorError `InvalidOption`: a call of {@link Client} has an unknown option. */
export function checkCallOptions<Verb extends keyof OptionsByVerb>(
  verb: Verb,
  options: OptionsByVerb[Verb],
): void {
  refuseUnknownOptions<OptionsByVerb[Verb]>(`client.${verb}`, options, optionNames[verb]);
}
