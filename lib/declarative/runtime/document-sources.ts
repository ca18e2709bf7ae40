import { compareResourceVersions, describeMissing, isNotServed } from '../../cache/index.js';
import type { Client } from '../../client/index.js';
import type { CacheEvent, Informer } from '../../cache/index.js';
import {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  not,
  or,
  resourceVersionChanged,
} from '../../controller/index.js';
import type { Predicate, SourceContext } from '../../controller/index.js';
import {
  describeObject,
  labelRequirementsOf,
  matchesLabels,
  keyOf,
  keyStringOf,
  parseKey,
  groupOfType,
} from '../../object/index.js';
import type { KubernetesObject, TypeReference } from '../../object/index.js';
import { asError, OperatorError, whenAborted } from '../../system/index.js';
import type { Document } from '../document.js';
import { isViewGroup } from '../spec/operator-spec.js';
import type { SourceSpec, BasicPredicate, PredicateSpec } from '../spec/operator-spec.js';
import { targetText } from '../views/view-writers.js';
import type { TargetWrites, Lineage } from '../views/view-writers.js';
import { decodeSecret, isSecret } from './secret-data.js';

/**
 * Returns a source of the selected objects of a kind. The documents are the objects of the cache, not copies;
 * the data of Secrets is decoded.
 *
 * The cache follows the whole kind, once for all controllers. The source applies `namespace` and
 * `labelSelector`; an object that no longer matches leaves the pipeline, regardless of the predicate. An
 * update that the predicate filters out arrives with the next one that passes, or with the next full reconcile.
 */
export function watchedDocuments(name: string, watched: WatchedKind): DocumentSource {
  return { name, start: (context, listener) => follow(watched, context, listener) };
}

/** A kind that {@link watchedDocuments} follows. */
export interface WatchedKind {
  readonly type: TypeReference<KubernetesObject>;
  readonly spec: SourceSpec;
  readonly writes: TargetWrites;
}

function follow(
  { type, spec, writes }: WatchedKind,
  context: SourceContext,
  listener: DocumentListener,
): StartedDocuments {
  const selects = selection(spec);
  const documentOf = isSecret({ group: groupOfType(type), kind: type.kind }) ? decoded : shared;
  const matters = updateFilter(spec);
  const informer = context.cache.informer(type);
  informer.addHandler((event) => {
    const isHeard = matters(event) || (event.type === 'updated' && crosses(event, selects));
    const isOurs = selects(event.object) || (event.type === 'updated' && selects(event.old));
    if (isHeard && isOurs) listener.changed(keyStringOf(event.object), event);
  });
  const endProblems = followProblems(type, context, listener.troubled);
  const selectsNone = (): Error | undefined => namespaceProblem(spec, context.cache.peek(type));
  const selected = (object: KubernetesObject | undefined): object is KubernetesObject =>
    object !== undefined && selects(object);
  return {
    get: (key) => {
      // For an object that the cache can't store, this returns the last valid state; `informer.get` would throw.
      const object = context.cache.peek(type)?.get(parseKey(key));
      return selected(object) ? documentOf(object) : undefined;
    },
    keys: () => informer.list(spec.namespace).filter(selects).map(keyStringOf),
    get parked() {
      return informer.status().parked;
    },
    get problem() {
      return problemOf(informer) ?? selectsNone();
    },
    get unreadable() {
      return unreadableOf(context.cache.peek(type), selects);
    },
    whenSynced: async (signal) => {
      await informer.waitForSync(signal);
      if (selectsNone() === undefined) return;
      listener.troubled();
      await whenAborted(signal);
      signal.throwIfAborted();
    },
    lineageOf: (origin) => {
      // The origin of a document is always the cached object from which the document was made.
      const object = origin as KubernetesObject;
      const { resourceVersion } = object.metadata;
      return writes.lineageOf(targetText(type, keyOf(object)), resourceVersion);
    },
    ...(isViewGroup(groupOfType(type)) && {
      caughtUp: (signal) => caughtUp(type, context, signal),
    }),
    stop: () => {
      endProblems();
      informer.release();
    },
  };
}

