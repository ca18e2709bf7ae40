import { getIfExists } from '../../client/get-if-exists.js';
import { isNotFound } from '../../object/api-error.js';
import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { CallbackState } from '../callbacks/callback.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { identityOf, ownedObjects } from './owned-objects.js';
import type { Pass } from './pass.js';
import type { SurveyedObject } from './survey.js';

/** What pruning came to. */
export interface Pruned {
  /** Whether something superfluous is still there. */
  readonly left: boolean;
  readonly errors: readonly unknown[];
}

/**
 * Deletes what an earlier version has made for this very configuration and nothing desires any more.
 * Only kinds that the operator names are looked at, and only objects with its version label.
 */
export async function prune<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<Pruned> {
  const { crManager, createVersionLabel } = pass.settings;
  const desired = new Set(surveyed.map((one) => identityOf(one.desired)));
  const owned = await ownedObjects(pass, crManager.getDependantResourceTypes());
  const superfluous = owned.filter(
    (object) =>
      object.metadata.labels?.[createVersionLabel] !== undefined &&
      !desired.has(identityOf(object)),
  );
  const errors: unknown[] = [];
  let left = false;
  for (const object of superfluous) {
    pass.signal.throwIfAborted();
    try {
      left = (await remove(pass, object)) || left;
    } catch (error) {
      errors.push(error);
    }
  }
  return { left, errors };
}

/** @returns whether it is still there */
async function remove<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: UnstructuredObject,
): Promise<boolean> {
  if (object.metadata.deletionTimestamp !== undefined) return true;
  try {
    await invoke(pass, 'PRE_DELETE', object);
    await deleteObject(pass, object, 'Foreground');
    const reference = { apiVersion: object.apiVersion, kind: object.kind };
    const { signal } = pass;
    const after = await getIfExists(pass.live, reference, keyOf(object), { signal });
    const message = `deleted ${describeObject(object)}`;
    pass.tell({ type: 'Normal', reason: 'DeleteResourceSuccess', message }, object);
    await invoke(pass, 'POST_DELETE', object);
    return after?.metadata.uid === object.metadata.uid;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `could not delete ${describeObject(object)}: ${why}`;
    pass.warn({ reason: 'DeleteResourceFailed', message }, object);
    throw error;
  }
}

/** Deletes this very object; one that is gone is fine. */
export async function deleteObject<CR extends LifecycleObject>(
  { live, signal }: Pass<CR>,
  object: UnstructuredObject,
  propagationPolicy: 'Foreground' | 'Background',
): Promise<void> {
  const { uid } = object.metadata;
  const preconditions = uid === undefined ? undefined : { uid };
  const reference = { apiVersion: object.apiVersion, kind: object.kind };
  try {
    await live.delete(reference, keyOf(object), { propagationPolicy, preconditions, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function invoke<CR extends LifecycleObject>(
  { settings, logger, live: client, cr, signal }: Pass<CR>,
  state: CallbackState,
  object: UnstructuredObject,
): Promise<void> {
  const { dispatcher, recorder, namespace } = settings;
  if (dispatcher.handles?.(object) === false) return;
  const current = structuredClone(object);
  const told = {
    logger,
    client,
    recorder,
    namespace,
    cr,
    state,
    desired: undefined,
    current,
    signal,
  };
  await dispatcher.invokeCallbacks(told);
}
