import { findCondition, placeCondition, formatTime } from '../object/index.js';
import type { Clock } from '../system/index.js';
import type { LifecycleCondition, LifecycleStatus } from './lifecycle-status.js';
import { isSameVersion } from './versions.js';

/** The reason and message of a condition or an event. */
export interface Explanation {
  /** CamelCase, for machines, for example `DeployCompleted`. */
  readonly reason: string;
  /** A message for people. */
  readonly message: string;
}

/** A status, and the event that reports it. */
export interface Marked {
  readonly status: LifecycleStatus;
  readonly event: Explanation & { readonly type: 'Normal' | 'Warning' };
}

/** The values of the conditions `Available`, `Progressing` and `Degraded`. */
type Values = readonly [available: boolean, progressing: boolean, degraded: boolean];

/** Marks the system as deployed and healthy: Available. */
export function markHealthy(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked([true, false, false], { status, why, clock });
}

/** Marks the system as deployed, and being upgraded or repaired: Available, Progressing and Degraded. */
export function markUpgradeHealingDegraded(
  status: LifecycleStatus,
  why: Explanation,
  clock: Clock,
): Marked {
  return marked([true, true, true], { status, why, clock });
}

/** Marks the system as not available, without further attempts: Degraded. */
export function markFailed(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked([false, false, true], { status, why, clock });
}

/** Marks the system as not available, and being repaired: Progressing and Degraded. */
export function markFailedHealing(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked([false, true, true], { status, why, clock });
}

/** Marks the system as being deployed: Progressing. */
export function markDeploying(status: LifecycleStatus, why: Explanation, clock: Clock): Marked {
  return marked([false, true, false], { status, why, clock });
}

interface Marking {
  readonly status: LifecycleStatus;
  readonly why: Explanation;
  readonly clock: Clock;
}

