import type { Client } from '../client/client.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyString, keyStringOf } from '../object/object-key.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Random } from '../system/random.js';
import type { CacheMetrics } from './cache-metrics.js';
import { ChangeNotifier } from './change-notifier.js';
import { namespaceIndex } from './indexer.js';
import { selectedBy } from './informer-scope.js';
import type { InformerScope } from './informer-scope.js';
import { EventHandlers } from './event-handlers.js';
import type {
  CacheEvent,
  CacheEventHandler,
  HandlerRegistration,
  InformerStatus,
} from './informer.js';
import { newIntake } from './intake.js';
import type { Transform } from './intake.js';
import { missingOf } from './missing.js';
import { estimateTotalBytes } from './object-bytes.js';
import { ObjectStore } from './object-store.js';
import { Quarantine } from './quarantine.js';
import type { QuarantinedObject } from './quarantine.js';
import { Reflector } from './reflector.js';
import type { ReflectorSink } from './reflector.js';
import { compareResourceVersions } from './resource-version.js';
import { put, removeMissing, take } from './store-changes.js';
import type { PutOptions } from './store-changes.js';
import { SharedStrings } from './string-pool.js';
import type { StringPool } from './string-pool.js';
import { WriteOverlay } from './write-overlay.js';

/** What all informers of a cache share. */
export interface InformerParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: CacheMetrics;
  readonly freeze: boolean;
  readonly streamingLists: boolean;
  readonly strings: StringPool;
  readonly onQuarantined: (object: QuarantinedObject) => void;
}

/** One watched part of a kind: a namespace, or everything. */
interface Partition<T extends KubernetesObject> {
  namespace: string | undefined;
  readonly reflector: Reflector<T>;
  listed: boolean;
  /** The version up to which the watch has come; empty before the first list. */
  progress: string;
}

