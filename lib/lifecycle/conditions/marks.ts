import { placeCondition } from '../../object/conditions.js';
import { formatTime } from '../../object/micro-time.js';
import type { Clock } from '../../system/clock.js';
import type { LifecycleCondition, LifecycleStatus } from '../lifecycle-status.js';

/** Why something is as it is. */
export interface Explanation {
  /** CamelCase, for machines, for example `DeployCompleted`. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

/** A status, and the event that tells of it. */
export interface Marked {
  readonly status: LifecycleStatus;
  readonly event: Explanation & { readonly type: 'Normal' | 'Warning' };
}

type Value = LifecycleCondition['status'];

interface Mark {
  readonly available: Value;
  readonly progressing: Value;
  readonly degraded: Value;
  /** The condition that has the reason and the message; the others have none. */
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

/** The system is there, and well: Available. */
export function markHealthy(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked(healthy, { status, why, clock });
}

/** The system is there while it is being upgraded or mended: Available, Progressing and Degraded. */
export function markUpgradeHealingDegraded(
  status: LifecycleStatus,
  why: Explanation,
  clock: Clock,
): Marked {
  return marked(upgradeHealingDegraded, { status, why, clock });
}

/** The system is not there, and nothing is being done: Degraded. */
export function markFailed(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked(failed, { status, why, clock });
}

/** The system is not there, and is being mended: Progressing and Degraded. */
export function markFailedHealing(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked(failedHealing, { status, why, clock });
}

/** The system is being made: Progressing. */
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
  const lastHeartbeatTime = formatTime(clock.now());
  return placeCondition<LifecycleCondition>(conditions, { ...update, lastHeartbeatTime }, clock);
}
