import { copyJson, keyString, keyStringOf, apiVersionOf } from '../object/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../object/index.js';
import { LruMap } from '../system/index.js';
import type { CacheMetrics } from './cache-metrics.js';
import type { ResolvedCacheOptions } from './cache-options.js';
import { ChangeNotifier } from './change-notifier.js';
import { namespaceIndex } from './indexer.js';
import { selectedBy, EventHandlers } from './informer.js';
import type {
  InformerScope,
  CacheEvent,
  CacheEventHandler,
  HandlerRegistration,
  InformerStatus,
} from './informer.js';
import { checkedKey, newIntake } from './intake.js';
import type { Intake, StringPool } from './intake.js';
import type { KnownParts } from './known-parts.js';
import { missingOf } from './missing.js';
import { estimateTotalBytes, ObjectStore } from './store.js';
import { Quarantine } from './quarantine.js';
import type { QuarantinedObject } from './quarantine.js';
import { Reflector } from './reflector.js';
import type { ReflectorSink } from './reflector.js';
import { compareResourceVersions } from './resource-version.js';
import { WriteOverlay } from './write-overlay.js';

/** The parts of an informer. All informers of a cache share them, except `kindLabel`. */
export interface InformerParts extends Pick<
  ResolvedCacheOptions,
  'client' | 'clock' | 'random' | 'logger' | 'freeze' | 'streamingLists' | 'onQuarantined'
> {
  /** The label of the kind in metrics. */
  readonly kindLabel: string;
  readonly metrics: CacheMetrics;
  readonly strings: StringPool;
  /** Undefined if objects must not share parts. */
  readonly knownParts: KnownParts | undefined;
}

/** A separately watched part of a kind: one namespace or all of them. */
interface Partition<T extends KubernetesObject> {
  namespace: string | undefined;
  readonly reflector: Reflector<T>;
  listed: boolean;
  /** The version that the watch has reached; empty before the first list. */
  progress: string;
}

