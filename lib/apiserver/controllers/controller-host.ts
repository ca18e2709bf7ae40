import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  deepEqual,
  Pod,
  labelRequirementsOf,
  matchesLabels,
  keyOf,
  keyString,
  isControlledBy,
} from '../../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  ObjectMeta,
  UnstructuredObject,
  LabelRequirement,
  LabelSelector,
  ResourceType,
} from '../../object/index.js';
import type { Clock, Random } from '../../system/index.js';
import type { CommittedChange, Loopback, LoopbackDeleteOptions } from '../loopback.js';
import { ControllerEvents } from './controller-events.js';
import { WorkQueue } from './work-queue.js';
import type { Reconcile, Workload } from './work-queue.js';

/** A committed change of an object whose type is known. */
export interface ObjectChange<T extends KubernetesObject> {
  readonly type: CommittedChange['type'];
  readonly object: T;
  /** The object before the change; absent for `ADDED`. */
  readonly previous: T | undefined;
}

interface ControllerHostOptions {
  readonly loopback: Loopback;
  readonly clock: Clock;
  readonly random: Random;
  readonly workload: Workload;
}

type Listener = (change: CommittedChange) => void;

/**
 * Services that the controllers inside the server share: typed reads, one subscription to the server's log,
 * queues and writers. Returned objects are frozen.
 */
export class ControllerHost {
  readonly loopback: Loopback;
  readonly clock: Clock;
  readonly random: Random;
  readonly workload: Workload;
  /** The Events of the components. */
  readonly events: ControllerEvents;
  readonly #listeners = new Map<string, Listener[]>();
  readonly #anyListeners: Listener[] = [];
  readonly #queues: { stop(): void }[] = [];
  readonly #requirements = new WeakMap<LabelSelector, readonly LabelRequirement[]>();
  #podsByLabel: ObjectIndex<Pod> | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor({ loopback, clock, random, workload }: ControllerHostOptions) {
    this.loopback = loopback;
    this.clock = clock;
    this.random = random;
    this.workload = workload;
    this.events = new ControllerEvents(this);
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined {
    return this.loopback.get(typeOf(type), key) as T | undefined;
  }

  list<T extends KubernetesObject>(type: ResourceType<T>, namespace?: string): readonly T[] {
    return this.loopback.list(typeOf(type), namespace) as unknown as readonly T[];
  }

  /** Returns the objects of `type` whose controller has the uid of `owner`. */
  controlled<T extends KubernetesObject>(type: ResourceType<T>, owner: KubernetesObject): T[] {
    const { uid = '' } = owner.metadata;
    return this.loopback
      .dependents(uid)
      .filter(({ resourceType }) => sameType(resourceType, type))
      .map(({ object }) => object as KubernetesObject as T)
      .filter((object) => isControlledBy(object, owner));
  }

  /**
   * Returns true if `labels` match `selector`. An absent selector matches nothing. The requirements of a
   * selector are cached.
   */
  selects(selector: LabelSelector | undefined, labels?: Readonly<Record<string, string>>): boolean {
    if (selector === undefined) return false;
    let requirements = this.#requirements.get(selector);
    if (requirements === undefined) {
      requirements = labelRequirementsOf(selector);
      this.#requirements.set(selector, requirements);
    }
    return matchesLabels(requirements, labels);
  }

  /**
   * Index of the pods by {@link labelWords}. Read this property before `start`: a later index misses existing
   * pods.
   */
  get podsByLabel(): ObjectIndex<Pod> {
    const words = ({ metadata }: Pod): readonly string[] => labelWords(metadata.labels);
    this.#podsByLabel ??= new ObjectIndex(this, Pod, words);
    return this.#podsByLabel;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.clock.now();
  }

  /** Calls `listener` for each object that exists at the start, and after each change. */
  watch<T extends KubernetesObject>(
    type: ResourceType<T>,
    listener: (change: ObjectChange<T>) => void,
  ): void {
    const listeners = this.#listeners.get(typeKey(type)) ?? [];
    this.#listeners.set(typeKey(type), listeners);
    listeners.push((change) => listener(change as unknown as ObjectChange<T>));
  }

