import { getIfExists, isStaleWrite } from '../../client/index.js';
import { describeObject, isJsonObject, isUnavailable, keyOf } from '../../object/index.js';
import type {
  KubernetesObject,
  ResourceType,
  UnstructuredObject,
  TypeReference,
} from '../../object/index.js';
import { isDeletedAlone, typeIfServed } from '../../apply/index.js';
import type { Trouble } from '../conditions.js';
import type { OwnedKinds } from '../owned-kinds.js';
import {
  deleteObject,
  identityOf,
  ownedObjects,
  reportGone,
  reportingFailure,
  waitUntilGone,
} from './owned-objects.js';
import { desiredList, inPlace, isOurs } from './survey.js';
import { causesOf, failureText, joined } from './pass.js';
import {
  hasFinalizer,
  isUnstorable,
  releaseFinalizers,
  settle,
  writeStatus,
} from './configuration.js';
import { hasCallbacks, invokeCallbacks } from './user-code.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phases.js';

/** The delay until the next check of a deletion, in case no watch reports its end, in milliseconds. */
const recheckMs = 5_000;

/** The delay until the next check after a deletion request, in milliseconds. */
const settleMs = 1_000;

/** The reason in the conditions until all callbacks have been called and succeeded. */
const blocked = 'DeletionBlocked';

/**
 * Deletes the system. Garbage collection starts only when the configuration is gone, and our finalizer holds
 * it. So the owned objects are deleted here, in reverse order of creation. Each must be gone before the next
 * is deleted, so that whatever an object needs for its own deletion still exists. With `--cascade=orphan` they stay.
 * @param watched - adds watches for the kinds of the objects that are being deleted.
 * @returns the delay until the next reconcile, in milliseconds; undefined if the deletion is complete
 */
export async function deleteSystem(
  pass: Pass,
  watched: Pick<OwnedKinds, 'add' | 'types'>,
): Promise<number | undefined> {
  if (!hasFinalizer(pass)) return undefined;
  const isAnnounced = hasAnnounced(pass);
  settle(pass, 'DowngradeRefused');
  settle(pass, 'PruneRefused');
  pass.status = { ...pass.status, phase: nextPhase(pass.status.phase ?? '', 'DeletionStarted') };
  if (!isAnnounced) pass.failureReason = blocked;
  const { desired, owned, problem } = await announced(pass, watched, isAnnounced).catch(
    (error: unknown) => {
      // Set the conditions for every error, also for those that are otherwise not shown in conditions. Without them,
      // the phase alone would mean that all callbacks were called.
      const message = `not all callbacks were called: ${causesOf(pass, error)}`;
      if (!isAnnounced) pass.explain({ reason: blocked, message });
      throw error;
    },
  );
  pass.failureReason = 'ReconcileFailed';
  // Show in the conditions now that the deletion has begun: the rest of this reconcile may fail with an error that is
  // not shown in them.
  if (!isAnnounced) pass.explain(undefined);
  reportGone(pass, owned);
  const again = isDeletedAlone(pass.cr) ? undefined : await deleteOwned(pass, desired, owned);
  if (problem === undefined) pass.explain(undefined);
  else pass.complain(problem);
  return again ?? end(pass);
}

/** Lists all objects, and calls their callbacks unless an earlier reconcile has done so. */
async function announced(
  pass: Pass,
  watched: Pick<OwnedKinds, 'add' | 'types'>,
  isAnnounced: boolean,
): Promise<KnownObjects & { readonly owned: readonly UnstructuredObject[] }> {
  const known = await knownObjects(pass, watched);
  const { desired, types, problem } = known;
  const owned = await ownedObjects(pass, { client: pass.live, types });
  watched.add(owned.map(typeOf));
  if (isAnnounced) return { ...known, owned };
  // Without a complete list of desired objects, callbacks get the live objects.
  const areDesired = problem === undefined;
  await announce(pass, areDesired ? desired : owned, areDesired);
  return { ...known, owned: await ownedObjects(pass, { client: pass.live, types }) };
}

async function end(pass: Pass): Promise<undefined> {
  pass.status = { ...pass.status, phase: nextPhase(pass.status.phase ?? '', 'DeletionCompleted') };
  pass.explain(undefined);
  await writeStatus(pass).catch((error: unknown) => {
    // If the server will never store the status, go on: otherwise the finalizer would hold the configuration forever.
    if (!isUnstorable(error)) throw error;
    const { message: why } = error;
    pass.logger.warn(`the deletion is complete, although its status cannot be stored: ${why}`);
  });
  pass.isOver = true;
  await releaseFinalizers(pass);
  pass.settings.owedCallbacks.forget(pass.cr);
  pass.settings.begun.delete(pass.cr.metadata.uid ?? '');
}

interface KnownObjects {
  readonly desired: readonly KubernetesObject[];
  /** The kinds of all objects that the configuration may own. */
  readonly types: readonly TypeReference<KubernetesObject>[];
  /** The reason why the desired objects are unknown. This problem must not block the deletion forever. */
  readonly problem?: Trouble;
}

