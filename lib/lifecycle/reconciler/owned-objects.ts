import {
  deleteAsRead,
  heldBy,
  isPruneGuarded,
  listOfKind,
  mayBePruned,
  pruneAnnotation,
  refId,
  typeIfServed,
} from '../../apply/index.js';
import { isStaleWrite } from '../../client/index.js';
import { describeObject, apiVersionOf, referenceTo } from '../../object/index.js';
import type { UnstructuredObject, KubernetesObject, TypeReference } from '../../object/index.js';
import { joined } from './pass.js';
import { invokeAfter, invokeCallbacks, owedDeletions } from './user-code.js';
import { raise, settle } from './configuration.js';
import type { Pass } from './pass.js';
import type { SurveyedObject } from './survey.js';
import type { Client } from '../../client/index.js';

/**
 * Deletes objects that an earlier version created for this configuration and that are no longer desired.
 * Considers only kinds that the operator names, and only objects with its version label. Keeps objects that
 * hold users' data until their pruning is allowed.
 * @returns whether a superfluous object still exists and is being deleted
 * @throws the errors, after all objects have been tried.
 */
export async function prune(pass: Pass, surveyed: readonly SurveyedObject[]): Promise<boolean> {
  const errors: unknown[] = [];
  const refused: UnstructuredObject[] = [];
  let left = false;
  for (const object of owedDeletions(pass)) {
    await afterDeletion(pass, object).catch((error: unknown) => errors.push(error));
  }
  for (const object of await superfluousObjects(pass, surveyed)) {
    pass.signal.throwIfAborted();
    try {
      const verdict = verdictOn(pass, object);
      if (verdict === 'refuse') refused.push(object);
      if (verdict === 'prune') left = (await remove(pass, object)) || left;
    } catch (error) {
      errors.push(error);
    }
  }
  refuse(pass, refused);
  if (errors.length > 0) throw joined(errors);
  return left;
}

async function superfluousObjects(
  pass: Pass,
  surveyed: readonly SurveyedObject[],
): Promise<readonly UnstructuredObject[]> {
  const { crManager, createVersionLabel } = pass.settings;
  const desired = new Set(surveyed.map((one) => identityOf(one.desired)));
  // A stale cache may hide an object, which only delays pruning. But an upgrade must not be reported as
  // complete before pruning, so read from the server until then.
  const client = pass.status.phase === 'Deployed' ? pass.client : pass.live;
  const types = crManager.getDependantResourceTypes();
  const owned = await ownedObjects(pass, { client, types });
  reportGone(pass, owned);
  return owned.filter(
    (object) =>
      object.metadata.labels?.[createVersionLabel] !== undefined &&
      !desired.has(identityOf(object)),
  );
}

function verdictOn({ settings }: Pass, object: UnstructuredObject): 'prune' | 'keep' | 'refuse' {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  // `prune` also waits for an object that is already being deleted.
  if (deletionTimestamp !== undefined || mayBePruned(object)) return 'prune';
  if (!isPruneGuarded(object) || annotations[pruneAnnotation] === 'false') return 'keep';
  return settings.mayPrune(object) ? 'prune' : 'refuse';
}

function refuse(pass: Pass, objects: readonly UnstructuredObject[]): void {
  if (objects.length === 0) {
    settle(pass, 'PruneRefused');
    return;
  }
  const names = objects.map((object) => describeObject(object)).join(', ');
  const remedy = `annotate them with ${pruneAnnotation}: "true" to prune them, or "false" to keep them`;
  const message = `kept, because pruning would also delete users' objects: ${names}; ${remedy}`;
  if (!raise(pass, 'PruneRefused', { reason: 'HoldsData', message })) return;
  pass.addStatusEvent({ type: 'Warning', reason: 'PruneRefused', message });
}

/** @returns whether the object still exists */
async function remove(pass: Pass, object: UnstructuredObject): Promise<boolean> {
  if (object.metadata.deletionTimestamp !== undefined) {
    waitUntilGone(pass, object);
    return true;
  }
  const left = await reportingFailure(pass, { object }, async () => {
    await invokeCallbacks(pass, 'PRE_DELETE', { current: structuredClone(object) });
    return deleteObject(pass, object, 'Foreground');
  });
  await afterDeletion(pass, object);
  return left !== undefined;
}

/**
 * Calls `POST_DELETE` after the API server has accepted the deletion of `object`, which may exist until its finalizers
 * are removed.
 */
function afterDeletion(pass: Pass, object: UnstructuredObject): Promise<void> {
  const what = `requested the deletion of ${describeObject(object)}, then`;
  return reportingFailure(pass, { object, what }, () =>
    invokeAfter(pass, 'POST_DELETE', { current: object }),
  );
}

/** A step of the write or deletion of an object. */
export interface FailingStep {
  readonly object: UnstructuredObject;
  /**
   * The message about a failure of the step, before the cause.
   * @defaultValue says that the object could not be deleted
   */
  readonly what?: string;
  /** The reason of the event about a failure of the step. @defaultValue 'DeleteResourceFailed' */
  readonly reason?: string;
}

