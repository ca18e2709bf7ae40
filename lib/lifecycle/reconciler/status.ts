import { deepEqual } from '../../object/deep-equal.js';
import omit from 'lodash/omit.js';
import { isNotFound } from '../../object/api-error.js';
import { createMergePatch } from '../../object/merge-patch.js';
import { mergeStatus } from '../../status/index.js';
import { setLifecycleCondition } from '../conditions/marks.js';
import type { Explanation } from '../conditions/marks.js';
import type { LifecycleCondition, LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/** Conditions beside those of the cluster-wide owner. Each exists only while it is True. */
export type OwnCondition = 'DowngradeRefused' | 'PruneRefused' | 'Paused';

/** Sets a condition. @returns whether it is new or its message has changed */
export function raise<CR extends LifecycleObject>(
  pass: Pass<CR>,
  type: OwnCondition,
  why: Explanation,
): boolean {
  const before = pass.status.conditions ?? [];
  const known = before.find((one) => one.type === type);
  if (known?.status === 'True' && known.message === why.message) return false;
  const update = { type, status: 'True', ...why } as const;
  const conditions = setLifecycleCondition(before, update, pass.settings.clock);
  pass.status = { ...pass.status, conditions };
  return true;
}

/** Removes a condition. @returns whether it existed */
export function settle<CR extends LifecycleObject>(pass: Pass<CR>, type: OwnCondition): boolean {
  const { conditions = [] } = pass.status;
  const rest = conditions.filter((one) => one.type !== type);
  if (rest.length === conditions.length) return false;
  pass.status = { ...pass.status, conditions: rest };
  return true;
}

/**
 * Writes the status of the reconcile if it has changed, ignoring heartbeats. Does nothing if the
 * configuration is gone.
 */
export async function writeStatus<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const before = statusOf(pass, pass.cr);
  if (deepEqual(before, withoutHeartbeats(pass.status))) return;
  const { settings, live: client, signal } = pass;
  const { crManager, subresourceEnabled } = settings;
  const merge = {
    type: crManager.type,
    patch: (cr: CR) => createMergePatch(cr, crManager.withStatus(cr, pass.status)) as object,
    stands: (now: CR) => deepEqual(before, statusOf(pass, now)),
    ...(subresourceEnabled && { subresource: 'status' }),
  };
  try {
    pass.cr = await mergeStatus(pass.cr, merge, { client, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Compares the lifecycle's part only: the rest of the status belongs to the operator. */
function statusOf<CR extends LifecycleObject>({ settings }: Pass<CR>, cr: CR): object {
  return withoutHeartbeats(settings.crManager.status(cr) ?? {});
}

function withoutHeartbeats(status: LifecycleStatus): object {
  const { phase, operatorVersion, targetVersion, observedVersion, conditions = [] } = status;
  const versions = { operatorVersion, targetVersion, observedVersion };
  return { phase, ...versions, conditions: conditions.map(withoutHeartbeat) };
}

function withoutHeartbeat(condition: LifecycleCondition): Partial<LifecycleCondition> {
  return omit(condition, 'lastHeartbeatTime');
}
