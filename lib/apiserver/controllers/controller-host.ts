import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import { Pod } from '../../object/kinds.js';
import { keyOf, keyString } from '../../object/object-key.js';
import { labelRequirementsOf, matchesLabels } from '../../object/label-selector.js';
import type { LabelRequirement, LabelSelector } from '../../object/label-selector.js';
import { isControlledBy } from '../../object/owner-reference.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { CommittedChange, Loopback } from '../loopback.js';
import { ObjectIndex, labelWords } from './object-index.js';
import { ObjectWriter } from './object-writer.js';
import { WorkQueue } from './work-queue.js';
import type { Reconcile } from './work-queue.js';
import type { Workload } from './workload.js';

/** A committed change of an object whose type is known. */
export interface ObjectChange<T extends KubernetesObject> {
  readonly type: CommittedChange['type'];
  readonly object: T;
  /** The object before the change; absent for `ADDED`. */
  readonly previous: T | undefined;
}

/** Options of {@link ControllerHost}. */
export interface ControllerHostOptions {
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

  /** Index of the pods by {@link labelWords}. Read it before `start`, or it misses the existing pods. */
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
   * Creates a queue for objects of `type`. It receives the key of each existing object, and of each object
   * that changes.
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
