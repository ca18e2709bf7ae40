import { checkCallOptions, isPathSegment } from '../client/index.js';
import type { CacheLooks, GetOptions, ListOptions } from '../client/index.js';
import {
  ApiError,
  isPlainField,
  matchesFields,
  parseFieldSelector,
  matchesLabels,
  labelRequirementsOf,
  keyOf,
  keyString,
  controllerOf,
  ownerUidLabel,
  apiVersionOf,
  groupOf,
} from '../object/index.js';
import type {
  FieldTerm,
  KubernetesObject,
  LabelRequirement,
  ObjectKey,
  ObjectList,
  TypeReference,
} from '../object/index.js';
import type { Clock } from '../system/index.js';
import { OperatorError } from '../system/index.js';
import type { Cache } from './cache.js';
import { controllerUidIndex, indexValues, keptOwnerUidIndex, unknownIndex } from './indexer.js';
import { quarantinedError } from './quarantine.js';
import type { SharedInformer } from './shared-informer.js';

export interface CachedReads {
  readonly cache: Cache;
  readonly clock: Clock;
  /** Time that a read waits for a lagging watch before it reads from the server, in milliseconds. */
  readonly staleWaitMs: number;
}

/**
 * Answers a get from the cache.
 * @returns undefined if only the server can answer
 * @throws ApiError 404: the object does not exist
 * @throws OperatorError `InvalidOption`: an option is unknown
 * @throws OperatorError `Quarantined`: the cache can't store the object
 */
export async function getCached<T extends KubernetesObject>(
  reads: CachedReads,
  { type, key }: { readonly type: TypeReference<T>; readonly key: ObjectKey },
  options: GetOptions,
): Promise<T | undefined> {
  checkCallOptions('get', options);
  if (options.subresource !== undefined || !isAnyVersion(options.resourceVersion)) return undefined;
  const informer = informerFor(reads.cache, type, options);
  if (informer?.covers(key.namespace) !== true || !isPathSegment(key.name)) return undefined;
  const name = informer.keyFor(key);
  const isSettled = (): boolean => informer.overlay.look(name).type !== 'unsettled';
  if (!isSettled() && !(await waitUntil(informer, isSettled, { ...reads, ...options }))) {
    informer.overlay.settle(name);
    return undefined;
  }
  const look = informer.overlay.look(name);
  if (look.type === 'object') return asWanted(look.object, options);
  if (look.type === 'quarantined') throw quarantinedError('get', look.object);
  // The object may exist without matching the selectors of the cache. A key without a namespace is left to the client:
  // a view needs no namespace, and for other namespaced kinds the client refuses the key.
  if (informer.filtered || lacksNamespace(informer, key)) return undefined;
  throw notFound(type, key);
}

/**
 * Answers a list from the cache, in the order of the server's lists: by namespace and name.
 * @returns undefined if only the server can answer
 * @throws OperatorError `InvalidOption`: an option is unknown, or an index was not declared
 * @throws OperatorError `Quarantined`: the cache can't store an object that the list would include
 */
export async function listCached<T extends KubernetesObject>(
  reads: CachedReads,
  type: TypeReference<T>,
  options: ListOptions,
): Promise<ObjectList<T> | undefined> {
  const selection = selectionFrom(reads.cache, type, options);
  if (selection === undefined) return undefined;
  const { informer, namespace, selected, mayBeSelected } = selection;
  let items = selected();
  if (items === undefined) {
    const isSettled = (): boolean => selected() !== undefined;
    if (!(await waitUntil(informer, isSettled, { ...reads, ...options }))) {
      informer.overlay.settleIn(namespace);
      return undefined;
    }
    items = selected();
  }
  if (items === undefined) return undefined;
  // Index values of a quarantined object are unknown, so only the other criteria count.
  refuseQuarantined(informer, mayBeSelected);
  return {
    apiVersion: apiVersionOf(type),
    kind: `${type.kind}List`,
    metadata: { resourceVersion: informer.progress(namespace) },
    items: sorted(items).map((object) => asWanted(object, options)),
  };
}

/**
 * Returns synchronous reads from `cache`: null for an object that does not exist, undefined if the cache
 * can't answer.
 */