  /** Like {@link ControllerHost.watch}, for objects of every kind. */
  watchAll(listener: Listener): void {
    this.#anyListeners.push(listener);
  }

  /**
   * Creates a queue for objects of `type`. The queue receives the key of each existing object, and of each
   * object that changes.
   */
  objectQueue<T extends KubernetesObject>(
    type: ResourceType<T>,
    name: string,
    reconcile: Reconcile<ObjectKey>,
  ): WorkQueue<ObjectKey> {
    const queue = this.queue(name, reconcile, keyString);
    this.watch(type, ({ object }) => queue.add(keyOf(object)));
    return queue;
  }

  queue<Key>(name: string, reconcile: Reconcile<Key>, idOf: (key: Key) => string): WorkQueue<Key> {
    const queue = new WorkQueue({ name, reconcile, idOf, workload: this.workload });
    this.#queues.push(queue);
    return queue;
  }

  /** Returns a writer with the field manager `manager`. */
  writer(manager: string): ObjectWriter {
    return new ObjectWriter(this.loopback, manager);
  }

  /** Subscribes to the log. The listeners receive the existing objects first. */
  start(): void {
    this.#unsubscribe = this.loopback.subscribe((change) => this.#dispatch(change));
    for (const resourceType of this.loopback.resourceTypes()) {
      for (const object of this.loopback.list(resourceType)) {
        this.#dispatch({ type: 'ADDED', resourceType, object });
      }
    }
  }

  /** Calls `listener` before a snapshot is restored. It must discard state that was derived from the objects. */
  onRestore(listener: () => void): void {
    this.loopback.onRestore(listener);
  }

  /** Ends the subscription and stops the queues. No timer remains. */
  stop(): void {
    this.#unsubscribe?.();
    for (const queue of this.#queues) queue.stop();
  }

  #dispatch(change: CommittedChange): void {
    for (const listener of this.#listeners.get(typeKey(change.resourceType)) ?? []) {
      listener(change);
    }
    for (const listener of this.#anyListeners) listener(change);
  }
}

/** Returns true if both types have the same group and kind; versions may differ. */
export function sameType(
  one: ResourceType<KubernetesObject>,
  other: ResourceType<KubernetesObject>,
): boolean {
  return one.kind === other.kind && one.group === other.group;
}

function typeKey(type: ResourceType<KubernetesObject>): string {
  return `${type.group}/${type.kind}`;
}

function typeOf(type: ResourceType<KubernetesObject>): ResourceType {
  return type as ResourceType;
}

interface WithStatus extends KubernetesObject {
  status?: unknown;
}

/** Writes objects with one field manager. Throws the errors of {@link Loopback}. */
export class ObjectWriter {
  readonly #loopback: Loopback;
  readonly #manager: string;

  constructor(loopback: Loopback, manager: string) {
    this.#loopback = loopback;
    this.#manager = manager;
  }

