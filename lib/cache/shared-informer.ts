import type { Client } from '../client/client.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyOf, keyString } from '../object/object-key.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Random } from '../system/random.js';
import type { CacheMetrics } from './cache-metrics.js';
import { ChangeNotifier } from './change-notifier.js';
import { namespaceIndex } from './indexer.js';
import { selectedBy } from './informer-scope.js';
import type { InformerScope } from './informer-scope.js';
import type {
  CacheEvent,
  CacheEventHandler,
  HandlerRegistration,
  InformerStatus,
} from './informer.js';
import { newIntake } from './intake.js';
import type { Transform } from './intake.js';
import { ObjectStore } from './object-store.js';
import { Reflector } from './reflector.js';
import type { ReflectorSink } from './reflector.js';
import { compareResourceVersions } from './resource-version.js';
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
}

/** One watched part of a kind: a namespace, or everything. */
interface Partition<T extends KubernetesObject> {
  readonly namespace: string | undefined;
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
  /** Tells of every change of the store or of a reflector's state. */
  readonly changes = new ChangeNotifier();
  readonly intake: Transform<T>;
  readonly #parts: InformerParts;
  readonly #partitions: readonly Partition<T>[];
  readonly #handlers = new Set<CacheEventHandler<T>>();
  readonly #isSelected: (object: T) => boolean;
  #keepManagedFields: boolean;

  constructor(scope: InformerScope<T>, parts: InformerParts) {
    this.scope = scope;
    this.#parts = parts;
    this.#keepManagedFields = scope.keepManagedFields;
    this.#isSelected = selectedBy(scope);
    this.store = new ObjectStore<T>({
      indexers: scope.indexers,
      onIndexError: (index, object, error) => this.#failed(`index ${index}`, error, object),
    });
    this.intake = newIntake({
      ...scope,
      keepManagedFields: () => this.#keepManagedFields,
      freeze: parts.freeze,
      onTransformError: (object, error) => this.#failed('transform', error, object),
    });
    this.overlay = new WriteOverlay<T>({
      stored: (key) => this.store.get(key),
      progress: (namespace) => this.#partitionOf(namespace)?.progress ?? '',
      clock: parts.clock,
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
    for (const { reflector } of this.#partitions) reflector.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#partitions.map(({ reflector }) => reflector.stop()));
    this.#handlers.clear();
    this.#parts.metrics.objects.set(0, { kind: this.#label });
  }

  /** From now on with `managedFields`; what is there is read again. */
  keepManagedFields(): void {
    if (this.#keepManagedFields) return;
    this.#keepManagedFields = true;
    for (const { reflector } of this.#partitions) reflector.relist();
  }

  /** What the watch has shown of an object. */
  get(key: ObjectKey): T | undefined {
    return this.store.get(keyString(key));
  }

  /** What the watch has shown, of one namespace or all of them, in no order. */
  list(namespace?: string): T[] {
    if (namespace === undefined) return [...this.store.values()];
    return this.store.byIndex(namespaceIndex, namespace);
  }

  addHandler(handler: CacheEventHandler<T>): HandlerRegistration {
    // One of its own: the same function may be added twice.
    const own: CacheEventHandler<T> = (event) => handler(event);
    for (const object of [...this.store.values()]) {
      this.#tell(own, { type: 'added', object, isInInitialList: true });
    }
    this.#handlers.add(own);
    return { remove: () => this.#handlers.delete(own) };
  }

  status(): InformerStatus {
    const { type, metadataOnly } = this.scope;
    const states = this.#partitions.map(({ reflector }) => reflector.state);
    const troubled = states.find(({ phase }) => phase === 'backOff' || phase === 'parked');
    return {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadataOnly,
      objects: this.store.size,
      synced: this.synced,
      // A malformed request is a mistake, not a kind to come: nobody should pass it over.
      parked: states.some((state) => state.phase === 'parked' && state.why === 'unknownKind'),
      problem: troubled !== undefined && 'error' in troubled ? troubled.error : undefined,
    };
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
      }),
    };
    return partition;
  }

  #sinkOf(partition: () => Partition<T>): ReflectorSink<T> {
    return {
      intake: this.intake,
      replace: (objects, version) => this.#replace(partition(), objects, version),
      apply: (type, object) => this.#apply(partition(), type, object),
      progress: (version) => this.#advance(partition(), version),
      stateChanged: () => this.changes.notify(),
    };
  }

  #replace(partition: Partition<T>, objects: readonly T[], version: string): void {
    const isInInitialList = !partition.listed;
    const events: CacheEvent<T>[] = [];
    const listed = new Set<string>();
    for (const object of objects) {
      const key = keyString(keyOf(object));
      listed.add(key);
      events.push(...this.#put(key, object, isInInitialList));
    }
    for (const [key, object] of [...this.store.entries()]) {
      const isHere = partition.namespace === undefined || isIn(object, partition.namespace);
      if (!isHere || listed.has(key)) continue;
      this.store.delete(key);
      events.push({ type: 'deleted', object, finalStateUnknown: true });
    }
    if ((compareResourceVersions(version, partition.progress) ?? 0) < 0) this.overlay.clear();
    partition.listed = true;
    this.#advance(partition, version);
    this.#emit(events);
  }

  #apply(partition: Partition<T>, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const key = keyString(keyOf(object));
    const { resourceVersion = '' } = object.metadata;
    const stored = this.store.get(key)?.metadata.resourceVersion;
    // Events of one watch come in the order of their versions: this one was seen, or is from before
    // the list. (A proxy may repeat events; later pages of a list may be newer than the first.)
    const isOld = (compareResourceVersions(resourceVersion, partition.progress) ?? 1) <= 0;
    if (isOld || (compareResourceVersions(resourceVersion, stored) ?? 0) < 0) {
      this.#parts.metrics.duplicateEvents.add(1, { kind: this.scope.type.kind });
      return;
    }
    const events = type === 'DELETED' ? this.#take(key, object) : this.#put(key, object, false);
    this.#advance(partition, resourceVersion);
    this.#emit(events);
  }

  #advance(partition: Partition<T>, version: string): void {
    if (version !== '') partition.progress = version;
    this.overlay.advance();
    this.#parts.metrics.objects.set(this.store.size, { kind: this.#label });
    this.changes.notify();
  }