async function knownObjects(pass: Pass, watched: Pick<OwnedKinds, 'types'>): Promise<KnownObjects> {
  const problems: string[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      pass.signal.throwIfAborted();
      // A retry may succeed. Continuing without the list would skip callbacks and the order of deletion.
      if (isUnavailable(error) || isStaleWrite(error)) throw error;
      problems.push(`${what}: ${failureText(error)}`);
      return otherwise;
    }
  };
  const { crManager, listName } = pass.settings;
  const none: readonly KubernetesObject[] = [];
  // Delete the valid objects even if the list has invalid entries.
  const list = async (): Promise<typeof none> => {
    const { objects, problems: invalid } = await desiredList(pass);
    problems.push(...invalid);
    return objects;
  };
  const listed = await attempt(listName, list, none);
  const desired = (await Promise.all(listed.map((object) => placed(pass, object)))).flat();
  const dependants = await attempt(
    'getDependantResourceTypes',
    async () => Promise.resolve(crManager.getDependantResourceTypes()),
    [],
  );
  const types = [...dependants, ...listed.map(typeOf), ...watched.types];
  if (problems.length === 0) return { desired, types };
  const message = `${problems.join('; ')}: only objects of known kinds are deleted in order, garbage collection takes the rest`;
  return { desired, types, problem: { reason: 'ResourcesUnknown', message } };
}

/**
 * Returns the object with the namespace that a deployment gives it; an empty list if a namespaced object has no
 * namespace.
 */
async function placed(
  { live }: Pass,
  object: KubernetesObject,
): Promise<readonly KubernetesObject[]> {
  const type = await typeIfServed(live, typeOf(object));
  const found = type === undefined ? object : inPlace(object, type.namespaced);
  return found === undefined ? [] : [found];
}

/** Whether an earlier reconcile has called all callbacks, and all succeeded. */
function hasAnnounced({ status }: Pass): boolean {
  const { phase, conditions = [] } = status;
  const isGoing = phase === 'Deleting' || phase === 'Deleted';
  return isGoing && !conditions.some(({ reason }) => reason === blocked);
}

/**
 * Calls the callbacks of all objects that are not being deleted yet. Errors are thrown after the last one.
 * @param areDesired - whether the objects are the desired ones; else they are the live ones
 */
async function announce(
  pass: Pass,
  objects: readonly KubernetesObject[],
  areDesired: boolean,
): Promise<void> {
  const errors: unknown[] = [];
  for (const object of objects) {
    pass.signal.throwIfAborted();
    try {
      await announceOne(pass, object as UnstructuredObject, areDesired);
    } catch (error) {
      const what = `deletion of ${describeObject(object)} waits:`;
      pass.fail(error, { reason: 'DeleteResourceFailed', what }, object);
      errors.push(error);
    }
  }
  if (errors.length > 0) throw joined(errors);
}

async function announceOne(
  pass: Pass,
  object: UnstructuredObject,
  isDesired: boolean,
): Promise<void> {
  if (!hasCallbacks(pass, object)) return;
  const found = isDesired ? await find(pass, object) : object;
  if (found?.metadata.deletionTimestamp !== undefined) return;
  // Another owner controls the object, so it stays.
  if (found !== undefined && !isOurs(pass, found)) return;
  const current = structuredClone(found);
  const desired = isDesired ? structuredClone(object) : undefined;
  await invokeCallbacks(pass, 'OPERATOR_DELETE', { desired, current });
}

/** @returns undefined if the object or its kind does not exist */
async function find(
  { live, signal }: Pass,
  object: UnstructuredObject,
): Promise<UnstructuredObject | undefined> {
  const type = await typeIfServed(live, typeOf(object));
  return type && getIfExists(live, type as ResourceType, keyOf(object), { signal });
}

/** @returns the delay until the next reconcile, in milliseconds; undefined if nothing is left */
async function deleteOwned(
  pass: Pass,
  desired: readonly KubernetesObject[],
  owned: readonly UnstructuredObject[],
): Promise<number | undefined> {
  const order = new Map(desired.map((object, place) => [identityOf(object), place]));
  // Delete objects that are not desired first, such as those of earlier versions.
  const place = (object: UnstructuredObject): number =>
    order.get(identityOf(object)) ?? desired.length;
  const lastFirst = owned.toSorted((one, other) => place(other) - place(one));
  for (const object of lastFirst) {
    pass.signal.throwIfAborted();
    if (object.metadata.deletionTimestamp !== undefined) {
      waitUntilGone(pass, object);
      return recheckMs;
    }
    // Requeue soon: a watch that has just started may have missed the end of the deletion.
    if (await isLeft(pass, object)) return settleMs;
  }
  return undefined;
}

async function isLeft(pass: Pass, object: UnstructuredObject): Promise<boolean> {
  const propagationPolicy = hasPods(object) ? 'Foreground' : 'Background';
  const left = await reportingFailure(pass, { object }, () =>
    deleteObject(pass, object, propagationPolicy),
  );
  return left !== undefined;
}

/** Whether the object is deleted only together with its Pods. */
function hasPods({ spec }: UnstructuredObject): boolean {
  return (
    isJsonObject(spec) && (isJsonObject(spec['template']) || isJsonObject(spec['jobTemplate']))
  );
}

function typeOf({ apiVersion, kind }: KubernetesObject): TypeReference {
  return { apiVersion, kind };
}