  async create<T extends KubernetesObject>(object: T, subresource?: string): Promise<T> {
    const options = { manager: this.#manager, subresource };
    return (await this.#loopback.create(plain(object), options)) as KubernetesObject as T;
  }

  async createIfAbsent(object: KubernetesObject): Promise<void> {
    try {
      await this.create(object);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /**
   * Replaces an object that was read before. The write fails with a conflict if the object has changed since.
   */
  async update<T extends KubernetesObject>(object: T, subresource?: string): Promise<T> {
    const options = { manager: this.#manager, subresource };
    return (await this.#loopback.update(plain(object), options)) as KubernetesObject as T;
  }

  /** Replaces metadata fields of an object that was read before. */
  async updateMetadata<T extends KubernetesObject>(object: T, fields: ObjectMeta): Promise<T> {
    return await this.update({ ...object, metadata: { ...object.metadata, ...fields } });
  }

  async removeFinalizer(object: KubernetesObject, finalizer: string): Promise<void> {
    const { finalizers = [] } = object.metadata;
    const kept = finalizers.filter((other) => other !== finalizer);
    if (kept.length < finalizers.length) await this.updateMetadata(object, { finalizers: kept });
  }

  /** Writes `status` if it differs from the object's. @returns the object after the write */
  async updateStatus<T extends WithStatus>(object: T, status: T['status']): Promise<T> {
    if (deepEqual(object.status, status)) return object;
    return await this.update({ ...object, status }, 'status');
  }

  /**
   * Deletes the object with this uid. An object that is already gone is not an error.
   * @returns whether the object existed
   */
  async delete<T extends KubernetesObject>(
    type: ResourceType<T>,
    object: T,
    options: Omit<LoopbackDeleteOptions, 'preconditions'> = {},
  ): Promise<boolean> {
    const { uid = '' } = object.metadata;
    try {
      const settings = { ...options, preconditions: { uid } };
      await this.#loopback.delete(type as unknown as ResourceType, keyOf(object), settings);
      return true;
    } catch (error) {
      // Conflict: another object has this name, so the given object is gone.
      if (!isNotFound(error) && !isConflict(error)) throw error;
      return false;
    }
  }
}

function plain(object: KubernetesObject): UnstructuredObject {
  return object as unknown as UnstructuredObject;
}

/**
 * Finds objects of one kind by words that are computed from each object. Changes of the log update the index.
 */
export class ObjectIndex<T extends KubernetesObject> {
  readonly #byWord = new Map<string, Map<string, T>>();

  /** @param wordsOf - returns the words of an object; the index adds the namespace to each */
  constructor(
    host: ControllerHost,
    type: ResourceType<T>,
    wordsOf: (object: T) => readonly string[],
  ) {
    host.watch(type, ({ type: change, object, previous }) => {
      const { uid = '' } = object.metadata;
      if (previous !== undefined) {
        for (const word of wordsOf(previous)) this.#remove(entryKey(previous, word), uid);
      }
      if (change === 'DELETED') return;
      for (const word of wordsOf(object)) this.#add(entryKey(object, word), uid, object);
    });
  }

  /** Returns the objects of a namespace that have one of `words`, each once. */
  find(namespace: string | undefined, words: readonly string[]): T[] {
    const found = new Map<string, T>();
    for (const word of words) {
      const objects = this.#byWord.get(`${namespace ?? ''}/${word}`) ?? [];
      for (const [uid, object] of objects) found.set(uid, object);
    }
    return [...found.values()];
  }

  #add(key: string, uid: string, object: T): void {
    const objects = this.#byWord.get(key) ?? new Map<string, T>();
    this.#byWord.set(key, objects);
    objects.set(uid, object);
  }

  #remove(key: string, uid: string): void {
    const objects = this.#byWord.get(key);
    objects?.delete(uid);
    if (objects?.size === 0) this.#byWord.delete(key);
  }
}

/** Returns the word of a selector: one label that all objects that it selects must have. */
export function selectorWords(selector: LabelSelector | undefined): readonly string[] {
  if (selector === undefined) return [];
  const [first] = Object.entries(selector.matchLabels ?? {});
  return [first === undefined ? anyLabels : `${first[0]}=${first[1]}`];
}

/** Returns the words of the selectors that may match `labels`. */
export function labelWords(labels: Readonly<Record<string, string>> = {}): readonly string[] {
  return [anyLabels, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)];
}

// The word of a selector without `matchLabels`. It differs from the words of labels, which contain `=`.
const anyLabels = '*';

function entryKey({ metadata }: KubernetesObject, word: string): string {
  return `${metadata.namespace ?? ''}/${word}`;
}

/** The field manager of the workload controllers; the user name of the controllers is derived from it. */
export const manager = 'kube-controller-manager';

/** The field manager of the simulated kubelet. */
export const kubelet = 'kubelet';

/** The field manager of the simulated scheduler. */
export const scheduler = 'kube-scheduler';
