import isEqual from 'lodash/isEqual.js';
import omit from 'lodash/omit.js';
import { getIfExists } from '../../client/get-if-exists.js';
import { isConflict, isNotFound } from '../../object/api-error.js';
import { createMergePatch } from '../../object/merge-patch.js';
import { keyOf } from '../../object/object-key.js';
import type { LifecycleCondition, LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

const maxAttempts = 3;

/**
 * Writes what the pass has found out, if it is anything new: that it was looked at again alone is
 * nothing new. Where somebody has written meanwhile what this pass did not look at, as a label, it is
 * tried again; else that is a conflict. A configuration that is gone has no status.
 */
export async function writeStatus<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const before = statusOf(pass, pass.cr);
  if (isEqual(before, withoutHeartbeats(pass.status))) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await patchStatus(pass);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt >= maxAttempts) throw error;
      const now = await read(pass);
      if (now === undefined) return;
      const isUntouched = isSameRequest(pass.cr, now) && isEqual(before, statusOf(pass, now));
      if (!isUntouched) throw error;
      pass.cr = now;
    }
  }
}

async function patchStatus<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const { crManager, subresourceEnabled } = pass.settings;
  const { uid, resourceVersion } = pass.cr.metadata;
  const changes = createMergePatch(pass.cr, crManager.withStatus(pass.cr, pass.status)) as {
    readonly metadata?: object;
  };
  const body = { ...changes, metadata: { ...changes.metadata, uid, resourceVersion } };
  pass.cr = await pass.live.patch(
    crManager.type,
    keyOf(pass.cr),
    { type: 'merge', body },
    { ...(subresourceEnabled && { subresource: 'status' }), signal: pass.signal },
  );
}

function read<CR extends LifecycleObject>({
  live,
  settings,
  cr,
  signal,
}: Pass<CR>): Promise<CR | undefined> {
  return getIfExists(live, settings.crManager.type, keyOf(cr), { signal });
}

/** Whether the pass would have found the same: neither its spec nor its life is another. */
function isSameRequest(one: LifecycleObject, other: LifecycleObject): boolean {
  const of = (cr: LifecycleObject): object => ({
    ...omit(cr, ['metadata', 'status']),
    uid: cr.metadata.uid,
    deleted: cr.metadata.deletionTimestamp,
  });
  return isEqual(of(one), of(other));
}

/** The lifecycle's part alone: what else an operator keeps in its status is its own. */
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