/** Returns the name of a selected object that the cache could never store; undefined if there is no such object. */
function unreadableOf(
  informer: ReturnType<SourceContext['cache']['peek']>,
  selects: (object: KubernetesObject) => boolean,
): string | undefined {
  for (const [, standIn] of informer?.quarantine.entries() ?? []) {
    if (!selects(standIn) || informer?.get(keyOf(standIn)) !== undefined) continue;
    return describeObject(standIn);
  }
  return undefined;
}

/**
 * Returns why the namespace of a source selects no objects: their kind has no namespaces, or the manager does not
 * watch this one. Such a source never counts as synced: an empty one would remove all of its results.
 */
function namespaceProblem(
  { namespace, kind }: SourceSpec,
  informer: ReturnType<SourceContext['cache']['peek']>,
): Error | undefined {
  if (namespace === undefined || informer?.synced !== true) return undefined;
  if (!informer.namespaced) {
    const problem = `${kind} is cluster-scoped: leave out namespace ${namespace}`;
    return new OperatorError('InvalidOption', problem);
  }
  if (informer.covers(namespace)) return undefined;
  const problem = `${kind} in namespace ${namespace}: the manager is limited to other namespaces`;
  const remedy = 'add this namespace to those of the manager, or change the source';
  return new OperatorError('InvalidOption', `${problem}; ${remedy}`);
}

function selection({
  namespace,
  labelSelector = {},
}: SourceSpec): (object: KubernetesObject) => boolean {
  const requirements = labelRequirementsOf(labelSelector);
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    matchesLabels(requirements, metadata.labels);
}

function crosses(
  { old, object }: { readonly old: KubernetesObject; readonly object: KubernetesObject },
  selects: (object: KubernetesObject) => boolean,
): boolean {
  return selects(old) !== selects(object);
}

function updateFilter({ predicate: spec }: SourceSpec): (event: CacheEvent) => boolean {
  if (spec === undefined) return () => true;
  const predicate = sourcePredicate(spec);
  return (event) => event.type !== 'updated' || predicate(event);
}

/**
 * Calls `troubled` when the problem of an informer changes or ends. @returns a function that stops the calls
 */
export function followProblems(
  type: TypeReference<KubernetesObject>,
  { cache }: SourceContext,
  troubled: () => void,
): () => void {
  const informer = cache.peek(type);
  let last: unknown;
  const end = informer?.changes.listen(() => {
    const { problem } = informer.status();
    if (problem === last) return;
    last = problem;
    troubled();
  });
  return () => end?.();
}

/** Waits until the cache shows what this process has written to a view. */
async function caughtUp(
  type: TypeReference<KubernetesObject>,
  { cache, client }: SourceContext,
  signal: AbortSignal,
): Promise<void> {
  const { live = client }: Client & { readonly live?: Client } = client;
  const list = await live.list(type, { signal }).catch((error: unknown) => {
    // The view was dropped meanwhile: there is nothing to wait for.
    if (isNotServed(error)) return undefined;
    throw error;
  });
  const informer = cache.peek(type);
  if (list === undefined || informer === undefined) return;
  const { items, metadata } = list;
  const listed = new Set(items.map(keyStringOf));
  const isLater = (version: string | undefined, than: string | undefined): boolean =>
    (compareResourceVersions(version, than) ?? 1) > 0;
  // Compare versions instead of looking for the object, which may be deleted before the cache is read.
  const isAwaited = (object: KubernetesObject): boolean =>
    isLater(object.metadata.resourceVersion, informer.progress(object.metadata.namespace));
  const isGone = (object: KubernetesObject): boolean =>
    !listed.has(keyStringOf(object)) &&
    !isLater(object.metadata.resourceVersion, metadata.resourceVersion);
  const isCaughtUp = (): boolean => !items.some(isAwaited) && !informer.list().some(isGone);
  await informer.changes.until(isCaughtUp, { signal });
}

/**
 * Returns why an informer is not up to date, with the missing kind or permission; undefined if it is up to
 * date.
 */
export function problemOf(informer: Informer): Error | undefined {
  const { problem, missing } = informer.status();
  if (problem === undefined) return undefined;
  if (missing === undefined) return asError(problem);
  const code = missing.type === 'kind' ? 'UnknownKind' : 'MissingPermission';
  return new OperatorError(code, describeMissing(missing), { cause: problem });
}

function shared(object: KubernetesObject): SourceDocument {
  return { document: asDocument(object), origin: object, key: versionKey(object) };
}

