import {
  formatTime,
  deepEqual,
  CustomResourceDefinition,
  keyOf,
  groupOf,
} from '../../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  OwnerReference,
  UnstructuredObject,
  ResourceType,
} from '../../object/index.js';
import type { CommittedChange, Loopback } from '../loopback.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { safeSuffix } from './controller-revisions.js';
import type { WorkQueue } from './work-queue.js';

/** An object to check. A later object with the same key has another uid. */
interface Item {
  readonly type: ResourceType;
  readonly key: ObjectKey;
  readonly uid: string;
}

/**
 * Deletes objects whose owners are gone. Keeps owners that are deleted in the foreground until their blocking
 * dependents are deleted; see "Garbage Collection" in the Kubernetes documentation.
 */
export class GarbageCollector {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #kinds: ServedKinds;
  readonly #queue: WorkQueue<Item>;
  /** Objects with an owner of a kind that is not served, so that the owner's existence is unknown. */
  readonly #parked = new Map<string, Item>();

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#kinds = new ServedKinds(host.loopback);
    const reconcile = (item: Item): Promise<void> => this.#reconcile(item);
    this.#queue = host.queue('garbage-collector', reconcile, ({ uid }) => uid);
    host.watchAll((change) => this.#onChange(change));
    host.watch(CustomResourceDefinition, () => {
      this.#kinds.reset();
      for (const item of this.#parked.values()) this.#queue.add(item);
      this.#parked.clear();
    });
  }

  #onChange({ type, resourceType, object, previous }: CommittedChange): void {
    const { uid = '', ownerReferences: references = [] } = object.metadata;
    const before = previous?.metadata.ownerReferences ?? [];
    // Check the owners that wait for this object: it is gone, or may no longer block them.
    if (type === 'DELETED' || !deepEqual(before, references)) {
      for (const reference of [...before, ...references]) this.#wakeOwner(object, reference);
    }
    if (type === 'DELETED') {
      this.#parked.delete(uid);
      for (const dependent of this.#host.loopback.dependents(uid)) this.#add(dependent);
    } else if (isDeletingDependents(object) || isOrphaningDependents(object)) {
      this.#add({ resourceType, object });
    } else if (references.length > 0 && !deepEqual(before, references)) {
      this.#add({ resourceType, object });
    }
  }

  #wakeOwner(dependent: UnstructuredObject, reference: OwnerReference): void {
    const owner = this.#ownerOf(dependent, reference);
    if (owner !== undefined && isDeletingDependents(owner.object)) this.#add(owner);
  }

