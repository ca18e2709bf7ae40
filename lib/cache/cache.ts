import type { KubernetesObject, TypeReference } from '../object/index.js';
import { apiVersionOf, isJsonObject } from '../object/index.js';
import { refuseUnknownOptions, OperatorError } from '../system/index.js';
import { newCacheMetrics } from './cache-metrics.js';
import { resolveCacheOptions } from './cache-options.js';
import type { CacheOptions, CachedType, ResolvedCacheOptions } from './cache-options.js';
import { ChangeNotifier } from './change-notifier.js';
import type {
  HandlerRegistration,
  Informer,
  InformerStatus,
  WaitForSyncOptions,
  InformerScope,
} from './informer.js';
import { StringPool } from './intake.js';
import { KnownParts } from './known-parts.js';
import { builtInIndexers } from './indexer.js';
import type { Indexer } from './indexer.js';
import { describeMissing } from './missing.js';
import { quarantinedError } from './quarantine.js';
import { SharedInformer } from './shared-informer.js';
import type { InformerParts } from './shared-informer.js';

/** Options of {@link Cache.informer}. */
export interface InformerOptions {
  /** Caches only `metadata`, which saves traffic and memory. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /** Keeps `metadata.managedFields`, for all users of the kind. @defaultValue false */
  readonly keepManagedFields?: boolean | undefined;
}

/** A shared informer and its number of users. */
interface Shared {
  readonly informer: SharedInformer;
  users: number;
}

/**
 * Mirrors objects of an API server. Each requested kind is listed once and then followed by a watch. All
 * users of the kind share that watch; it stops when the last of them releases its informer.
 *
 * ## Guarantees
 * - Every handler receives every change in the server's order. If a watch was interrupted for too long to resume, the
 *   handler receives the last state of each object, and a deletion for each object that vanished.
 * - An unchanged object (same UID and resourceVersion) causes no event. An object whose UID changed causes a
 *   deletion and an addition.
 * - No failure stops the cache. {@link Cache.status}, the log and the metrics show problems.
 * - An object that can't be stored is quarantined alone. It nests too deeply, or a transform or an index
 *   throws for it. Reads of this object fail until a later version is valid. Handlers receive no deletion.
 *
 * ## Caveats
 * - The cache lags slightly behind the server. `cachedClient` hides that for writes made through it.
 * - Objects are shared and frozen.
 */
export class Cache {
  readonly #options: ResolvedCacheOptions;
  readonly #parts: Omit<InformerParts, 'kindLabel'>;
  /** For each kind, the apiVersion whose label in metrics is only the name of the kind: the first that was cached. */
  readonly #labelled = new Map<string, string>();
  readonly #shared = new Map<string, Shared>();
  readonly #changes = new ChangeNotifier();
  readonly #stopping = new Set<Promise<void>>();
  #phase: 'new' | 'running' | 'stopped' = 'new';

  /**
   * @throws OperatorError `InvalidOption`: a list of namespaces is empty.
   * @throws OperatorError `InvalidSelector`: a selector is invalid.
   */
  constructor(options: CacheOptions) {
    this.#options = resolveCacheOptions(options);
    const metrics = newCacheMetrics(this.#options.metrics);
    this.#parts = {
      ...this.#options,
      metrics,
      strings: new StringPool(),
      knownParts: new KnownParts(),
    };
  }