/** Calls `work`, and records its failure. @throws the error of `work` */
export async function reportingFailure<T>(
  pass: Pass,
  step: FailingStep,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { object, reason = 'DeleteResourceFailed' } = step;
    const { what = `could not delete ${describeObject(object)}:` } = step;
    // A stale write is not a failure, and the reconcile is retried at once. An object has changed since it was read;
    // an object to delete may be desired now.
    if (!isStaleWrite(error)) pass.fail(error, { reason, what }, object);
    throw error;
  }
}

export interface OwnedSearch {
  /** The live client if a stale cache must not hide objects. */
  readonly client: Client;
  readonly types: readonly TypeReference<KubernetesObject>[];
}

/** Returns every object of these kinds whose controller reference has the UID of the resource `pass.cr`. */
export async function ownedObjects(
  pass: Pass,
  { client, types }: OwnedSearch,
): Promise<readonly UnstructuredObject[]> {
  const byName = new Map(types.map((type) => [`${apiVersionOf(type)} ${type.kind}`, type]));
  const ofKind = (type: TypeReference<KubernetesObject>): Promise<readonly UnstructuredObject[]> =>
    ownedOfKind(pass, client, type);
  const lists = await Promise.all([...byName.values()].map(ofKind));
  return lists.flat();
}

async function ownedOfKind(
  { cr, signal }: Pass,
  client: Client,
  type: TypeReference<KubernetesObject>,
): Promise<readonly UnstructuredObject[]> {
  const { uid: controllerUid, namespace } = cr.metadata;
  const served = await typeIfServed(client, type);
  // A namespaced owner has no cluster-scoped objects.
  if (served === undefined || (namespace !== undefined && !served.namespaced)) return [];
  return listOfKind(client, served, { controllerUid, namespace, signal });
}

/** Returns a unique key of an object. */
export function identityOf(object: KubernetesObject): string {
  return refId(referenceTo(object));
}

/**
 * Deletes an object if it still has the version that was read; it may already be gone. The event follows when it is
 * gone: see {@link reportGone}.
 * @param propagationPolicy - `Foreground` deletes its dependents first.
 * @returns the object if it still exists
 * @throws ApiError 409 (`isConflict`): it has changed, and must be checked again.
 */
export async function deleteObject(
  pass: Pass,
  object: UnstructuredObject,
  propagationPolicy: 'Foreground' | 'Background',
): Promise<UnstructuredObject | undefined> {
  const { apiVersion, kind } = object;
  const { live, signal } = pass;
  const left = await deleteAsRead(live, { apiVersion, kind }, object, {
    propagationPolicy,
    signal,
  });
  if (left === undefined) addDeletedEvent(pass, object);
  else waitUntilGone(pass, { ...object, metadata: left.metadata });
  return left;
}

/**
 * Makes the conditions name an object that is being deleted, and remembers the object for the event about the end of
 * its deletion.
 */
export function waitUntilGone(pass: Pass, object: UnstructuredObject): void {
  pass.settings.deletions.add(pass.cr.metadata.uid, object);
  pass.waitFor(`${describeObject(object)}: deletion requested${heldBy(object)}`);
}

/** Records the events of the deleted objects that are no longer among `left`. */
export function reportGone(pass: Pass, left: readonly UnstructuredObject[]): void {
  for (const object of pass.settings.deletions.take(pass.cr.metadata.uid, left)) {
    addDeletedEvent(pass, object);
  }
}

/**
 * The objects whose deletion was requested, by the configuration that owned them. They are kept in memory only: no
 * event is recorded for an object that disappears while the operator restarts.
 */
export class Deletions {
  readonly #byOwner = new Map<string, Map<string, UnstructuredObject>>();

  /** Remembers the identity of an object, not its content. */
  add(owner = '', { apiVersion, kind, metadata }: UnstructuredObject): void {
    const { name = '', namespace, uid = '' } = metadata;
    const objects = this.#byOwner.get(owner) ?? new Map<string, UnstructuredObject>();
    const place = namespace === undefined ? {} : { namespace };
    const named = { apiVersion, kind, metadata: { name, uid, ...place } };
    this.#byOwner.set(owner, objects.set(uid, named));
  }

  /** Removes and returns the objects that are not among `left`. */
  take(owner = '', left: readonly UnstructuredObject[]): readonly UnstructuredObject[] {
    const objects = this.#byOwner.get(owner);
    if (objects === undefined) return [];
    const still = new Set(left.map(({ metadata }) => metadata.uid));
    const gone = [...objects].filter(([uid]) => !still.has(uid));
    for (const [uid] of gone) objects.delete(uid);
    if (objects.size === 0) this.#byOwner.delete(owner);
    return gone.map(([, object]) => object);
  }
}

function addDeletedEvent(pass: Pass, object: UnstructuredObject): void {
  const message = `deleted ${describeObject(object)}`;
  pass.addEvent({ type: 'Normal', reason: 'DeleteResourceSuccess', message }, object);
}
