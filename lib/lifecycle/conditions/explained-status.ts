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

/** What is wrong with a system. */
export interface Trouble extends Explanation {
  /** Nothing is done about it before somebody acts. @defaultValue false: it is tried again */
  readonly isBlocked?: boolean | undefined;
}

/** Inputs of {@link explainedStatus}. */
export interface Findings {
  /** Undefined: all is well. */
  readonly trouble?: Trouble | undefined;
  /** Objects that have to roll out or go first, and how far they are. */
  readonly waitingFor?: readonly string[] | undefined;
  readonly clock: Clock;
}

/**
 * `status` with the conditions that go with its phase and the findings; the only place that decides
 * conditions between the beginning and the end of a phase.
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

/** What is said from the beginning of a first deployment to its end. */
export function deployStarted({ targetVersion = '' }: LifecycleStatus): Explanation {
  return { reason: 'DeployStarted', message: `deployment of ${targetVersion} has begun` };
}

/** What is said from the beginning of an upgrade, or of the way back, to its end. */
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

/** All of `types` are False. */
function withAll(status: LifecycleStatus, types: readonly string[], clock: Clock): LifecycleStatus {
  const { conditions = [] } = status;
  const next = types.reduce(
    (list, type) => setLifecycleCondition(list, { type, status: 'False' }, clock),
    conditions,
  );
  return { ...status, conditions: next };
}

const waitsFor = '; waiting for ';

/** More are counted, not named. */
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