  #add({ resourceType, object }: Found): void {
    const { uid = '' } = object.metadata;
    this.#queue.add({ type: resourceType, key: keyOf(object), uid });
  }

  async #reconcile(item: Item): Promise<void> {
    const object = this.#host.loopback.get(item.type, item.key);
    if (object?.metadata.uid !== item.uid) return;
    if (isOrphaningDependents(object)) await this.#orphanDependents(item, object);
    else if (isDeletingDependents(object)) await this.#deleteDependents(object);
    else if (object.metadata.deletionTimestamp === undefined) await this.#collect(item, object);
  }

  async #collect(item: Item, object: UnstructuredObject): Promise<void> {
    const references = object.metadata.ownerReferences ?? [];
    const states = new Map<OwnerReference, OwnerState>();
    for (const reference of references) {
      const state = this.#stateOf(object, reference, item);
      if (state === undefined) return;
      states.set(reference, state);
      if (state === 'dangling') await reportForeignOwner(this.#host, object, reference);
    }
    const verdict = collectionVerdict({
      object,
      stateOf: (reference) => states.get(reference) ?? 'solid',
      dependents: this.#dependentsOf(object).map((dependent) => dependent.object),
    });
    await this.#carryOut(verdict, item, object);
  }

  async #carryOut(
    verdict: CollectionVerdict,
    { type, key }: Item,
    object: UnstructuredObject,
  ): Promise<void> {
    switch (verdict.type) {
      case 'keep':
        return;
      case 'dropReferences':
        await this.#dropReferences(object, verdict.uids);
        return;
      case 'delete': {
        const live = verdict.unblock ? await this.#unblock(object) : object;
        const { uid = '', resourceVersion = '' } = live.metadata;
        const { propagationPolicy } = verdict;
        const preconditions = { uid, resourceVersion };
        await this.#host.loopback.delete(type, key, { propagationPolicy, preconditions });
      }
    }
  }

  /** Returns the state of an owner. @returns undefined if the state is unknown, now or permanently */
  #stateOf(
    object: UnstructuredObject,
    reference: OwnerReference,
    item: Item,
  ): OwnerState | undefined {
    const type = this.#kinds.find(reference.apiVersion, reference.kind);
    if (type === undefined) {
      this.#parked.set(item.uid, item);
      return undefined;
    }
    // A cluster-scoped object cannot have a namespaced owner; the real controller never collects such an object.
    if (type.namespaced && (object.metadata.namespace ?? '') === '') return undefined;
    const owner = this.#ownerOf(object, reference);
    if (owner === undefined) return 'dangling';
    return isDeletingDependents(owner.object) ? 'waiting' : 'solid';
  }

  /** Finds the owner by name and UID, in the object's namespace or cluster-scoped. */
  #ownerOf(object: UnstructuredObject, reference: OwnerReference): Found | undefined {
    const resourceType = this.#kinds.find(reference.apiVersion, reference.kind);
    if (resourceType === undefined) return undefined;
    const { namespace } = object.metadata;
    const { name } = reference;
    const key = resourceType.namespaced ? { namespace, name } : { name };
    const owner = this.#host.loopback.get(resourceType, key);
    return owner?.metadata.uid === reference.uid ? { resourceType, object: owner } : undefined;
  }

  #dependentsOf(owner: UnstructuredObject): readonly Found[] {
    const { uid = '', namespace = '' } = owner.metadata;
    const all = this.#host.loopback.dependents(uid);
    // Objects in other namespaces cannot be dependents.
    return namespace === ''
      ? all
      : all.filter(({ object }) => object.metadata.namespace === namespace);
  }

  async #deleteDependents(owner: UnstructuredObject): Promise<void> {
    const { uid } = owner.metadata;
    const dependents = this.#dependentsOf(owner);
    for (const dependent of dependents) {
      if (!isDeletingDependents(dependent.object)) this.#add(dependent);
    }
    const isBlocked = dependents.some(({ object }) =>
      object.metadata.ownerReferences?.some(
        (reference) => reference.uid === uid && reference.blockOwnerDeletion === true,
      ),
    );
    if (!isBlocked) await this.#writer.removeFinalizer(owner, foregroundFinalizer);
  }

  async #orphanDependents({ type, key }: Item, owner: UnstructuredObject): Promise<void> {
    const { uid = '' } = owner.metadata;
    for (const { object } of this.#dependentsOf(owner)) await this.#dropReferences(object, [uid]);
    const live = this.#host.loopback.get(type, key);
    if (live?.metadata.uid === uid) await this.#writer.removeFinalizer(live, orphanFinalizer);
  }

  async #dropReferences(object: UnstructuredObject, uids: readonly string[]): Promise<void> {
    const before = object.metadata.ownerReferences ?? [];
    const ownerReferences = before.filter(({ uid }) => !uids.includes(uid));
    await this.#writer.updateMetadata(object, { ownerReferences });
  }

  async #unblock(object: UnstructuredObject): Promise<UnstructuredObject> {
    const before = object.metadata.ownerReferences ?? [];
    const ownerReferences = before.map((reference) => ({
      ...reference,
      blockOwnerDeletion: false,
    }));
    return await this.#writer.updateMetadata(object, { ownerReferences });
  }
}

interface Found {
  readonly resourceType: ResourceType;
  readonly object: UnstructuredObject;
}

/** The finalizer of an owner that waits until its dependents are deleted. */
const foregroundFinalizer = 'foregroundDeletion';
/** The finalizer of an owner that waits until its dependents no longer reference it. */
const orphanFinalizer = 'orphan';

/** The state of an owner, as seen from the object that references it. */
export type OwnerState =
  /** The owner exists with this UID, in a place from which it can own the object. */
  | 'solid'
  /** The owner does not exist: never, no longer, or only with another UID or in another namespace. */
  | 'dangling'
  /** The owner is being deleted in the foreground. */
  | 'waiting';

/** Decision of the garbage collector about an object. */
export type CollectionVerdict =
  | { readonly type: 'keep' }
  /** Some owners are gone and others exist: only the references to the missing owners are removed. */
  | { readonly type: 'dropReferences'; readonly uids: readonly string[] }
  | {
      readonly type: 'delete';
      readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan';
      /**
       * True if owner and dependents may wait for each other in a circle. To break it, set `blockOwnerDeletion` of the
       * object's references to false before the delete.
       */
      readonly unblock: boolean;
    };