export function looksInto(cache: Cache): CacheLooks {
  return {
    get: (type, key) => {
      const informer = informerFor(cache, type, {});
      if (informer?.covers(key.namespace) !== true || !isPathSegment(key.name)) return undefined;
      const look = informer.overlay.look(informer.keyFor(key));
      if (look.type === 'object') return look.object;
      const isKnown = look.type === 'absent' && !informer.filtered;
      return isKnown && !lacksNamespace(informer, key) ? null : undefined;
    },
    list: (type, options) => {
      const selection = selectionFrom(cache, type, options);
      const items = selection?.selected();
      if (items === undefined || selection?.informer.quarantine.size !== 0) return undefined;
      return sorted(items);
    },
  };
}

/** The part of a cache that a list selects. */
interface Selection<T extends KubernetesObject> {
  readonly informer: SharedInformer<T>;
  readonly namespace: string | undefined;
  readonly mayBeSelected: (object: KubernetesObject) => boolean;
  /** Returns the objects in no order, or undefined if the reader must wait. */
  readonly selected: () => readonly T[] | undefined;
}

/** Returns the part of the cache that answers a list; undefined if only the server can answer. */
function selectionFrom<T extends KubernetesObject>(
  cache: Cache,
  type: TypeReference<T>,
  options: ListOptions,
): Selection<T> | undefined {
  // With a misspelt option, such as `labelselector`, the list would contain every object.
  checkCallOptions('list', options);
  const isIndexed = indexTest(cache, type, options);
  if (!isAnyVersion(options.resourceVersion)) return undefined;
  // Indexers need whole objects: an informer of the metadata alone does not suffice.
  const informer = informerFor(cache, type, options.index === undefined ? options : {});
  if (informer?.covers(options.namespace) !== true) return undefined;
  // Leave an invalid namespace to the client, which refuses it.
  const isGiven = informer.namespaced && options.namespace !== undefined;
  if (isGiven && !isPathSegment(options.namespace)) return undefined;
  const namespace = informer.namespaceFor(options.namespace);
  const fields = parseFieldSelector(options.fieldSelector ?? '');
  if (!fields.every(({ field }) => hasField(informer, field))) return undefined;
  // A selector that is null is refused, as the client does: it would select every object.
  const { labelSelector = '' } = options;
  const labels = labelRequirementsOf(labelSelector);
  const mayBeSelected = selectionOf({ ...options, namespace }, { labels, fields });
  const isSelected = (object: T): boolean => mayBeSelected(object) && isIndexed(object);
  const isWritten = (object: T): boolean => isSelected(object) && informer.selects(object);
  const selected = (): readonly T[] | undefined => {
    const found = candidates(informer, options, labels).filter(isSelected);
    return informer.overlay.over(found, namespace, isWritten);
  };
  return { informer, namespace, mayBeSelected, selected };
}

/** A list request to the server, which does not have the cache's indexes. */
export interface UnindexedList<T extends KubernetesObject> {
  readonly options: ListOptions;
  /** Keeps the objects of a page that match the requested index values. */
  readonly select: (page: ObjectList<T>) => ObjectList<T>;
}

/** @throws OperatorError `InvalidOption`: an index was not declared */
export function unindexed<T extends KubernetesObject>(
  cache: Cache,
  type: TypeReference<T>,
  options: ListOptions,
): UnindexedList<T> {
  const { index, metadataOnly, ...others } = options;
  if (index === undefined) return { options, select: (page) => page };
  const isIndexed = indexTest(cache, type, options);
  const select = (page: ObjectList<T>): ObjectList<T> => {
    const items = page.items.filter(isIndexed).map((object) => asWanted(object, { metadataOnly }));
    return { ...page, items };
  };
  return { options: others, select };
}

/** Returns a function that tests whether an object matches all requested index values. */
function indexTest<T extends KubernetesObject>(
  cache: Cache,
  type: TypeReference<T>,
  { index }: ListOptions,
): (object: T) => boolean {
  if (index === undefined) return () => true;
  const indexers = cache.indexersOf(type);
  const tests = Object.entries(index).map(([name, value]) => {
    const indexer = Object.hasOwn(indexers, name) ? indexers[name] : undefined;
    if (indexer === undefined) throw unknownIndex(`list ${type.kind}`, name, Object.keys(indexers));
    if (typeof value !== 'string') {
      const problem = `index ${name}: want a string, got ${String(value)}`;
      throw new OperatorError('InvalidOption', `list ${type.kind}: ${problem}`);
    }
    return (object: T) => indexValues(name, indexer, object).includes(value);
  });
  return (object) => tests.every((test) => test(object));
}

/** Returns true if any version will do: `resourceVersion` is absent, empty or `0`. */
function isAnyVersion(resourceVersion: string | undefined): boolean {
  return resourceVersion === undefined || resourceVersion === '0' || resourceVersion === '';
}

