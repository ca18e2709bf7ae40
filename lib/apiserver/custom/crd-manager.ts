import type { UnstructuredObject } from '../../object/index.js';
import { apiVersionOf, formatTime, deepEqual } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import type { LogEntry } from '../storage/mvcc-log.js';
import { deleteObject, removeObject } from '../writes/delete-object.js';
import { isBundle } from '../outside/connections.js';
import { storeStatus } from '../writes/own-writes.js';
import { approvalCondition } from './api-approval.js';
import { crdCollection, crdOf, withCondition, cleanupFinalizer } from './crd.js';
import type { Crd, CrdCondition } from './crd.js';
import { acceptNames, hasCondition, setCondition, usedNames } from './crd-names.js';
import { customKinds } from './custom-kind.js';

interface Served {
  readonly spec: Crd['spec'];
  /** The kinds of all versions. */
  readonly defined: readonly ServedKind[];
  /** The kinds of the served versions. */
  readonly kinds: readonly ServedKind[];
}

/**
 * Serves the kinds of CRDs: accepts their names, establishes them, and removes them with their objects when
 * they are deleted. The manager works within the commit of a change, so that a kind is served before the
 * client gets the answer to its create.
 */
export class CrdManager {
  readonly #core: ServerCore;
  /** The served kinds of each CRD, and the spec from which they were made, by the name of the CRD. */
  readonly #served = new Map<string, Served>();

  constructor(core: ServerCore) {
    this.#core = core;
    core.log.subscribe((entry) => this.#follow(entry));
  }

  #follow(entry: LogEntry): void {
    if (entry.collection !== crdCollection) {
      if (entry.type === 'DELETED') this.#cleanUpAfter(entry.collection);
      return;
    }
    if (entry.type === 'DELETED') {
      this.#end(entry.key);
      this.#establishOthers(crdOf(entry.object).spec.group);
      return;
    }
    // Use the stored state: a later change may already have happened.
    const object = this.#core.log.collection(crdCollection).get(entry.key);
    if (object === undefined) return;
    if (object.metadata.deletionTimestamp === undefined) {
      this.#establish(object);
      return;
    }
    const crd = crdOf(object);
    // Serve the changed spec: without the change, clients may be unable to remove the last finalizers of the objects.
    const isServed = this.#served.has(entry.key) || isEstablished(crd.status?.conditions ?? []);
    if (isServed) this.#serve(crd);
    // While a snapshot is restored, objects of the definition may still follow: clean up later.
    if (this.#core.log.restoredRevision !== Infinity) this.#cleanUp(object);
  }

  /**
   * Does the next step towards an established CRD: accepts its names, then establishes it. The commit of a step
   * starts the next one.
   */
  #establish(object: UnstructuredObject): void {
    const crd = crdOf(object);
    const { status, spec } = crd;
    const conditions = status?.conditions ?? [];
    const now = formatTime(this.#core.clock.now());
    const approval = approvalCondition(crd);
    if (approval !== undefined && !hasCondition(conditions, approval)) {
      this.#storeStatus(object, { ...status, conditions: setCondition(conditions, approval, now) });
      return;
    }
    const { names, condition } = acceptNames(crd, usedNames(this.#group(spec.group)));
    const isAccepted = condition.status === 'True';
    if (isAccepted) this.#serve(crd);
    const isNamed = deepEqual(status?.acceptedNames, names) && hasCondition(conditions, condition);
    if (!isNamed) {
      const named = setCondition(conditions, condition, now);
      const next = setCondition(named, establishing(conditions, isAccepted), now);
      this.#storeStatus(object, { ...status, conditions: next, acceptedNames: names });
      this.#establishOthers(spec.group);
    } else if (isAccepted && !isEstablished(conditions)) {
      const established = hasValidBundle(crd) ? initialNames : invalidBundle;
      if (hasCondition(conditions, established)) return;
      const next = setCondition(conditions, established, now);
      this.#storeStatus(object, { ...status, conditions: next });
    }
  }

  *#group(group: string): Generator<Crd> {
    for (const object of this.#core.view.all(crdCollection)) {
      const crd = crdOf(object);
      if (crd.spec.group === group) yield crd;
    }
  }

  /** Establishes other CRDs of a group, because the names that they request may now be free. */
  #establishOthers(group: string): void {
    const collection = this.#core.log.collection(crdCollection);
    for (const key of collection.keys('')) {
      const object = collection.get(key);
      if (object === undefined) continue;
      const { spec, status, metadata } = crdOf(object);
      if (spec.group !== group || metadata.deletionTimestamp !== undefined) continue;
      const conditions = status?.conditions ?? [];
      const isWaiting = conditions.some(
        (condition) => condition.type === 'NamesAccepted' && condition.status === 'False',
      );
      if (isWaiting) this.#establish(object);
    }
  }

  #storeStatus(object: UnstructuredObject, status: object): void {
    this.#store(object, { ...object, status });
  }

