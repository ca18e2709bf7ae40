import { watchVerbs } from '../../manager/index.js';
import type { AccessVerb, RequiredAccess } from '../../manager/index.js';
import { Event } from '../../object/kinds.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Settings } from './settings.js';

const keepVerbs: readonly AccessVerb[] = [...watchVerbs, 'create', 'update', 'delete'];

/** What a reconciler does, whatever its hooks do. */
export function lifecycleAccess<CR extends LifecycleObject>({
  crManager,
  subresourceEnabled,
}: Pick<Settings<CR>, 'crManager' | 'subresourceEnabled'>): readonly RequiredAccess[] {
  const { type } = crManager;
  const status = subresourceEnabled ? { subresource: 'status' } : {};
  return [
    // Its finalizer is patched in.
    { type, verbs: [...watchVerbs, 'patch'] },
    { type, verbs: ['patch'], ...status },
    ...crManager.getDependantResourceTypes().map((each) => ({ type: each, verbs: keepVerbs })),
    { type: Event, verbs: ['create', 'patch'] },
  ];
}
