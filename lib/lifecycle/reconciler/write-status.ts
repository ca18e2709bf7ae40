import isEqual from 'lodash/isEqual.js';
import { createMergePatch } from '../../object/merge-patch.js';
import { keyOf } from '../../object/object-key.js';
import type { LifecycleCondition, LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/**
 * Writes what the pass has found out, if it is anything new: that it was looked at again alone is
 * nothing new. A configuration that changed meanwhile is a conflict.
 */
export async function writeStatus<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const { crManager, subresourceEnabled } = pass.settings;
  const before = crManager.status(pass.cr) ?? {};
  if (isEqual(withoutHeartbeats(before), withoutHeartbeats(pass.status))) return;
  const { uid, resourceVersion } = pass.cr.metadata;
  const changes = createMergePatch(pass.cr, crManager.withStatus(pass.cr, pass.status));
  const body = { ...changes, metadata: { uid, resourceVersion } };
  pass.cr = await pass.live.patch(
    crManager.type,
    keyOf(pass.cr),
    { type: 'merge', body },
    { ...(subresourceEnabled && { subresource: 'status' }), signal: pass.signal },
  );
}

function withoutHeartbeats(status: LifecycleStatus): object {
  const { conditions = [] } = status;
  return { ...status, conditions: conditions.map(withoutHeartbeat) };
}

function withoutHeartbeat(condition: LifecycleCondition): Partial<LifecycleCondition> {
  const entries = Object.entries(condition).filter(([name]) => name !== 'lastHeartbeatTime');
  return Object.fromEntries(entries);
}
