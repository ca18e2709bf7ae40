import { CustomResourceDefinition } from '../../../object/kinds.js';
import type {
  ObjectKey,
  OwnerReference,
  UnstructuredObject,
} from '../../../object/kubernetes-object.js';
import { keyOf } from '../../../object/object-key.js';
import type { ResourceType } from '../../../object/resource-type.js';
import type { CommittedChange } from '../../loopback.js';
import type { ControllerHost } from '../controller-host.js';
import { deepEqual } from '../../../object/deep-equal.js';
import { manager } from '../manager-name.js';
import type { ObjectWriter } from '../object-writer.js';
import type { WorkQueue } from '../work-queue.js';
import {
  collectionVerdict,
  foregroundFinalizer,
  isDeletingDependents,
  isOrphaningDependents,
  orphanFinalizer,
} from './collection-verdict.js';
import type { CollectionVerdict, OwnerState } from './collection-verdict.js';
import { reportForeignOwner } from './foreign-owner.js';
import { ServedKinds } from './served-kinds.js';

/**
 * Deletes objects whose owners are gone. Keeps owners that are deleted in the foreground until their blocking
 * dependents are deleted; see "Garbage Collection" in the Kubernetes documentation.
 */
export function startGarbageCollector(host: ControllerHost): void {
  new GarbageCollector(host).start();
}

/** An object to check. A later object with the same key has another uid. */
interface Item {
  readonly type: ResourceType;
  readonly key: ObjectKey;
  readonly uid: string;
}

class GarbageCollector {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #kinds: ServedKinds;
  readonly #queue: WorkQueue<Item>;
  /** Objects with an owner of a kind that is not served, so its existence is unknown. */
  readonly #parked = new Map<string, Item>();

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#kinds = new ServedKinds(host.loopback);
    const reconcile = (item: Item): Promise<void> => this.#reconcile(item);
    this.#queue = host.queue('garbage-collector', reconcile, ({ uid }) => uid);
  }

  start(): void {
    this.#host.watchAll((change) => this.#onChange(change));
    this.#host.watch(CustomResourceDefinition, () => {
      this.#kinds.reset();
      for (const item of this.#parked.values()) this.#queue.add(item);
      this.#parked.clear();
    });
  }

  #onChange({ type, resourceType, object, previous }: CommittedChange): void {
    const { uid = '', ownerReferences: references = [] } = object.metadata;
    const before = previous?.metadata.ownerReferences ?? [];
    // Owners that wait for this object must notice that it is gone or no longer blocks.
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
    // A cluster-scoped object cannot have a namespaced owner; it is never collected.
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
    const blocking = this.#dependentsOf(owner).filter(({ object }) =>
      object.metadata.ownerReferences?.some(
        (reference) => reference.uid === uid && reference.blockOwnerDeletion === true,
      ),
    );
    if (blocking.length === 0) await this.#removeFinalizer(owner, foregroundFinalizer);
    for (const dependent of blocking) {
      if (!isDeletingDependents(dependent.object)) this.#add(dependent);
    }
  }

  async #orphanDependents({ type, key }: Item, owner: UnstructuredObject): Promise<void> {
    const { uid = '' } = owner.metadata;
    for (const { object } of this.#dependentsOf(owner)) await this.#dropReferences(object, [uid]);
    const live = this.#host.loopback.get(type, key);
    if (live?.metadata.uid === uid) await this.#removeFinalizer(live, orphanFinalizer);
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

  async #removeFinalizer(object: UnstructuredObject, finalizer: string): Promise<void> {
    const before = object.metadata.finalizers ?? [];
    const finalizers = before.filter((other) => other !== finalizer);
    await this.#writer.updateMetadata(object, { finalizers });
  }
}

interface Found {
  readonly resourceType: ResourceType;
  readonly object: UnstructuredObject;
}
