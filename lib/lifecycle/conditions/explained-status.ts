import type { Clock } from '../../system/clock.js';
import type { LifecycleCondition, LifecycleStatus } from '../lifecycle-status.js';
import {
  markDeploying,
  markFailed,
  markFailedHealing,
  markHealthy,
  markUpgradeHealingDegraded,
} from './marks.js';
import type { Explanation } from './marks.js';
import { setLifecycleCondition } from './set-lifecycle-condition.js';

/** What is wrong with a system. */
export interface Trouble extends Explanation {
  /** Nothing is done about it before somebody acts. @defaultValue false: it is tried again */
  readonly isBlocked?: boolean | undefined;
}

/**
 * `status` with the conditions that go with its phase and `trouble`, undefined where all is well; the
 * only thing that decides what conditions say between the beginning and the end of a phase.
 */
export function explainedStatus(
  status: LifecycleStatus,
  trouble: Trouble | undefined,
  clock: Clock,
): LifecycleStatus {
  switch (status.phase ?? '') {
    case '':
      return trouble === undefined ? status : failing(status, trouble, clock);
    case 'Error':
      return trouble === undefined ? status : markFailed(status, plain(trouble), clock).status;
    case 'Deploying':
      if (trouble !== undefined) return failing(status, trouble, clock);
      return markDeploying(status, deployStarted(status), clock).status;
    case 'Upgrading': {
      const why = trouble === undefined ? upgradeStarted(status) : plain(trouble);
      return markUpgradeHealingDegraded(status, why, clock).status;
    }
    case 'Deployed':
      return deployed(status, trouble, clock);
    case 'Deleting':
      if (trouble !== undefined) return failing(status, trouble, clock);
      return markDeploying(status, deletionStarted, clock).status;
    case 'Deleted':
      return withAll(status, ['Available', 'Progressing', 'Degraded'], clock);
  }
}

/** What is said from the beginning of a first deployment to its end. */
export function deployStarted({ targetVersion = '' }: LifecycleStatus): Explanation {
  return { reason: 'DeployStarted', message: `deployment of ${targetVersion} has begun` };
}

/** What is said from the beginning of an upgrade to its end. */
export function upgradeStarted(status: LifecycleStatus): Explanation {
  const { observedVersion = '', targetVersion = '' } = status;
  const from = observedVersion === '' ? 'an unknown version' : observedVersion;
  return {
    reason: 'UpgradeStarted',
    message: `upgrade from ${from} to ${targetVersion} has begun`,
  };
}

/** What is said at the end of either. */
export function deployCompleted({ targetVersion = '' }: LifecycleStatus): Explanation {
  return { reason: 'DeployCompleted', message: `${targetVersion} is deployed` };
}

const deletionStarted: Explanation = {
  reason: 'DeletionStarted',
  message: 'what it owns is being deleted',
};

function failing(status: LifecycleStatus, trouble: Trouble, clock: Clock): LifecycleStatus {
  const mark = trouble.isBlocked === true ? markFailed : markFailedHealing;
  return mark(status, plain(trouble), clock).status;
}

/** What runs goes on running: only Degraded says that it is not well. */
function deployed(
  status: LifecycleStatus,
  trouble: Trouble | undefined,
  clock: Clock,
): LifecycleStatus {
  const { conditions = [] } = status;
  if (trouble !== undefined) {
    const degraded = { type: 'Degraded', status: 'True', ...plain(trouble) } as const;
    return { ...status, conditions: setLifecycleCondition(conditions, degraded, clock) };
  }
  const said = (type: string): LifecycleCondition['status'] | undefined =>
    conditions.find((one) => one.type === type)?.status;
  if (said('Available') !== 'True' || said('Progressing') !== 'False') {
    return markHealthy(status, deployCompleted(status), clock).status;
  }
  return withAll(status, ['Degraded'], clock);
}

/** All of `types` are False. */
function withAll(status: LifecycleStatus, types: readonly string[], clock: Clock): LifecycleStatus {
  const { conditions = [] } = status;
  const next = types.reduce(
    (list, type) => setLifecycleCondition(list, { type, status: 'False' }, clock),
    conditions,
  );
  return { ...status, conditions: next };
}

function plain({ reason, message }: Trouble): Explanation {
  return { reason, message };
}