  /**
   * Serves the kinds of a CRD. If the spec is unchanged, its kinds stay, because watches end with their kind, as on the
   * real server.
   */
  #serve(crd: Crd): void {
    const { metadata, spec } = crd;
    const { name = '', resourceVersion } = metadata;
    const before = this.#served.get(name);
    if (deepEqual(before?.spec, spec)) return;
    const since = before === undefined ? 0 : Number(resourceVersion);
    const defined = customKinds(this.#core, crd, since);
    const kinds = defined.filter((_, index) => spec.versions[index]?.served);
    this.#served.set(name, { spec, defined, kinds });
    this.#core.kinds.replace(before?.kinds ?? [], kinds);
  }

  #end(name: string): void {
    const before = this.#served.get(name);
    this.#served.delete(name);
    if (before !== undefined) this.#core.kinds.replace(before.kinds, []);
  }

  #store(old: UnstructuredObject, next: UnstructuredObject): void {
    const kind = this.#core.kinds.storedIn(crdCollection);
    if (kind !== undefined) storeStatus(this.#core, kind, { old, next });
  }

  #cleanUpAfter(collection: string): void {
    for (const [name, { defined }] of this.#served) {
      if (defined[0]?.collection !== collection) continue;
      const object = this.#core.log.collection(crdCollection).get(name);
      if (object?.metadata.deletionTimestamp !== undefined) this.#cleanUp(object);
    }
  }

  /** Deletes the objects of a CRD; the CRD is removed with the last of them. */
  #cleanUp(object: UnstructuredObject): void {
    const { finalizers = [], name = '' } = object.metadata;
    if (!finalizers.includes(cleanupFinalizer)) return;
    if (this.#recordProgress(object)) return;
    const crd = crdOf(object);
    const collection = this.#core.log.collection(`${crd.spec.group}/${crd.spec.names.plural}`);
    this.#deleteObjects(name, collection.keys(''));
    if (collection.size > 0) return;
    const rest = finalizers.filter((finalizer) => finalizer !== cleanupFinalizer);
    const kind = this.#core.kinds.storedIn(crdCollection);
    if (kind === undefined || this.#core.log.collection(crdCollection).get(name) !== object) return;
    if (rest.length === 0) removeObject(this.#core, kind, name);
    else {
      const done = withCondition(object, {
        type: 'Terminating',
        status: 'False',
        lastTransitionTime: formatTime(this.#core.clock.now()),
        reason: 'InstanceDeletionCompleted',
        message: 'removed all instances',
      });
      this.#store(object, { ...done, metadata: { ...object.metadata, finalizers: rest } });
    }
  }

  /** Sets the condition `Terminating`. @returns true if that changed the object: the commit then starts the clean-up */
  #recordProgress(object: UnstructuredObject): boolean {
    const progress = withCondition(object, {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: object.metadata.deletionTimestamp ?? '',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    });
    if (deepEqual(progress, object)) return false;
    this.#store(object, progress);
    return true;
  }

  #deleteObjects(crd: string, keys: readonly string[]): void {
    const { defined = [] } = this.#served.get(crd) ?? {};
    const [first] = defined;
    if (first === undefined) return;
    const collection = this.#core.log.collection(first.collection);
    for (const key of keys) {
      const stored = collection.get(key);
      if (stored === undefined || stored.metadata.deletionTimestamp !== undefined) continue;
      const { namespace = '', name = '' } = stored.metadata;
      // Use the stored version: this runs within a commit, where no webhook can convert objects.
      const removed = { ...first, conversions: undefined, fromStorage: () => stored };
      const kind = defined.find(({ type }) => apiVersionOf(type) === stored.apiVersion) ?? removed;
      deleteObject(this.#core, { kind, namespace, name, options: { dryRun: false } });
    }
  }
}

const initialNames = {
  ...{ type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
  message: 'the initial names have been accepted',
};

const invalidBundle = {
  ...{ type: 'Established', status: 'False', reason: 'InvalidCABundle' },
  message: 'The conversion webhook CABundle is invalid',
};

/** Returns the condition Established of a CRD whose names have changed. */
function establishing(
  conditions: readonly CrdCondition[],
  isAccepted: boolean,
): Omit<CrdCondition, 'lastTransitionTime'> {
  const before = conditions.find(({ type }) => type === 'Established');
  if (before?.status === 'True' || (before !== undefined && !isAccepted)) return before;
  const condition = { type: 'Established', status: 'False' };
  return isAccepted
    ? { ...condition, reason: 'Installing', message: initialNames.message }
    : { ...condition, reason: 'NotAccepted', message: 'not all names are accepted' };
}

function isEstablished(conditions: readonly CrdCondition[]): boolean {
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}

function hasValidBundle({ spec }: Crd): boolean {
  return isBundle(spec.conversion?.webhook?.clientConfig?.caBundle);
}
