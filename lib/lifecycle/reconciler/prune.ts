import { mayBePruned, pruneAnnotation } from '../../apply/index.js';
import { isStaleWrite } from '../../client/retry-on-conflict.js';
import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import {
  deleteObject,
  identityOf,
  ownedObjects,
  reportGone,
  waitUntilGone,
} from './owned-objects.js';
import { failureText, joined } from './failures.js';
import { invokeAfter, invokeCallbacks, retryAfterDeletion } from './user-code.js';
import { raise, settle } from './status.js';
import type { Pass } from './pass.js';
import type { SurveyedObject } from './survey.js';

/**
 * Deletes objects that an earlier version created for this configuration and that are no longer desired.
 * Considers only kinds that the operator names, and only objects with its version label. Keeps objects that
 * hold users' data until their pruning is allowed.
 * @returns whether a superfluous object still exists and is being deleted
 * @throws the errors, after all objects have been tried.
 */
export async function prune<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<boolean> {
  const errors: unknown[] = [];
  const refused: UnstructuredObject[] = [];
  let left = false;
  await retryAfterDeletion(pass).catch((error: unknown) => errors.push(error));
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

async function superfluousObjects<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<readonly UnstructuredObject[]> {
  const { crManager, createVersionLabel } = pass.settings;
  const desired = new Set(surveyed.map((one) => identityOf(one.desired)));
  // An object that a stale cache hides is pruned later, but not after an upgrade was reported as complete.
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

/** Kinds whose deletion also deletes users' data. */
const holders: readonly string[] = [
  ...['CustomResourceDefinition apiextensions.k8s.io', 'Namespace ', 'PersistentVolumeClaim '],
];

function verdictOn<CR extends LifecycleObject>(
  { settings }: Pass<CR>,
  object: UnstructuredObject,
): 'prune' | 'keep' | 'refuse' {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  // It is already being deleted: wait for it.
  if (deletionTimestamp !== undefined) return 'prune';
  const mark = annotations[pruneAnnotation];
  const [group = ''] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : [];
  if (!holders.includes(`${object.kind} ${group}`)) {
    return mayBePruned(object, { pruneClaims: undefined }) ? 'prune' : 'keep';
  }
  if (mark === 'false') return 'keep';
  return mark === 'true' || settings.mayPrune(object) ? 'prune' : 'refuse';
}

function refuse<CR extends LifecycleObject>(
  pass: Pass<CR>,
  objects: readonly UnstructuredObject[],
): void {
  if (objects.length === 0) {
    settle(pass, 'PruneRefused');
    return;
  }
  const names = objects.map((object) => describeObject(object)).join(', ');
  const remedy = `annotate them with ${pruneAnnotation}: "true" to prune them, or "false" to keep them`;
  const message = `kept, for users' objects would go with them: ${names}; ${remedy}`;
  if (!raise(pass, 'PruneRefused', { reason: 'HoldsData', message })) return;
  pass.tellOfStatus({ type: 'Warning', reason: 'PruneRefused', message });
}

/** @returns whether the object still exists */
async function remove<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: UnstructuredObject,
): Promise<boolean> {
  if (object.metadata.deletionTimestamp !== undefined) {
    waitUntilGone(pass, object);
    return true;
  }
  try {
    await invokeCallbacks(pass, 'PRE_DELETE', { current: structuredClone(object) });
    const left = await deleteObject(pass, object, 'Foreground');
    await invokeAfter(pass, 'POST_DELETE', { current: object });
    return left !== undefined;
  } catch (error) {
    // An object that changed after the verdict may be desired now: check it again.
    if (isStaleWrite(error)) throw error;
    const source = pass.sourceOf(error);
    const why = `${source === undefined ? '' : `${source}: `}${failureText(error, object)}`;
    const message = `could not delete ${describeObject(object)}: ${why}`;
    pass.fail(error, { reason: 'DeleteResourceFailed', message }, object);
    throw error;
  }
}
