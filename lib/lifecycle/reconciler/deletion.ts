import { removeFinalizer } from '../../client/finalizers.js';
import { getIfExists } from '../../client/get-if-exists.js';
import { describeObject } from '../../object/describe-object.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { TypeReference } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { deleteObject } from './delete-object.js';
import { desiredList } from './desired-list.js';
import { failureText } from './failure-text.js';
import { hasCallbacks, invokeCallbacks } from './invoke-callbacks.js';
import { joined } from './joined-errors.js';
import { identityOf, ownedObjects } from './owned-objects.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';
import { writeStatus } from './write-status.js';

/** When what is being deleted is looked at again, should no watch tell. */
const recheckMs = 5_000;

/** What the conditions say until all callbacks were called, and none has failed. */
const blocked = 'DeletionBlocked';

/**
 * Takes the system away. Garbage collection would begin only when the configuration is gone, and our
 * finalizer holds it: so what it owns is deleted here, one after another, the last first; each has to be
 * gone before the next goes, so that what an object needs in order to go is still there.
 * @returns when to look again, in milliseconds; undefined: it is over
 */
export async function deleteSystem<CR extends LifecycleObject>(
  pass: Pass<CR>,
): Promise<number | undefined> {
  const { finalizer } = pass.settings;
  if (pass.cr.metadata.finalizers?.includes(finalizer) !== true) return undefined;
  const isAnnounced = hasAnnounced(pass);
  pass.status = { ...pass.status, phase: nextPhase(pass.status.phase ?? '', 'DeletionStarted') };
  if (!isAnnounced) pass.failureReason = blocked;
  // Known objects go, whatever stands beside them.
  const { objects: desired } = await desiredList(pass);
  if (!isAnnounced) await announce(pass, desired);
  pass.failureReason = 'ReconcileFailed';
  pass.explain(undefined);
  if (await deleteOwned(pass, desired)) return recheckMs;
  pass.status = { ...pass.status, phase: nextPhase(pass.status.phase ?? '', 'DeletionCompleted') };
  pass.explain(undefined);
  await writeStatus(pass);
  pass.isOver = true;
  await removeFinalizer(pass.live, pass.cr, { finalizer, signal: pass.signal });
  return undefined;
}

/** Whether an earlier pass has called all callbacks, and none has failed. */
function hasAnnounced<CR extends LifecycleObject>({ status }: Pass<CR>): boolean {
  const { phase, conditions = [] } = status;
  const isGoing = phase === 'Deleting' || phase === 'Deleted';
  return isGoing && !conditions.some(({ reason }) => reason === blocked);
}

/** Calls the callbacks of all that is not going already; all are called before one's error counts. */
async function announce<CR extends LifecycleObject>(
  pass: Pass<CR>,
  desired: readonly KubernetesObject[],
): Promise<void> {
  const errors: unknown[] = [];
  for (const object of desired) {
    pass.signal.throwIfAborted();
    try {
      await announceOne(pass, object as UnstructuredObject);
    } catch (error) {
      const why = `${pass.sourceOf(error) ?? 'its callback'}: ${failureText(error, object)}`;
      const message = `deletion of ${describeObject(object)} waits: ${why}`;
      pass.fail(error, { reason: 'DeleteResourceFailed', message }, object);
      errors.push(error);
    }
  }
  if (errors.length > 0) throw joined(errors);
}

async function announceOne<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: UnstructuredObject,
): Promise<void> {
  if (!hasCallbacks(pass, object)) return;
  if (object.metadata.namespace === undefined && (await needsNamespace(pass, object))) return;
  const found = await find(pass, object);
  if (found?.metadata.deletionTimestamp !== undefined) return;
  const [desired, current] = [structuredClone(object), structuredClone(found)];
  await invokeCallbacks(pass, 'OPERATOR_DELETE', { desired, current });
}

/** Whether it lacks what its kind needs: there never was such an object. */
async function needsNamespace<CR extends LifecycleObject>(
  { live }: Pass<CR>,
  object: UnstructuredObject,
): Promise<boolean> {
  try {
    return (await live.resourceType(typeOf(object))).namespaced;
  } catch (error) {
    if (isOperatorError(error, 'UnknownKind')) return false;
    throw error;
  }
}

/** @returns undefined: it is gone, or even its kind is */
async function find<CR extends LifecycleObject>(
  { live, signal }: Pass<CR>,
  object: UnstructuredObject,
): Promise<UnstructuredObject | undefined> {
  try {
    return await getIfExists(live, typeOf(object), keyOf(object), { signal });
  } catch (error) {
    if (isOperatorError(error, 'UnknownKind')) return undefined;
    throw error;
  }
}

/** @returns whether something is left */
async function deleteOwned<CR extends LifecycleObject>(
  pass: Pass<CR>,
  desired: readonly KubernetesObject[],
): Promise<boolean> {
  const dependants = pass.settings.crManager.getDependantResourceTypes();
  const types = [...dependants, ...desired.map(typeOf)];
  const order = new Map(desired.map((object, place) => [identityOf(object), place]));
  // What an earlier version has made is the first to go.
  const place = (object: UnstructuredObject): number => order.get(identityOf(object)) ?? Infinity;
  const owned = await ownedObjects(pass, { client: pass.live, types });
  const lastFirst = owned.toSorted((one, other) => compare(place(other), place(one)));
  for (const object of lastFirst) {
    pass.signal.throwIfAborted();
    if (await isLeft(pass, object)) return true;
  }
  return false;
}

async function isLeft<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: UnstructuredObject,
): Promise<boolean> {
  if (object.metadata.deletionTimestamp !== undefined) return true;
  try {
    const left = await deleteObject(pass, object, hasPods(object) ? 'Foreground' : 'Background');
    const message = `deleted ${describeObject(object)}`;
    pass.tell({ type: 'Normal', reason: 'DeleteResourceSuccess', message }, object);
    return left;
  } catch (error) {
    const message = `could not delete ${describeObject(object)}: ${failureText(error, object)}`;
    pass.fail(error, { reason: 'DeleteResourceFailed', message }, object);
    throw error;
  }
}

/** What is gone with its Pods only. */
function hasPods({ spec }: UnstructuredObject): boolean {
  return (
    isJsonObject(spec) && (isJsonObject(spec['template']) || isJsonObject(spec['jobTemplate']))
  );
}

function typeOf({ apiVersion, kind }: KubernetesObject): TypeReference {
  return { apiVersion, kind };
}

// Infinity minus itself is no number.
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
