import { placeCondition } from '../../object/conditions.js';
import { formatTime } from '../../object/micro-time.js';
import type { Clock } from '../../system/clock.js';
import type { LifecycleCondition, LifecycleStatus } from '../lifecycle-status.js';

/** The reason and message of a condition or an event. */
export interface Explanation {
  /** CamelCase, for machines, for example `DeployCompleted`. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

/** A status, and the event that reports it. */
export interface Marked {
  readonly status: LifecycleStatus;
  readonly event: Explanation & { readonly type: 'Normal' | 'Warning' };
}

type Value = LifecycleCondition['status'];

interface Mark {
  readonly available: Value;
  readonly progressing: Value;
  readonly degraded: Value;
  /** The condition that gets the reason and the message; the others get neither. */
  readonly on: 'Available' | 'Progressing' | 'Degraded';
  readonly event: 'Normal' | 'Warning';
}

// The conditions that the cluster-wide owner knows, for each state of a system.
const healthy: Mark = {
  ...{ available: 'True', progressing: 'False', degraded: 'False' },
  ...{ on: 'Available', event: 'Normal' },
};
const upgradeHealingDegraded: Mark = {
  ...{ available: 'True', progressing: 'True', degraded: 'True' },
  ...{ on: 'Degraded', event: 'Normal' },
};
const failed: Mark = {
  ...{ available: 'False', progressing: 'False', degraded: 'True' },
  ...{ on: 'Degraded', event: 'Warning' },
};
const failedHealing: Mark = {
  ...{ available: 'False', progressing: 'True', degraded: 'True' },
  ...{ on: 'Degraded', event: 'Warning' },
};
const deploying: Mark = {
  ...{ available: 'False', progressing: 'True', degraded: 'False' },
  ...{ on: 'Progressing', event: 'Normal' },
};

/** Marks the system as deployed and healthy: Available. */
export function markHealthy(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked(healthy, { status, why, clock });
}

/** Marks the system as deployed, and being upgraded or repaired: Available, Progressing and Degraded. */
export function markUpgradeHealingDegraded(
  status: LifecycleStatus,
  why: Explanation,
  clock: Clock,
): Marked {
  return marked(upgradeHealingDegraded, { status, why, clock });
}

/** Marks the system as not available, without further attempts: Degraded. */
export function markFailed(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked(failed, { status, why, clock });
}

/** Marks the system as not available, and being repaired: Progressing and Degraded. */
export function markFailedHealing(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked(failedHealing, { status, why, clock });
}

/** Marks the system as being deployed: Progressing. */
export function markDeploying(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked(deploying, { status, why, clock });
}

interface Marking {
  readonly status: LifecycleStatus;
  readonly why: Explanation;
  readonly clock: Clock;
}

function marked(mark: Mark, { status, why, clock }: Marking): Marked {
  const values = {
    Available: mark.available,
    Progressing: mark.progressing,
    Degraded: mark.degraded,
  };
  const conditions = Object.entries(values).reduce<readonly LifecycleCondition[]>(
    (list, [type, value]) => {
      const update = { type, status: value, ...(type === mark.on && why) };
      return setLifecycleCondition(list, update, clock);
    },
    status.conditions ?? [],
  );
  return { status: { ...status, conditions }, event: { ...why, type: mark.event } };
}

/** A condition to set; the clock provides its times. */
export type LifecycleConditionUpdate = Omit<
  LifecycleCondition,
  'lastHeartbeatTime' | 'lastTransitionTime'
>;

/**
 * Returns the conditions with `update` in its place, or at the end. Reason, message and `lastHeartbeatTime`
 * are always updated; `lastTransitionTime` changes only when the status flips.
 */
export function setLifecycleCondition(
  conditions: readonly LifecycleCondition[],
  update: LifecycleConditionUpdate,
  clock: Clock,
): readonly LifecycleCondition[] {
  const lastHeartbeatTime = formatTime(clock.now());
  return placeCondition<LifecycleCondition>(conditions, { ...update, lastHeartbeatTime }, clock);
}
