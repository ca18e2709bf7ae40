import { formatTime } from '../../object/micro-time.js';
import type { Clock } from '../../system/clock.js';
import type { LifecycleCondition } from '../lifecycle-status.js';

/** A condition to be set; its times are of the clock. */
export type LifecycleConditionUpdate = Omit<
  LifecycleCondition,
  'lastHeartbeatTime' | 'lastTransitionTime'
>;

/**
 * The conditions with `update` among them: in its place, or at the end. Reason, message and
 * `lastHeartbeatTime` are always as of now; `lastTransitionTime` moves only when the status flips.
 */
export function setLifecycleCondition(
  conditions: readonly LifecycleCondition[],
  update: LifecycleConditionUpdate,
  clock: Clock,
): readonly LifecycleCondition[] {
  const now = formatTime(clock.now());
  const current = conditions.find(({ type }) => type === update.type);
  const flips = current?.status !== update.status;
  const next = {
    ...update,
    lastHeartbeatTime: now,
    lastTransitionTime: flips ? now : (current.lastTransitionTime ?? now),
  };
  if (current === undefined) return [...conditions, next];
  return conditions.map((condition) => (condition === current ? next : condition));
}
