import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { deleteObject } from './delete-object.js';
import { failureText } from './failure-text.js';
import { invokeCallbacks } from './invoke-callbacks.js';
import { joined } from './joined-errors.js';
import { identityOf, ownedObjects } from './owned-objects.js';
import type { Pass } from './pass.js';
import type { SurveyedObject } from './survey.js';

/**
 * Deletes what an earlier version has made for this very configuration and nothing desires any more.
 * Only kinds that the operator names are looked at, and only objects with its version label.
 * @returns whether something superfluous is still there
 * @throws what went wrong, when all have been tried.
 */
export async function prune<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<boolean> {
  const errors: unknown[] = [];
  let left = false;
  for (const object of await superfluousObjects(pass, surveyed)) {
    pass.signal.throwIfAborted();
    try {
      left = (await remove(pass, object)) || left;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw joined(errors);
  return left;
}

async function superfluousObjects<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<readonly UnstructuredObject[]> {
  const { crManager, createVersionLabel } = pass.settings;
  const desired = new Set(surveyed.map((one) => identityOf(one.desired)));
  // What a cache has overlooked goes later, but not after it was said that an upgrade is complete.
  const client = pass.status.phase === 'Deployed' ? pass.client : pass.live;
  const types = crManager.getDependantResourceTypes();
  const owned = await ownedObjects(pass, { client, types });
  return owned.filter(
    (object) =>
      object.metadata.labels?.[createVersionLabel] !== undefined &&
      !desired.has(identityOf(object)),
  );
}

/** @returns whether it is still there */
async function remove<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: UnstructuredObject,
): Promise<boolean> {
  if (object.metadata.deletionTimestamp !== undefined) return true;
  const name = describeObject(object);
  try {
    await invokeCallbacks(pass, 'PRE_DELETE', { current: structuredClone(object) });
    const left = await deleteObject(pass, object, 'Foreground');
    const message = `deleted ${name}`;
    pass.tell({ type: 'Normal', reason: 'DeleteResourceSuccess', message }, object);
    await invokeCallbacks(pass, 'POST_DELETE', { current: structuredClone(object) });
    return left;
  } catch (error) {
    const source = pass.sourceOf(error);
    const why = `${source === undefined ? '' : `${source}: `}${failureText(error, object)}`;
    const message = `could not delete ${name}: ${why}`;
    pass.fail(error, { reason: 'DeleteResourceFailed', message }, object);
    throw error;
  }
}