/** An object with its owners and dependents, about which {@link collectionVerdict} decides. */
interface CollectionCase {
  readonly object: KubernetesObject;
  readonly stateOf: (reference: OwnerReference) => OwnerState;
  readonly dependents: readonly KubernetesObject[];
}

/** Decides whether an object that is not being deleted may stay, from the states of its owners. */
export function collectionVerdict({
  object,
  stateOf,
  dependents,
}: CollectionCase): CollectionVerdict {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return { type: 'keep' };
  const states = references.map((reference) => ({ reference, state: stateOf(reference) }));
  const gone = states.filter(({ state }) => state !== 'solid');
  if (gone.length === 0) return { type: 'keep' };
  if (gone.length < states.length) {
    // Includes owners that wait for their dependents: they would wait forever, because this object stays.
    return { type: 'dropReferences', uids: gone.map(({ reference }) => reference.uid) };
  }
  const waited = states.some(({ state }) => state === 'waiting');
  if (waited && dependents.length > 0) {
    const unblock = dependents.some(isDeletingDependents);
    return { type: 'delete', propagationPolicy: 'Foreground', unblock };
  }
  return { type: 'delete', propagationPolicy: policyOf(object), unblock: false };
}

/** Returns true if the object is being deleted and waits for its dependents to be deleted. */
function isDeletingDependents({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, foregroundFinalizer);
}

/** Returns true if the object is being deleted and its dependents stay. */
function isOrphaningDependents({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, orphanFinalizer);
}

/** Returns the propagation policy that the object's finalizers stand for, by default `Background`. */
function policyOf({ metadata }: KubernetesObject): 'Background' | 'Foreground' | 'Orphan' {
  if (hasFinalizer(metadata, orphanFinalizer)) return 'Orphan';
  return hasFinalizer(metadata, foregroundFinalizer) ? 'Foreground' : 'Background';
}

function hasFinalizer(metadata: KubernetesObject['metadata'], finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

const component = 'garbage-collector-controller';

/**
 * Records a warning Event if the owner of an object is in another namespace. The garbage collector is about
 * to delete such an object, which surprises users.
 */
async function reportForeignOwner(
  host: ControllerHost,
  object: UnstructuredObject,
  reference: OwnerReference,
): Promise<void> {
  const { namespace = '' } = object.metadata;
  if (namespace === '' || !existsElsewhere(host, reference)) return;
  const { apiVersion, kind, name, uid } = reference;
  const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
  const message = `ownerRef ${owner} does not exist in namespace "${namespace}"`;
  const now = formatTime(host.now());
  await host.writer(manager).create<UnstructuredObject>({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${object.metadata.name ?? ''}.${safeSuffix(() => host.random.next(), 16)}`,
      namespace,
    },
    involvedObject: referenceOf(object),
    reason: 'OwnerRefInvalidNamespace',
    message,
    type: 'Warning',
    source: { component },
    reportingComponent: component,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  });
}

function existsElsewhere(host: ControllerHost, reference: OwnerReference): boolean {
  const type = host.loopback.resourceTypes().find(({ group, kind, namespaced }) => {
    return namespaced && kind === reference.kind && group === groupOf(reference.apiVersion);
  });
  if (type === undefined) return false;
  return host.loopback.list(type).some(({ metadata }) => metadata.uid === reference.uid);
}

function referenceOf({ apiVersion, kind, metadata }: UnstructuredObject): object {
  const { namespace, name, uid } = metadata;
  return { apiVersion, kind, namespace, name, uid };
}

/** A cached list of the served resource types. The list is read again if it lacks the kind to find. */
class ServedKinds {
  readonly #loopback: Loopback;
  #types = new Map<string, ResourceType>();

  constructor(loopback: Loopback) {
    this.#loopback = loopback;
  }

  /** Returns the resource type for an owner reference, or undefined if its kind is not served. */
  find(apiVersion: string, kind: string): ResourceType | undefined {
    const key = `${groupOf(apiVersion)}/${kind}`;
    return this.#types.get(key) ?? this.#read().get(key);
  }

  /** Clears the list after a change of a CustomResourceDefinition. */
  reset(): void {
    this.#types = new Map();
  }

  #read(): ReadonlyMap<string, ResourceType> {
    const types = this.#loopback.resourceTypes();
    this.#types = new Map(types.map((type) => [`${type.group}/${type.kind}`, type]));
    return this.#types;
  }
}
