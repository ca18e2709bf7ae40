import type { Clock } from '../../system/clock.js';
import type { LifecycleCondition, LifecycleStatus } from '../lifecycle-status.js';
import {
  markDeploying,
  markFailed,
  markFailedHealing,
  markHealthy,
  markUpgradeHealingDegraded,
  setLifecycleCondition,
} from './marks.js';
import type { Explanation } from './marks.js';
import { isSameVersion } from '../upgrade/versions.js';

/** A problem of a system. */
export interface Trouble extends Explanation {
  /** Nothing is retried before a user acts. @defaultValue false: it is retried */
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
 * Returns `status` with the conditions for its phase and the findings. The only place that decides conditions
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
      return withAll(status, ['Available', 'Progressing', 'Degraded'], clock);
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
  message: 'what it owns is being deleted',
};

function failing(status: LifecycleStatus, trouble: Trouble, clock: Clock): LifecycleStatus {
  const mark = trouble.isBlocked === true ? markFailed : markFailedHealing;
  return mark(status, plain(trouble), clock).status;
}

/** A deployed system stays Available; only Degraded shows the problem. */
function deployed(
  status: LifecycleStatus,
  { trouble, waitingFor = [], clock }: Findings,
): LifecycleStatus {
  const { conditions = [] } = status;
  if (trouble !== undefined) {
    const degraded = { type: 'Degraded', status: 'True', ...plain(trouble) } as const;
    return { ...status, conditions: setLifecycleCondition(conditions, degraded, clock) };
  }
  const said = (type: string): LifecycleCondition | undefined =>
    conditions.find((one) => one.type === type);
  const [available, progressing] = [said('Available'), said('Progressing')];
  const isOver = waitingFor.length === 0 && !(available?.message ?? '').includes(waitsFor);
  if (available?.status !== 'True' || progressing?.status !== 'False' || !isOver) {
    return markHealthy(status, waiting(deployCompleted(status), waitingFor), clock).status;
  }
  return withAll(status, ['Degraded'], clock);
}

/** Sets all of `types` to False. */
function withAll(status: LifecycleStatus, types: readonly string[], clock: Clock): LifecycleStatus {
  const { conditions = [] } = status;
  const next = types.reduce(
    (list, type) => setLifecycleCondition(list, { type, status: 'False' }, clock),
    conditions,
  );
  return { ...status, conditions: next };
}

const waitsFor = '; waiting for ';

/** Further objects are counted, not named. */
const maxNamed = 10;

function waiting(why: Explanation, waitingFor: readonly string[]): Explanation {
  if (waitingFor.length === 0) return why;
  const named = waitingFor.slice(0, maxNamed).join('; ');
  const more = waitingFor.length - maxNamed;
  const rest = more > 0 ? `; and ${more} more` : '';
  return { ...why, message: `${why.message}${waitsFor}${named}${rest}` };
}

function plain({ reason, message }: Trouble): Explanation {
  return { reason, message };
}