/** One kind in a cache: its store, its reflectors and its event handlers. */
export class SharedInformer<T extends KubernetesObject = KubernetesObject> {
  readonly scope: InformerScope<T>;
  readonly store: ObjectStore<T>;
  readonly overlay: WriteOverlay<T>;
  /** The objects that can't be stored; the store may hold their last valid state. */
  readonly quarantine: Quarantine<T>;
  /** Notifies of every change of the store or of a reflector's state. */
  readonly changes = new ChangeNotifier();
  /** True from the call of `stop` on. */
  stopped = false;
  readonly #intake: Intake<T>;
  readonly #parts: InformerParts;
  #partitions: readonly Partition<T>[];
  /** Pending stops of reflectors that a cluster-scoped kind does not need. */
  readonly #leaving: Promise<void>[] = [];
  /** The versions of the latest deletions by key and uid: a repeated event must not bring the object back. */
  #left = newestDeletions();
  readonly #handlers = new EventHandlers<T>((error, { metadata }) =>
    this.#failed('event handler', error, metadata),
  );
  /** Undefined until discovery has found the kind. */
  #namespaced: boolean | undefined;
  #isSelected: (object: T) => boolean;
  #keepManagedFields: boolean;
  #endCollecting: readonly (() => void)[] = [];
  /** The current value of the metric; undefined if not yet set. */
  #countedObjects: number | undefined;

  constructor(scope: InformerScope<T>, shared: InformerParts) {
    // Known parts are shared by objects, and a transform may change its argument, although it must not.
    const isRead = shared.freeze && !scope.metadataOnly && scope.transform === undefined;
    const parts = { ...shared, knownParts: isRead ? shared.knownParts : undefined };
    this.scope = scope;
    this.#parts = parts;
    this.#keepManagedFields = scope.keepManagedFields;
    this.#isSelected = selectedBy(scope);
    this.#namespaced = 'namespaced' in scope.type ? scope.type.namespaced : undefined;
    this.store = new ObjectStore<T>({
      indexers: scope.indexers,
      onIndexError: (key, object, error) => this.#indexFailed(key, object, error),
    });
    this.quarantine = new Quarantine<T>({
      type: scope.type,
      logger: parts.logger,
      onQuarantined: (object) => this.#reportQuarantined(object),
      onCount: (count) => parts.metrics.quarantined.set(count, { kind: this.#label }),
    });
    this.#intake = newIntake({
      ...scope,
      keepManagedFields: () => this.#keepManagedFields,
      freeze: parts.freeze,
      strings: parts.strings,
      knownParts: parts.knownParts,
    });
    this.overlay = new WriteOverlay<T>({
      stored: (key) => this.store.get(key),
      quarantined: (key) => this.quarantine.get(key),
      progress: (namespace) => this.#partitionOf(namespace)?.progress ?? '',
      clock: parts.clock,
      onPassed: (ms) => parts.metrics.watchLag.observe(ms / 1_000, { kind: this.#label }),
    });
    const namespaces = scope.namespaces ?? [undefined];
    this.#partitions = namespaces.map((namespace) => this.#newPartition(namespace));
  }

  /** True once the initial list of each partition is in the store. */
  get synced(): boolean {
    return this.#partitions.every((partition) => partition.listed);
  }

  /** True if selectors may exclude existing objects. */
  get filtered(): boolean {
    return this.scope.labelSelector !== undefined || this.scope.fieldSelector !== undefined;
  }

  /** Whether the kind is namespaced; known once the informer covers any namespace. */
  get namespaced(): boolean {
    return this.#namespaced !== false;
  }

  /** Returns `namespace`; undefined for all, and for a cluster-scoped kind, as in a URL of the server. */
  namespaceFor(namespace = ''): string | undefined {
    return namespace === '' || !this.namespaced ? undefined : namespace;
  }

  /** Returns the store's key of an object. */
  keyFor({ namespace, name }: ObjectKey): string {
    return keyString({ namespace: this.namespaceFor(namespace), name });
  }

  /**
   * Returns the version that the watch of `namespace` has reached; that of the first watch if no watch covers
   * `namespace`.
   */
  progress(namespace: string | undefined): string {
    return this.#partitionOf(namespace)?.progress ?? this.#partitions[0]?.progress ?? '';
  }

  /** Returns true if this informer can answer reads of `namespace` (undefined or empty for all). */
  covers(namespace: string | undefined): boolean {
    return this.#partitionOf(this.namespaceFor(namespace))?.listed ?? false;
  }

  /**
   * Returns true if writes of this process to `namespace` must overlay the store: the store is filled, or a list that
   * may lack these writes is under way.
   */
  notes(namespace: string | undefined): boolean {
    const partition = this.#partitionOf(this.namespaceFor(namespace));
    return partition !== undefined && (partition.listed || partition.reflector.isListing);
  }

  /** Returns true if the watch would show `object`. */
  selects(object: T): boolean {
    return this.#isSelected(object);
  }

  start(): void {
    this.#collect();
    for (const { reflector } of this.#partitions) reflector.start();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.changes.notify();
    await Promise.all(this.#partitions.map(({ reflector }) => reflector.stop()));
    await Promise.all(this.#leaving);
    this.#handlers.clear();
    for (const end of this.#endCollecting) end();
    const { objects, bytes, quarantined, watchSilence } = this.#parts.metrics;
    for (const gauge of [objects, bytes, quarantined, watchSilence])
      gauge.set(0, { kind: this.#label });
  }

  /** Keeps `managedFields` from now on, and lists existing objects again. */
  keepManagedFields(): void {
    if (this.#keepManagedFields) return;
    this.#keepManagedFields = true;
    for (const { reflector } of this.#partitions) reflector.relist();
  }

  /** Returns an object as the watch last showed it; for a quarantined one, its last valid state. */
  get(key: ObjectKey): T | undefined {
    return this.store.get(this.keyFor(key));
  }

  /** Records the server's answer to a write; the caller keeps ownership of `answer`. */
  written(key: string, answer: T): void {
    try {
      // Copy: the caller may modify the answer, and the cache's objects are frozen.
      const copy = copyJson(answer);
      this.overlay.written(this.#intake(copy, this.store.get(checkedKey(copy))));
    } catch {
      // The object will be quarantined when the watch shows it. Reads wait until then.
      this.overlay.touched(key, answer.metadata.resourceVersion ?? '');
    }
  }

  /** Returns the objects of one namespace or of all, in no order, as the watch last showed them. */
  list(namespace?: string): T[] {
    const within = this.namespaceFor(namespace);
    if (within === undefined) return [...this.store.values()];
    return this.store.byIndex(namespaceIndex, within);
  }

  addHandler(handler: CacheEventHandler<T>): HandlerRegistration {
    return this.#handlers.add(handler, [...this.store.values()]);
  }

  status(): InformerStatus {
    const { type, metadataOnly } = this.scope;
    const troubled = this.#partitions.find(({ reflector }) => reflector.problem !== undefined);
    const problem = troubled?.reflector.problem;
    return {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadataOnly,
      objects: this.store.size,
      synced: this.synced,
      // A malformed request is a mistake, not a kind to be installed: a sync must not skip it.
      parked: this.#partitions.some(({ reflector }) => reflector.parked === 'unknownKind'),
      problem,
      quarantined: this.quarantine.list(),
      missing: missingOf(problem, type, troubled?.namespace),
    };
  }

  /** Registers the gauges that are computed at each metrics collection. */
  #collect(): void {
    const { bytes, watchSilence, quarantined, droppedEvents, handlerErrors } = this.#parts.metrics;
    const kind = this.#label;
    // Create the series before the first problem, so that rates over them are defined.
    quarantined.set(this.quarantine.size, { kind });
    for (const counter of [droppedEvents, handlerErrors]) {
      counter.add(0, { kind: this.#parts.kindLabel });
    }
    const ends = [
      bytes.onCollect?.(() =>
        bytes.set(estimateTotalBytes(this.store.values(), this.store.size), { kind }),
      ),
      watchSilence.onCollect?.(() => watchSilence.set(this.#silenceMs() / 1_000, { kind })),
    ];
    this.#endCollecting = ends.flatMap((end) => end ?? []);
  }

  /** Returns the time since the last event of the most silent watch, in milliseconds; 0 before the first. */
  #silenceMs(): number {
    const nowMs = this.#parts.clock.monotonicMs();
    return Math.max(
      ...this.#partitions.map(({ reflector }) => nowMs - (reflector.heardAtMs ?? nowMs)),
    );
  }

  get #label(): string {
    const { kindLabel } = this.#parts;
    return this.scope.metadataOnly ? `${kindLabel} (metadata)` : kindLabel;
  }

  #partitionOf(namespace: string | undefined): Partition<T> | undefined {
    return this.#partitions.find(
      (partition) => partition.namespace === undefined || partition.namespace === namespace,
    );
  }

  #newPartition(namespace: string | undefined): Partition<T> {
    const { type, labelSelector, fieldSelector, metadataOnly } = this.scope;
    const logger = this.#parts.logger.child({
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      ...(namespace === undefined ? {} : { namespace }),
    });
    const scope = { namespace, labelSelector, fieldSelector, metadataOnly };
    const partition: Partition<T> = {
      namespace,
      listed: false,
      progress: '',
      reflector: new Reflector<T>({
        ...this.#parts,
        type,
        scope,
        keepManagedFields: () => this.#keepManagedFields,
        logger,
        sink: this.#sinkOf(() => partition),
        beforeList: () => this.#beforeList(partition, namespace),
      }),
    };
    return partition;
  }

  /**
   * Prepares a list: finds out the scope of the kind, and discards earlier writes from the overlay.
   * @param own - the namespace whose objects the reflector of `partition` lists if the kind is namespaced
   */
  async #beforeList(partition: Partition<T>, own: string | undefined): Promise<void> {
    const { type } = this.scope;
    if (!('namespaced' in type)) await this.#resolveScope(partition, type, own);
    // The list will show all earlier writes. If they stayed, the overlay would grow while lists fail.
    if (!partition.listed) this.overlay.clear(partition.namespace);
  }

  /**
   * Finds out the scope of a kind. Merges all partitions into `partition` if it is cluster-scoped, and splits them
   * again if its CRD was replaced by one of a namespaced kind. A kind given as apiVersion and kind counts as namespaced
   * until discovery has found it, which may be long after the start.
   */
  async #resolveScope(
    partition: Partition<T>,
    type: TypeReference<T>,
    own: string | undefined,
  ): Promise<void> {
    const { namespaced } = await this.#parts.client.resourceType(type);
    this.#namespaced = namespaced;
    if (own === undefined || this.stopped || !this.#partitions.includes(partition)) return;
    if (namespaced === (partition.namespace === own)) return;
    const { namespaces = [] } = this.scope;
    const others = this.#partitions.filter((other) => other !== partition);
    const added = namespaced ? namespaces.filter((name) => name !== own) : [];
    const begun = added.map((name) => this.#newPartition(name));
    partition.namespace = namespaced ? own : undefined;
    this.#partitions = [partition, ...begun];
    this.#isSelected = selectedBy({
      ...this.scope,
      namespaces: namespaced ? namespaces : undefined,
    });
    this.#leaving.push(...others.map(({ reflector }) => reflector.stop()));
    for (const { reflector } of begun) reflector.start();
  }

  #sinkOf(partition: () => Partition<T>): ReflectorSink<T> {
    return {
      intake: (object) => this.#taken(object),
      replace: (objects, version) => this.#replace(partition(), objects, version),
      apply: (type, object) => this.#apply(partition(), type, object),
      progress: (version) => this.#advance(partition(), version),
      stateChanged: () => this.changes.notify(),
    };
  }

  #replace(partition: Partition<T>, objects: ReadonlyMap<string, T>, version: string): void {
    const isInInitialList = !partition.listed;
    const { namespace } = partition;
    // Objects without a namespace remain from a cluster-scoped kind, whose CRD was replaced by this one.
    const isOfOther = ({ metadata }: T): boolean =>
      metadata.namespace !== undefined && metadata.namespace !== namespace;
    const isKept = (key: string, object: T): boolean =>
      objects.has(key) || (namespace !== undefined && isOfOther(object));
    const events: CacheEvent<T>[] = [];
    for (const [key, object] of objects) {
      for (const event of this.#store(key, object, isInInitialList)) events.push(event);
    }
    for (const event of this.store.removeMissing(isKept)) events.push(event);
    this.quarantine.keepOnly(isKept);
    // The server was rolled back: this process's latest writes may be lost, and its known versions may be newer
    // than any on the server.
    if ((compareResourceVersions(version, partition.progress) ?? 0) < 0) {
      this.overlay.clear();
      this.#left = newestDeletions();
    }
    partition.listed = true;
    this.#advance(partition, version);
    this.#handlers.emit(events);
  }

  /** Prepares a server object. Returns a stand-in for an object that can't be cached. */
  #taken(given: T): T {
    return this.#keyed(given).object;
  }

  #keyed(given: T): { readonly key: string; readonly object: T; readonly stored: T | undefined } {
    try {
      const key = checkedKey(given);
      const stored = this.store.get(key);
      return { key, object: this.#intake(given, stored), stored };
    } catch (error) {
      const object = this.quarantine.standInFor(given, error);
      const key = keyStringOf(object);
      return { key, object, stored: this.store.get(key) };
    }
  }

  /** @returns the version of the change, if the object has one */
  #apply(
    partition: Partition<T>,
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    given: T,
  ): string | undefined {
    const { key, object, stored } = this.#keyed(given);
    const { resourceVersion = '', uid = '' } = object.metadata;
    const bad = this.quarantine.get(key)?.resourceVersion;
    const known = bad ?? stored?.metadata.resourceVersion;
    // A proxy may repeat events, and later pages of a list may be newer than the first. An aggregated API may count the
    // versions of each object separately, so compare a known object only with its own version. The first event of an
    // unknown object is ADDED, so a MODIFIED event is a repeat unless it is newer than the list.
    const { progress } = partition;
    const than =
      known ?? this.#left.get(`${key} ${uid}`) ?? (type === 'MODIFIED' ? progress : undefined);
    const order = compareResourceVersions(resourceVersion, than) ?? 1;
    if (order < 0 || (order === 0 && known !== undefined && type !== 'DELETED')) {
      this.#parts.metrics.droppedEvents.add(1, { kind: this.#parts.kindLabel });
      return resourceVersion;
    }
    const events = type === 'DELETED' ? this.#remove(key, object) : this.#store(key, object);
    if (type === 'DELETED') this.#left.set(`${key} ${uid}`, resourceVersion);
    const isNewer = (compareResourceVersions(resourceVersion, progress) ?? 1) > 0;
    this.#advance(partition, isNewer ? resourceVersion : '');
    this.#handlers.emit(events);
    return resourceVersion;
  }

  /**
   * Stores an object, or quarantines it.
   * @returns the resulting events
   */
  #store(key: string, object: T, isInInitialList = false): readonly CacheEvent<T>[] {
    if (this.quarantine.isStandIn(object)) return this.#quarantine(key, object);
    let events: readonly CacheEvent<T>[];
    try {
      events = this.store.put(key, object, isInInitialList);
    } catch (error) {
      return this.#quarantine(key, this.quarantine.standInFor(object, error));
    }
    this.quarantine.release(key);
    return events;
  }

  /** Quarantines an object and keeps its last valid state for later events. Handlers receive no deletion. */
  #quarantine(key: string, standIn: T): readonly CacheEvent<T>[] {
    this.quarantine.put(key, standIn);
    const { uid } = standIn.metadata;
    // A different UID means that the stored object is another one of the same name.
    const isSame = uid === undefined || this.store.get(key)?.metadata.uid === uid;
    return isSame ? [] : this.store.take(key, undefined);
  }

  #remove(key: string, object: T): readonly CacheEvent<T>[] {
    this.quarantine.release(key);
    return this.store.take(key, this.quarantine.isStandIn(object) ? undefined : object);
  }

  /** Quarantines a stored object for which a new index throws. */
  #indexFailed(key: string, object: T, error: unknown): void {
    this.quarantine.put(key, this.quarantine.standInFor(object, error));
  }

  #advance(partition: Partition<T>, version: string): void {
    if (version !== '') partition.progress = version;
    this.overlay.advance();
    const { size } = this.store;
    if (size !== this.#countedObjects) {
      this.#countedObjects = size;
      this.#parts.metrics.objects.set(size, { kind: this.#label });
    }
    this.changes.notify();
  }

  #reportQuarantined(object: QuarantinedObject): void {
    try {
      this.#parts.onQuarantined(object);
    } catch (error) {
      this.#failed('onQuarantined', error, object);
    }
  }

  #failed(what: string, error: unknown, { namespace, name }: Partial<ObjectKey>): void {
    const { logger, metrics, kindLabel } = this.#parts;
    const { kind } = this.scope.type;
    metrics.handlerErrors.add(1, { kind: kindLabel });
    logger.error(`${kind}: ${what} threw`, { error, kind, namespace, name });
  }
}

function newestDeletions(): LruMap<string, string> {
  return new LruMap(100);
}
