import { setLifecycleCondition } from '../conditions/set-lifecycle-condition.js';
import type { Explanation } from '../conditions/marks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/** Conditions beside those of the cluster-wide owner: each is there only while it is True. */
export type OwnCondition = 'DowngradeRefused' | 'PruneRefused' | 'Paused';

/** Sets a condition. @returns whether it is new, or says something new */
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

/** Takes a condition away. @returns whether it was there */
export function settle<CR extends LifecycleObject>(pass: Pass<CR>, type: OwnCondition): boolean {
  const { conditions = [] } = pass.status;
  const rest = conditions.filter((one) => one.type !== type);
  if (rest.length === conditions.length) return false;
  pass.status = { ...pass.status, conditions: rest };
  return true;
}
