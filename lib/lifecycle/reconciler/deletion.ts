import { removeFinalizer } from '../../client/finalizers.js';
import { getIfExists } from '../../client/get-if-exists.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { identityOf, ownedObjects } from './owned-objects.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';
import { deleteObject } from './prune.js';
import { writeStatus } from './write-status.js';

/** When what is being deleted is looked at again, should no watch tell. */
const recheckMs = 5_000;

/**
 * Takes the system away. Garbage collection would begin only when the configuration is gone, and our
 * finalizer holds it: so what it owns is deleted here, the last first.
 * @returns when to look again, in milliseconds; undefined: it is over
 */
export async function deleteSystem<CR extends LifecycleObject>(
  pass: Pass<CR>,
): Promise<number | undefined> {
  const { finalizer, crManager } = pass.settings;
  if (pass.cr.metadata.finalizers?.includes(finalizer) !== true) return undefined;
  pass.status = { ...pass.status, phase: nextPhase(pass.status.phase ?? '', 'DeletionStarted') };
  const desired = await crManager.getAllResources(pass.cr);
  await announce(pass, desired);
  const left = await deleteOwned(pass, desired);
  if (left > 0) return recheckMs;
  pass.status = { ...pass.status, phase: nextPhase(pass.status.phase ?? '', 'DeletionCompleted') };
  await writeStatus(pass);
  pass.isOver = true;
  await removeFinalizer(pass.live, pass.cr, { finalizer, signal: pass.signal });
  return undefined;
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
      await announceOne(pass, object);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `deletion of ${describeObject(object)} waits for its callback: ${why}`;
      pass.warn({ reason: 'DeleteResourceFailed', message }, object);
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} callbacks failed`);
}

async function announceOne<CR extends LifecycleObject>(
  { settings, logger, live: client, cr, signal, client: reads }: Pass<CR>,
  object: KubernetesObject,
): Promise<void> {
  const { dispatcher, recorder, namespace } = settings;
  if (dispatcher.handles?.(object) === false) return;
  const { apiVersion, kind } = object;
  const found = await getIfExists(reads, { apiVersion, kind }, keyOf(object), { signal });
  if (found?.metadata.deletionTimestamp !== undefined) return;
  const [desired, current] = [structuredClone(object), structuredClone(found)];
  const state = 'OPERATOR_DELETE' as const;
  const told = { logger, client, recorder, namespace, cr, state, desired, current, signal };
  await dispatcher.invokeCallbacks(told);
}

/** @returns how many are still there */
async function deleteOwned<CR extends LifecycleObject>(
  pass: Pass<CR>,
  desired: readonly KubernetesObject[],
): Promise<number> {
  const types = [...pass.settings.crManager.getDependantResourceTypes(), ...desired.map(typeOf)];
  const order = new Map(desired.map((object, place) => [identityOf(object), place]));
  // What an earlier version has made is the first to go.
  const place = (object: UnstructuredObject): number => order.get(identityOf(object)) ?? Infinity;
  const owned = await ownedObjects(pass, types);
  const last = owned.toSorted((one, other) => compare(place(other), place(one)));
  for (const object of last) {
    if (object.metadata.deletionTimestamp === undefined) {
      await deleteObject(pass, object, 'Background');
      const message = `deleted ${describeObject(object)}`;
      pass.tell({ type: 'Normal', reason: 'DeleteResourceSuccess', message }, object);
    }
  }
  return owned.length;
}

function typeOf({ apiVersion, kind }: KubernetesObject): { apiVersion: string; kind: string } {
  return { apiVersion, kind };
}

// Infinity minus itself is no number.
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
