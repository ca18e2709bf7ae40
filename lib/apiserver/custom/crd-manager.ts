import type { UnstructuredObject } from '../../object/index.js';
import { apiVersionOf, formatTime, deepEqual } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import type { LogEntry } from '../storage/mvcc-log.js';
import { deleteObject, removeObject } from '../writes/delete-object.js';
import { storeStatus } from '../writes/own-writes.js';
import { crdCollection, crdOf, withCondition, cleanupFinalizer } from './crd.js';
import type { Crd, CrdCondition } from './crd.js';
import { customKinds } from './custom-kind.js';

/**
 * Serves the kinds of CRDs: accepts their names, establishes them, and removes them with their objects when
 * they are deleted. The manager works within the commit of a change, so that a kind is served before the
 * client gets the answer to its create.
 */
export class CrdManager {
  readonly #core: ServerCore;
  /** The served kinds of each CRD, by its name. */
  readonly #served = new Map<string, readonly ServedKind[]>();

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
      this.#serve(entry.key, []);
      this.#establishOthers(crdOf(entry.object).spec.group);
      return;
    }
    // Use the stored state: a later change may already have happened.
    const object = this.#core.log.collection(crdCollection).get(entry.key);
    if (object === undefined) return;
    if (object.metadata.deletionTimestamp !== undefined) this.#cleanUp(object);
    else this.#establish(object);
  }

  #establish(object: UnstructuredObject): void {
    const crd = crdOf(object);
    const conflicts = this.#conflictOf(crd);
    const wanted = conditionsOf(crd, conflicts, formatTime(this.#core.clock.now()));
    const acceptedNames =
      conflicts === undefined
        ? crd.spec.names
        : { ...crd.status?.acceptedNames, plural: crd.spec.names.plural };
    const status = { ...crd.status, conditions: wanted, acceptedNames };
    if (conflicts === undefined) this.#serve(crd.metadata.name ?? '', customKinds(this.#core, crd));
    if (!deepEqual(status, crd.status)) this.#store(object, { ...object, status });
  }

  /** Establishes other CRDs of a group whose names may now be free. */
  #establishOthers(group: string): void {
    const collection = this.#core.log.collection(crdCollection);
    for (const key of collection.keys('')) {
      const object = collection.get(key);
      if (object === undefined || this.#served.has(key)) continue;
      const { spec, metadata } = crdOf(object);
      if (spec.group === group && metadata.deletionTimestamp === undefined) this.#establish(object);
    }
  }

  /** Returns the last of the CRD's names that another kind of the group already uses. */
  #conflictOf({ metadata, spec }: Crd): NameConflict | undefined {
    const kinds = new Set<string>();
    const resources = new Set<string>();
    for (const [name, [kind]] of this.#served) {
      if (kind === undefined || name === metadata.name || kind.type.group !== spec.group) continue;
      for (const used of [kind.type.kind, kind.listKind]) kinds.add(used);
      for (const used of [kind.type.plural, kind.singular, ...kind.shortNames]) resources.add(used);
    }
    const { plural, singular, shortNames = [], kind, listKind } = spec.names;
    const wanted: readonly (readonly [string, string | undefined, ReadonlySet<string>])[] = [
      ['PluralConflict', plural, resources],
      ['SingularConflict', singular, resources],
      ...shortNames.map((name) => ['ShortNamesConflict', name, resources] as const),
      ['KindConflict', kind, kinds],
      ['ListKindConflict', listKind, kinds],
    ];
    const taken = wanted.findLast(([, name, used]) => name !== undefined && used.has(name));
    if (taken === undefined) return undefined;
    const [reason, name] = taken;
    return { reason, message: `"${name}" is already in use` };
  }

  #serve(name: string, kinds: readonly ServedKind[]): void {
    const before = this.#served.get(name) ?? [];
    if (kinds.length === 0) this.#served.delete(name);
    else this.#served.set(name, kinds);
    this.#core.kinds.replace(before, kinds);
  }

  #store(old: UnstructuredObject, next: UnstructuredObject): void {
    const kind = this.#core.kinds.storedIn(crdCollection);
    if (kind !== undefined) storeStatus(this.#core, kind, { old, next });
  }

  #cleanUpAfter(collection: string): void {
    for (const [name, [kind]] of this.#served) {
      if (kind?.collection !== collection) continue;
      const object = this.#core.log.collection(crdCollection).get(name);
      if (object?.metadata.deletionTimestamp !== undefined) this.#cleanUp(object);
    }
  }

  /** Deletes the objects of a CRD; the CRD is removed with the last of them. */
  #cleanUp(object: UnstructuredObject): void {
    const { finalizers = [], name = '' } = object.metadata;
    if (!finalizers.includes(cleanupFinalizer)) return;
    const crd = crdOf(object);
    if (this.#served.has(name)) this.#serve(name, customKinds(this.#core, crd));
    const collection = this.#core.log.collection(`${crd.spec.group}/${crd.spec.names.plural}`);
    this.#deleteObjects(name, collection.keys(''));
    if (collection.size > 0) {
      this.#tellOfProgress(object);
      return;
    }
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

  #tellOfProgress(object: UnstructuredObject): void {
    const progress = withCondition(object, {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: object.metadata.deletionTimestamp ?? '',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    });
    if (!deepEqual(progress, object)) this.#store(object, progress);
  }

  #deleteObjects(crd: string, keys: readonly string[]): void {
    const kinds = this.#served.get(crd) ?? [];
    const [first] = kinds;
    if (first === undefined) return;
    const collection = this.#core.log.collection(first.collection);
    for (const key of keys) {
      const stored = collection.get(key);
      if (stored === undefined || stored.metadata.deletionTimestamp !== undefined) continue;
      const { namespace = '', name = '' } = stored.metadata;
      // Use the stored version: this runs within a commit, where no webhook can convert objects.
      const kind = kinds.find(({ type }) => apiVersionOf(type) === stored.apiVersion) ?? first;
      deleteObject(this.#core, { kind, namespace, name, options: { dryRun: false } });
    }
  }
}

interface NameConflict {
  readonly reason: string;
  readonly message: string;
}

function conditionsOf(
  { status }: Crd,
  conflict: NameConflict | undefined,
  now: string,
): readonly CrdCondition[] {
  const accepted =
    conflict === undefined
      ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { status: 'False', ...conflict };
  const established =
    conflict === undefined
      ? {
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        }
      : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  const before = status?.conditions ?? [];
  const wanted = [
    { type: 'NamesAccepted', ...accepted },
    { type: 'Established', ...established },
  ].map((condition) => {
    const known = before.find(({ type }) => type === condition.type);
    const changed = known?.status !== condition.status;
    const lastTransitionTime = changed ? now : (known.lastTransitionTime ?? now);
    const { type, status: value, reason, message } = condition;
    return { type, status: value, lastTransitionTime, reason, message };
  });
  const others = before.filter(({ type }) => type !== 'NamesAccepted' && type !== 'Established');
  return [...wanted, ...others];
}