/** One kind in a cache: its store, what fills it, and who listens. */
export class SharedInformer<T extends KubernetesObject = KubernetesObject> {
  readonly scope: InformerScope<T>;
  readonly store: ObjectStore<T>;
  readonly overlay: WriteOverlay<T>;
  /** Objects that can't be taken in; the store may hold their last good state. */
  readonly quarantine: Quarantine<T>;
  /** Tells of every change of the store or of a reflector's state. */
  readonly changes = new ChangeNotifier();
  readonly #intake: Transform<T>;
  readonly #parts: InformerParts;
  #partitions: readonly Partition<T>[];
  /** Ends of the reflectors that a cluster-scoped kind does not need. */
  readonly #leaving: Promise<void>[] = [];
  readonly #handlers = new EventHandlers<T>((error, object) =>
    this.#failed('event handler', error, object),
  );
  #isSelected: (object: T) => boolean;
  #keepManagedFields: boolean;
  #endCollecting: readonly (() => void)[] = [];
  /** As the metric has it; undefined: it has nothing yet. */
  #countedObjects: number | undefined;

  constructor(scope: InformerScope<T>, parts: InformerParts) {
    this.scope = scope;
    this.#parts = parts;
    this.#keepManagedFields = scope.keepManagedFields;
    this.#isSelected = selectedBy(scope);
    this.store = new ObjectStore<T>({
      indexers: scope.indexers,
      onIndexError: (key, object, error) => this.#indexFailed(key, object, error),
    });
    this.quarantine = new Quarantine<T>({
      type: scope.type,
      logger: parts.logger,
      onQuarantined: parts.onQuarantined,
      onCount: (count) => parts.metrics.quarantined.set(count, { kind: this.#label }),
    });
    this.#intake = newIntake({
      ...scope,
      keepManagedFields: () => this.#keepManagedFields,
      freeze: parts.freeze,
      strings: new SharedStrings(parts.strings),
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

  /** Whether everything that existed at the start is there. */
  get synced(): boolean {
    return this.#partitions.every((partition) => partition.listed);
  }

  /** Whether selectors keep objects out that exist. */
  get filtered(): boolean {
    return this.scope.labelSelector !== undefined || this.scope.fieldSelector !== undefined;
  }

  /** The version up to which the watch of a namespace, or the slowest of all, has come. */
  progress(namespace: string | undefined): string {
    return this.#partitionOf(namespace)?.progress ?? this.#partitions[0]?.progress ?? '';
  }

  /** Whether reads of `namespace` (undefined: of all) can be answered from here. */
  covers(namespace: string | undefined): boolean {
    return this.#partitionOf(namespace)?.listed ?? false;
  }

  /** Whether the watch would show `object`. */
  selects(object: T): boolean {
    return this.#isSelected(object);
  }

  start(): void {
    this.#collect();
    for (const { reflector } of this.#partitions) reflector.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#partitions.map(({ reflector }) => reflector.stop()));
    await Promise.all(this.#leaving);
    this.#handlers.clear();
    for (const end of this.#endCollecting) end();
    const { objects, bytes, quarantined, watchSilence } = this.#parts.metrics;
    for (const gauge of [objects, bytes, quarantined, watchSilence])
      gauge.set(0, { kind: this.#label });
  }

  /** From now on with `managedFields`; what is there is read again. */
  keepManagedFields(): void {
    if (this.#keepManagedFields) return;
    this.#keepManagedFields = true;
    for (const { reflector } of this.#partitions) reflector.relist();
  }

  /** What the watch has shown of an object; of one in quarantine the last good state. */
  get(key: ObjectKey): T | undefined {
    return this.store.get(keyString(key));
  }

  /** A write was answered with `answer`; the caller keeps that. */
  written(key: string, answer: T): void {
    try {
      // A copy: the caller may go on with the answer, and the cache's objects are frozen.
      this.overlay.written(this.#intake(structuredClone(answer)));
    } catch {
      // The watch shows it too, and then it is quarantined. Reads wait until then.
      this.overlay.touched(key, answer.metadata.resourceVersion ?? '');
    }
  }

  /** What the watch has shown, of one namespace or all of them, in no order. */
  list(namespace?: string): T[] {
    if (namespace === undefined) return [...this.store.values()];
    return this.store.byIndex(namespaceIndex, namespace);
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
      // A malformed request is a mistake, not a kind to come: nobody should pass it over.
      parked: this.#partitions.some(({ reflector }) => reflector.parked === 'unknownKind'),
      problem,
      quarantined: this.quarantine.list(),
      missing: missingOf(problem, type, troubled?.namespace),
    };
  }

  /** Has the metrics that change by themselves worked out when they are collected. */
  #collect(): void {
    const { bytes, watchSilence } = this.#parts.metrics;
    const kind = this.#label;
    const ends = [
      bytes.onCollect?.(() =>
        bytes.set(estimateTotalBytes(this.store.values(), this.store.size), { kind }),
      ),
      watchSilence.onCollect?.(() => watchSilence.set(this.#silenceMs() / 1_000, { kind })),
    ];
    this.#endCollecting = ends.flatMap((end) => end ?? []);
  }

  /** How long ago the server last spoke, on the watch that it is longest ago; 0 before the first. */
  #silenceMs(): number {
    const nowMs = this.#parts.clock.monotonicMs();
    return Math.max(
      ...this.#partitions.map(({ reflector }) => nowMs - (reflector.heardAtMs ?? nowMs)),
    );
  }

  get #label(): string {
    const { type, metadataOnly } = this.scope;
    return metadataOnly ? `${type.kind} (metadata)` : type.kind;
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
        logger,
        sink: this.#sinkOf(() => partition),
        ...(namespace !== undefined && { beforeList: () => this.#resolveScope(partition) }),
      }),
    };
    return partition;
  }

  /**
   * Leaves `partition` alone if the kind is cluster-scoped: a kind given as apiVersion and kind is
   * taken for a namespaced one until discovery knows it, which may be long after the start.
   */
  async #resolveScope(partition: Partition<T>): Promise<void> {
    const { type } = this.scope;
    if ('namespaced' in type) return;
    const { namespaced } = await this.#parts.client.resourceType(type);
    if (namespaced || partition.namespace === undefined) return;
    if (!this.#partitions.includes(partition)) return;
    const others = this.#partitions.filter((other) => other !== partition);
    this.#partitions = [partition];
    partition.namespace = undefined;
    this.#isSelected = selectedBy({ ...this.scope, namespaces: undefined });
    this.#leaving.push(...others.map(({ reflector }) => reflector.stop()));
  }

  #sinkOf(partition: () => Partition<T>): ReflectorSink<T> {
    return {
      intake: (object) => this.quarantine.guard(object, this.#intake),
      replace: (objects, version) => this.#replace(partition(), objects, version),
      apply: (type, object) => this.#apply(partition(), type, object),
      progress: (version) => this.#advance(partition(), version),
      stateChanged: () => this.changes.notify(),
    };
  }

  #replace(partition: Partition<T>, objects: ReadonlyMap<string, T>, version: string): void {
    const isInInitialList = !partition.listed;
    const { namespace } = partition;
    const isKept = (key: string, { metadata }: T): boolean =>
      objects.has(key) || (namespace !== undefined && metadata.namespace !== namespace);
    const events: CacheEvent<T>[] = [];
    for (const [key, object] of objects) {
      for (const event of this.#store({ key, object, isInInitialList })) events.push(event);
    }
    for (const event of removeMissing(this.store, isKept)) events.push(event);
    this.quarantine.keepOnly(isKept);
    if ((compareResourceVersions(version, partition.progress) ?? 0) < 0) this.overlay.clear();
    partition.listed = true;
    this.#advance(partition, version);
    this.#handlers.emit(events);
  }

  #apply(partition: Partition<T>, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const key = keyStringOf(object);
    const { resourceVersion = '' } = object.metadata;
    const bad = this.quarantine.get(key)?.resourceVersion;
    const known = bad ?? this.store.get(key)?.metadata.resourceVersion;
    // Events of one watch come in the order of their versions: this one was seen, or is from before
    // the list. (A proxy may repeat events; later pages of a list may be newer than the first.)
    const isOld = (compareResourceVersions(resourceVersion, partition.progress) ?? 1) <= 0;
    if (isOld || (compareResourceVersions(resourceVersion, known) ?? 0) < 0) {
      this.#parts.metrics.droppedEvents.add(1, { kind: this.scope.type.kind });
      return;
    }
    const events = type === 'DELETED' ? this.#remove(key, object) : this.#store({ key, object });
    this.#advance(partition, resourceVersion);
    this.#handlers.emit(events);
  }

  /** Stores an object, or puts it into quarantine. @returns what changed */
  #store(change: PutOptions<T>): readonly CacheEvent<T>[] {
    const { key, object } = change;
    if (this.quarantine.isStandIn(object)) return this.#quarantine(key, object);
    let events: readonly CacheEvent<T>[];
    try {
      events = put(this.store, change);
    } catch (error) {
      return this.#quarantine(key, this.quarantine.standInFor(object, error));
    }
    this.quarantine.release(key);
    return events;
  }

  /** The last good state stays, for what comes after it: no handler is told of a deletion. */
  #quarantine(key: string, standIn: T): readonly CacheEvent<T>[] {
    this.quarantine.put(key, standIn);
    const { uid } = standIn.metadata;
    // Unless that was another object of the same name.
    const isSame = uid === undefined || this.store.get(key)?.metadata.uid === uid;
    return isSame ? [] : take(this.store, key, undefined);
  }

  #remove(key: string, object: T): readonly CacheEvent<T>[] {
    this.quarantine.release(key);
    return take(this.store, key, this.quarantine.isStandIn(object) ? undefined : object);
  }

  /** A new index throws for an object that is stored. */
  #indexFailed(key: string, object: T, error: unknown): void {
    this.quarantine.put(key, this.quarantine.standInFor(object, error));
    this.changes.notify();
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

  #failed(what: string, error: unknown, object?: T): void {
    const { logger, metrics } = this.#parts;
    const { kind } = this.scope.type;
    metrics.handlerErrors.add(1, { kind });
    const { namespace, name } = object?.metadata ?? {};
    logger.error(`${kind}: ${what} threw`, { error, kind, namespace, name });
  }
}