function decoded(secret: KubernetesObject): SourceDocument {
  const document = decodeSecret(asDocument(secret));
  return { document, origin: secret, key: versionKey(secret) };
}

/** Objects of a cache are plain JSON, and frozen. */
function asDocument(object: KubernetesObject): Document {
  return object as unknown as Document;
}

/**
 * Returns a key that stands for a version of an object, which avoids comparing whole objects. Keys of
 * documents are JSON, which never begins with `@`.
 */
function versionKey({ metadata }: KubernetesObject): string | undefined {
  const { uid = '', resourceVersion = '' } = metadata;
  return uid === '' || resourceVersion === '' ? undefined : `@${uid}/${resourceVersion}`;
}

export interface SourceDocument {
  readonly document: Document;
  /** The object that the document was made from. Another object means that the document may have changed. */
  readonly origin: object;
  /** Stands for the document in comparisons. If absent, the whole document is compared. */
  readonly key?: string | undefined;
}

/** Callbacks of a {@link DocumentSource}. */
export interface DocumentListener {
  /** Called when the document under `key` may have changed or may be gone. */
  readonly changed: (key: string, event?: CacheEvent) => void;
  /** Called when {@link StartedDocuments.problem} has changed. */
  readonly troubled: () => void;
}

/** A source of documents for a pipeline. */
export interface DocumentSource {
  /** The name of the source in the pipeline. */
  readonly name: string;
  /** Starts to follow the source. The listener is notified of existing documents and of each change. */
  start(context: SourceContext, listener: DocumentListener): StartedDocuments;
}

/** A started {@link DocumentSource}. */
export interface StartedDocuments {
  get(key: string): SourceDocument | undefined;
  /** Returns the keys of all current documents. */
  keys(): Iterable<string>;
  /** Whether the kind of the documents is not served. */
  readonly parked: boolean;
  /** The current problem; undefined if there is no problem. */
  readonly problem: Error | undefined;
  /**
   * An object that was never readable, so that the documents derived from it are unknown. Absent if every
   * object was readable.
   */
  readonly unreadable?: string | undefined;
  /** @throws the signal's reason, as soon as it is aborted. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * Waits until everything that the server has now is loaded. Absent if the source is always up to date.
   * @throws the signal's reason, as soon as it is aborted; the server's error.
   */
  caughtUp?(signal: AbortSignal): Promise<void>;
  /**
   * Returns the writes of this process that led to a state of an object. Absent if the source does not record
   * them.
   */
  lineageOf?(origin: object): Lineage | undefined;
  stop(): void;
}

const group = 'source.dcontroller.io';

/** Returns the constant document of a source that follows no objects. */
function triggerObject({ type, kind }: SourceSpec): Document {
  const metadata = { name: type === 'OneShot' ? 'one-shot-trigger' : 'periodic-trigger' };
  return { apiVersion: `${group}/v1alpha1`, kind, metadata };
}

/** Returns the single document of a `OneShot` source, or of a `Periodic` one without other sources. */
export function triggerDocument(name: string, spec: SourceSpec): DocumentSource {
  const document = triggerObject(spec);
  const key = 'trigger';
  const started: StartedDocuments = {
    get: (asked) => (asked === key ? { document, origin: document } : undefined),
    keys: () => [key],
    parked: false,
    problem: undefined,
    whenSynced: () => Promise.resolve(),
    stop: () => undefined,
  };
  return {
    name,
    start: (_context, { changed }) => {
      changed(key);
      return started;
    },
  };
}

const basic: Readonly<Record<BasicPredicate, () => Predicate>> = {
  GenerationChanged: generationChanged,
  ResourceVersionChanged: resourceVersionChanged,
  LabelChanged: labelChanged,
  AnnotationChanged: annotationChanged,
};

/**
 * Returns the predicate for updates of an object. Additions and deletions always pass. (Under
 * controller-runtime's rules, a `not` would filter out every added object.)
 */
export function sourcePredicate(spec: PredicateSpec): Predicate {
  switch (spec.type) {
    case 'basic':
      return basic[spec.name]();
    case 'and':
      return and(...spec.predicates.map(sourcePredicate));
    case 'or':
      return or(...spec.predicates.map(sourcePredicate));
    case 'not':
      return not(sourcePredicate(spec.predicate));
  }
}