  /** Starts all informers. Informers requested later start at once. */
  start(): void {
    if (this.#phase !== 'new') return;
    this.#phase = 'running';
    for (const { informer } of this.#shared.values()) informer.start();
  }

  /** Ends every watch and discards all objects. The cache can't be started again. */
  async stop(): Promise<void> {
    this.#phase = 'stopped';
    for (const { informer } of this.#shared.values()) this.#end(informer);
    this.#shared.clear();
    this.#changes.notify();
    await Promise.all(this.#stopping);
  }

  /**
   * Returns an informer of a kind. The informer counts as a user of the kind until it is released.
   * @throws OperatorError `Stopped`: the cache was stopped.
   */
  informer<T extends KubernetesObject>(
    type: TypeReference<T>,
    options: InformerOptions = {},
  ): Informer<T> {
    const { metadataOnly = false, keepManagedFields = false } = options;
    const names = { metadataOnly, keepManagedFields };
    refuseUnknownOptions<InformerOptions>('cache.informer', options, names);
    if (this.#phase === 'stopped') {
      throw new OperatorError('Stopped', `informer of ${type.kind}: the cache was stopped`);
    }
    const name = nameOf(type, metadataOnly);
    const shared = this.#shared.get(name) ?? this.#open(name, { type, metadataOnly });
    shared.users++;
    if (keepManagedFields) shared.informer.keepManagedFields();
    // The name contains apiVersion and kind, so the objects are of type T.
    const informer = shared.informer as unknown as SharedInformer<T>;
    return lease(informer, () => this.#giveBack(name, shared));
  }

  /**
   * Declares an index, before or after the start, and caches the kind from then on. A cached client finds
   * objects by it, including its own recent writes: `client.list(type, { index: { [name]: value } })`.
   * Declaring the same index again is allowed.
   * @throws OperatorError `InvalidOption`: the kind has a different index of that name.
   * @throws OperatorError `Stopped`: the cache was stopped.
   */
  index<T extends KubernetesObject>(
    type: TypeReference<T>,
    name: string,
    indexer: Indexer<T>,
  ): void {
    // This informer is not released, so that the kind stays in the cache.
    const informer = this.informer(type);
    try {
      informer.addIndexer(name, indexer);
    } catch (error) {
      informer.release();
      throw error;
    }
  }

  /**
   * Returns the indexers of a kind by name, even if the kind has no informer. For wrappers such as
   * `cachedClient`.
   * @internal
   */
  indexersOf<T extends KubernetesObject>(
    type: TypeReference<T>,
  ): Readonly<Record<string, Indexer<T>>> {
    const declared = this.peek(type)?.store.indexers;
    return declared ?? { ...builtInIndexers, ...this.#scopeOf(type, false).indexers };
  }

  /**
   * Returns the shared informer of a kind, or undefined if it has no users. The result does not count as a
   * user. For wrappers such as `cachedClient`.
   * @internal
   */
  peek<T extends KubernetesObject>(
    type: TypeReference<T>,
    metadataOnly = false,
  ): SharedInformer<T> | undefined {
    // The client refuses an undefined type, for example from a circular import.
    if (!isJsonObject(type)) return undefined;
    const shared = this.#shared.get(nameOf(type, metadataOnly));
    return shared?.informer as unknown as SharedInformer<T> | undefined;
  }

  /**
   * Waits until the initial list of each kind in use is in the cache.
   * @throws OperatorError `Stopped`: the cache was stopped meanwhile.
   * @throws OperatorError `Aborted`: `signal` was aborted. The message names each unsynced kind and the
   *   reason; `cause` is the signal's reason.
   */
  async waitForSync(signal?: AbortSignal, options: WaitForSyncOptions = {}): Promise<void> {
    refuseUnknownOptions<WaitForSyncOptions>('cache.waitForSync', options, { parked: true });
    const missing = (): readonly InformerStatus[] =>
      this.status().filter((status) => isMissing(status, options));
    const isOver = (): boolean => this.#phase === 'stopped' || missing().length === 0;
    try {
      await this.#changes.until(isOver, { signal });
    } catch (cause) {
      const why = missing().map(reasonFor).join('; ');
      throw new OperatorError('Aborted', `the cache is not synced: ${why}`, { cause });
    }
    if (this.#phase === 'stopped') throw stoppedError();
  }

  /** Returns the status of each kind in use. */
  status(): readonly InformerStatus[] {
    return [...this.#shared.values()].map(({ informer }) => informer.status());
  }

  #open(
    name: string,
    { type, metadataOnly }: { type: TypeReference<KubernetesObject>; metadataOnly: boolean },
  ): Shared {
    const parts = { ...this.#parts, kindLabel: this.#kindLabelOf(type) };
    const informer = new SharedInformer(this.#scopeOf(type, metadataOnly), parts);
    informer.changes.listen(() => this.#changes.notify());
    const shared = { informer, users: 0 };
    this.#shared.set(name, shared);
    if (this.#phase === 'running') informer.start();
    return shared;
  }

  /**
   * Returns the label of a kind in metrics: its name, with the apiVersion if another kind of that name was cached
   * before.
   */
  #kindLabelOf(type: TypeReference<KubernetesObject>): string {
    const { kind } = type;
    const apiVersion = apiVersionOf(type);
    const first = this.#labelled.get(kind) ?? apiVersion;
    this.#labelled.set(kind, first);
    return first === apiVersion ? kind : `${kind} (${apiVersion})`;
  }

  #scopeOf(
    type: TypeReference<KubernetesObject>,
    metadataOnly: boolean,
  ): InformerScope<KubernetesObject> {
    const name = nameOf(type, false);
    const own = this.#options.types.find((other) => nameOf(other.type, false) === name);
    const {
      labelSelector,
      fieldSelector,
      transform,
      indexers = {},
    }: Partial<CachedType> = own ?? {};
    const { keepManagedFields = false } = own ?? {};
    const { allNamespacesOf, namespaces: usual } = this.#options;
    // The informer resolves the scope of a kind given as apiVersion and kind.
    const isClusterScoped = 'namespaced' in type && !type.namespaced;
    const limited = own?.namespaces ?? (allNamespacesOf(type) ? undefined : usual);
    const namespaces = isClusterScoped ? undefined : limited;
    const selectors = { namespaces, labelSelector, fieldSelector };
    return { type, metadataOnly, ...selectors, transform, indexers, keepManagedFields };
  }

  #giveBack(name: string, shared: Shared): void {
    shared.users--;
    if (shared.users > 0 || this.#shared.get(name) !== shared) return;
    this.#shared.delete(name);
    this.#end(shared.informer);
    // A `waitForSync` call may be waiting for this kind, which no longer counts.
    this.#changes.notify();
  }

  #end(informer: SharedInformer): void {
    const stopped = informer.stop().finally(() => this.#stopping.delete(stopped));
    this.#stopping.add(stopped);
  }
}

function nameOf(type: TypeReference<KubernetesObject>, metadataOnly: boolean): string {
  return `${apiVersionOf(type)} ${type.kind}${metadataOnly ? ' metadata' : ''}`;
}

function stoppedError(): OperatorError {
  return new OperatorError('Stopped', 'the cache was stopped');
}

function isMissing({ synced, parked }: InformerStatus, options: WaitForSyncOptions): boolean {
  return !synced && !(parked && options.parked === 'pass');
}

/** Explains why a kind is not synced: what is missing, and the server's error. */
function reasonFor({ kind, apiVersion, problem, missing }: InformerStatus): string {
  const said = problem instanceof Error ? problem.message : 'still listing';
  const reason = missing === undefined ? said : `${describeMissing(missing)} (${said})`;
  return `${kind} (${apiVersion}): ${reason}`;
}

function lease<T extends KubernetesObject>(
  shared: SharedInformer<T>,
  giveBack: () => void,
): Informer<T> {
  const handlers = new Set<HandlerRegistration>();
  let released = false;
  return {
    type: shared.scope.type,
    get synced() {
      return shared.synced;
    },
    waitForSync: async (signal, options = {}) => {
      const isOver = (): boolean =>
        released || shared.stopped || !isMissing(shared.status(), options);
      await shared.changes.until(isOver, { signal });
      if (shared.stopped && !released) throw stoppedError();
    },
    get: (key) => {
      const bad = shared.quarantine.get(shared.keyFor(key));
      if (bad !== undefined) throw quarantinedError('get', bad);
      return shared.get(key);
    },
    list: (namespace) => shared.list(namespace),
    byIndex: (name, value) => shared.store.byIndex(name, value),
    addIndexer: (name, indexer) => shared.store.addIndexer(name, indexer),
    addHandler: (handler) => {
      const added = shared.addHandler(handler);
      handlers.add(added);
      return added;
    },
    status: () => shared.status(),
    release: () => {
      if (released) return;
      released = true;
      for (const handler of handlers) handler.remove();
      shared.changes.notify();
      giveBack();
    },
  };
}