function informerFor<T extends KubernetesObject>(
  cache: Cache,
  type: TypeReference<T>,
  { metadataOnly = false }: Pick<GetOptions, 'metadataOnly'>,
): SharedInformer<T> | undefined {
  const full = cache.peek(type);
  // An informer of whole objects serves a metadata-only read as well.
  return metadataOnly ? (cache.peek(type, true) ?? full) : full;
}

function asWanted<T extends KubernetesObject>(
  object: T,
  { metadataOnly = false }: Pick<GetOptions, 'metadataOnly'>,
): T {
  if (!metadataOnly) return object;
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, metadata } as T;
}

async function waitUntil<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  condition: () => boolean,
  { clock, staleWaitMs, signal }: Omit<CachedReads, 'cache'> & { signal?: AbortSignal | undefined },
): Promise<boolean> {
  if (condition()) return true;
  return informer.changes.until(condition, { signal, timeout: { clock, ms: staleWaitMs } });
}

/** Returns a part of the store, found by an index, that contains the whole selection. */
function candidates<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  options: ListOptions,
  labels: readonly LabelRequirement[],
): T[] {
  const entry = indexOfSelection(options, labels);
  const found =
    entry === undefined ? informer.list(options.namespace) : informer.store.byIndex(...entry);
  const { quarantine } = informer;
  if (quarantine.size === 0) return found;
  // The stored states of quarantined objects are out of date.
  return found.filter((object) => !quarantine.has(keyString(keyOf(object))));
}

/**
 * Returns the name of an index and a value under which the index has every selected object: the controller, else the
 * owner label, else the first of `options.index`. Returns undefined if none of them is given.
 */
function indexOfSelection(
  { controllerUid, index = {} }: ListOptions,
  labels: readonly LabelRequirement[],
): [string, string] | undefined {
  if (controllerUid !== undefined) return [controllerUidIndex, controllerUid];
  const owner = labels.find(({ key, operator }) => key === ownerUidLabel && operator === 'In');
  const [uid, ...others] = owner?.values ?? [];
  const isOne = uid !== undefined && others.length === 0;
  return isOne ? [keptOwnerUidIndex, uid] : Object.entries(index)[0];
}

/**
 * Throws if a quarantined object belongs to the list. A list that omitted it would lead callers to create it
 * again or to proceed without it.
 */
function refuseQuarantined<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  isSelected: (object: T) => boolean,
): void {
  for (const [key, standIn] of informer.quarantine.entries()) {
    if (!isSelected(standIn)) continue;
    const look = informer.overlay.look(key);
    if (look.type === 'quarantined') throw quarantinedError('list', look.object);
  }
}

function selectionOf(
  { namespace, controllerUid }: ListOptions,
  {
    labels,
    fields,
  }: { readonly labels: readonly LabelRequirement[]; readonly fields: readonly FieldTerm[] },
): (object: KubernetesObject) => boolean {
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (controllerUid === undefined || controllerOf(object)?.uid === controllerUid) &&
    matchesLabels(labels, object.metadata.labels) &&
    matchesFields(fields, object);
}

/** Returns true if the cached objects have the value that the server compares for this field. */
function hasField<T extends KubernetesObject>(
  { scope: { type, metadataOnly, transform } }: SharedInformer<T>,
  field: string,
): boolean {
  const isWhole = !metadataOnly && transform === undefined;
  return isPlainField(type, field) && (isWhole || field.startsWith('metadata.'));
}

function sorted<T extends KubernetesObject>(objects: readonly T[]): readonly T[] {
  if (objects.length < 2) return objects;
  const keyed = objects.map((object) => ({ key: keyString(keyOf(object)), object }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : 1));
  return keyed.map(({ object }) => object);
}

function lacksNamespace(
  { namespaced }: Pick<SharedInformer, 'namespaced'>,
  { namespace }: ObjectKey,
): boolean {
  return namespaced && !isPathSegment(namespace);
}

/** Builds the error that the API server would return. */
function notFound(type: TypeReference<KubernetesObject>, key: ObjectKey): ApiError {
  const { name, namespace } = key;
  const group = groupOf(apiVersionOf(type));
  const plural = 'plural' in type ? type.plural : type.kind;
  const resource = group === '' ? plural : `${plural}.${group}`;
  const body = {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message: `${resource} "${name}" not found`,
    reason: 'NotFound',
    details: { name, group, kind: plural },
    code: 404,
  };
  return new ApiError(body, { verb: 'get', kind: type.kind, namespace, name, status: 404 });
}