  #put(key: string, object: T, isInInitialList: boolean): readonly CacheEvent<T>[] {
    const old = this.store.get(key);
    this.store.set(key, object);
    if (old === undefined) return [{ type: 'added', object, isInInitialList }];
    const [now, before] = [object.metadata, old.metadata];
    if (now.uid !== before.uid) {
      return [
        { type: 'deleted', object: old, finalStateUnknown: true },
        { type: 'added', object, isInInitialList },
      ];
    }
    return now.resourceVersion === before.resourceVersion ? [] : [{ type: 'updated', object, old }];
  }

  #take(key: string, object: T): readonly CacheEvent<T>[] {
    const old = this.store.get(key);
    if (old === undefined) return [];
    this.store.delete(key);
    // An earlier deletion was missed, should the UID be another.
    const finalStateUnknown = old.metadata.uid !== object.metadata.uid;
    return [{ type: 'deleted', object: finalStateUnknown ? old : object, finalStateUnknown }];
  }

  #emit(events: readonly CacheEvent<T>[]): void {
    // One that is added meanwhile has seen the store as it is after all of these events.
    const handlers = [...this.#handlers];
    for (const event of events) {
      for (const handler of handlers) {
        // Removed by a handler before it.
        if (this.#handlers.has(handler)) this.#tell(handler, event);
      }
    }
  }

  #tell(handler: CacheEventHandler<T>, event: CacheEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.#failed('event handler', error, event.object);
    }
  }

  #failed(what: string, error: unknown, object?: T): void {
    const { logger, metrics } = this.#parts;
    const { kind } = this.scope.type;
    metrics.handlerErrors.add(1, { kind });
    const { namespace, name } = object?.metadata ?? {};
    logger.error(`${kind}: ${what} threw`, { error, kind, namespace, name });
  }
}

function isIn(object: KubernetesObject, namespace: string): boolean {
  return object.metadata.namespace === namespace;
}