/** The last condition that is True gets the reason and the message; the others get neither. */
function marked([available, progressing, degraded]: Values, marking: Marking): Marked {
  const { status, why, clock } = marking;
  const on = degraded ? 'Degraded' : progressing ? 'Progressing' : 'Available';
  const values = { Available: available, Progressing: progressing, Degraded: degraded };
  const conditions = Object.entries(values).reduce<readonly LifecycleCondition[]>(
    (list, [type, value]) => {
      const update = { type, status: value ? 'True' : 'False', ...(type === on && why) } as const;
      return setLifecycleCondition(list, update, clock);
    },
    status.conditions ?? [],
  );
  const type = degraded && !available ? 'Warning' : 'Normal';
  return { status: { ...status, conditions }, event: { ...why, type } };
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

/** A problem of a system. */
export interface Trouble extends Explanation {
  /** True if the operator retries nothing until a user acts. @defaultValue false */
  readonly isBlocked?: boolean | undefined;
}

/** Inputs of {@link explainedStatus}. */
export interface Findings {
  /** Undefined if there is no problem. */
  readonly trouble?: Trouble | undefined;
  /** Objects that must roll out or be deleted first, with their progress. */
  readonly waitingFor?: readonly string[] | undefined;
  readonly clock: Clock;
}

/**
 * Returns `status` with the conditions for its phase and the findings. Only this function decides the conditions
 * between the beginning and the end of a phase.
 */
export function explainedStatus(
  status: LifecycleStatus,
  { trouble, waitingFor = [], clock }: Findings,
): LifecycleStatus {
  switch (status.phase ?? '') {
    case '':
      return trouble === undefined ? status : failing(status, trouble, clock);
    case 'Error':
      return trouble === undefined ? status : markFailed(status, plain(trouble), clock).status;
    case 'Deploying':
      if (trouble !== undefined) return failing(status, trouble, clock);
      return markDeploying(status, waiting(deployStarted(status), waitingFor), clock).status;
    case 'Upgrading': {
      const going = waiting(upgradeStarted(status), waitingFor);
      const why = trouble === undefined ? going : plain(trouble);
      return markUpgradeHealingDegraded(status, why, clock).status;
    }
    case 'Deployed':
      return deployed(status, { trouble, waitingFor, clock });
    case 'Deleting':
      if (trouble !== undefined) return failing(status, trouble, clock);
      return markDeploying(status, waiting(deletionStarted, waitingFor), clock).status;
    case 'Deleted':
      return allFalse(status, clock);
  }
}

/** Returns the explanation during a first deployment. */
export function deployStarted({ targetVersion = '' }: LifecycleStatus): Explanation {
  return { reason: 'DeployStarted', message: `deployment of ${targetVersion} has begun` };
}

/** Returns the explanation during an upgrade or a rollback. */
export function upgradeStarted(status: LifecycleStatus): Explanation {
  const { observedVersion = '', targetVersion = '' } = status;
  if (isSameVersion(observedVersion, targetVersion)) {
    return { reason: 'RollbackStarted', message: `rollback to ${targetVersion} has begun` };
  }
  const from = observedVersion === '' ? 'an unknown version' : observedVersion;
  return {
    reason: 'UpgradeStarted',
    message: `upgrade from ${from} to ${targetVersion} has begun`,
  };
}

/** Returns the explanation at the end of a deployment or an upgrade. */
export function deployCompleted({ targetVersion = '' }: LifecycleStatus): Explanation {
  return { reason: 'DeployCompleted', message: `${targetVersion} is deployed` };
}

const deletionStarted: Explanation = {
  reason: 'DeletionStarted',
  message: 'its objects are being deleted',
};

function failing(status: LifecycleStatus, trouble: Trouble, clock: Clock): LifecycleStatus {
  const mark = trouble.isBlocked === true ? markFailed : markFailedHealing;
  return mark(status, plain(trouble), clock).status;
}

/**
 * A deployed system stays Available; only Degraded shows the problem. A reason that the operator's own code has given
 * to Available stays too. Otherwise that code and this function would overwrite each other's reason in every
 * reconcile.
 */
function deployed(
  status: LifecycleStatus,
  { trouble, waitingFor = [], clock }: Findings,
): LifecycleStatus {
  const { conditions = [] } = status;
  if (trouble !== undefined) {
    const degraded = { type: 'Degraded', status: 'True', ...plain(trouble) } as const;
    return { ...status, conditions: setLifecycleCondition(conditions, degraded, clock) };
  }
  const why = waiting(deployCompleted(status), waitingFor);
  const shown = findCondition(conditions, 'Available');
  const { reason = '', message = '' } = shown?.status === 'True' ? shown : {};
  const isOwn = reason !== '' && reason !== why.reason;
  return markHealthy(status, isOwn ? { reason, message } : why, clock).status;
}

function allFalse(status: LifecycleStatus, clock: Clock): LifecycleStatus {
  const conditions = ['Available', 'Progressing', 'Degraded'].reduce(
    (list, type) => setLifecycleCondition(list, { type, status: 'False' }, clock),
    status.conditions ?? [],
  );
  return { ...status, conditions };
}

/** Further objects are counted, not named. */
const maxNamed = 10;

function waiting(why: Explanation, waitingFor: readonly string[]): Explanation {
  if (waitingFor.length === 0) return why;
  const named = waitingFor.slice(0, maxNamed).join('; ');
  const more = waitingFor.length - maxNamed;
  const rest = more > 0 ? `; and ${more} more` : '';
  return { ...why, message: `${why.message}; waiting for ${named}${rest}` };
}

function plain({ reason, message }: Trouble): Explanation {
  return { reason, message };
}

/**
 * Whether a condition flipped, was added or was removed. Ignores reasons, messages, times and the order.
 * @param before - the conditions of a status; undefined: it has none
 * @param after - the conditions of the next status; undefined: it has none
 */
export function conditionsChanged(
  before: readonly LifecycleCondition[] = [],
  after: readonly LifecycleCondition[] = [],
): boolean {
  if (before.length !== after.length) return true;
  return after.some(({ type, status }) => findCondition(before, type)?.status !== status);
}
