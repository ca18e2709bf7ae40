import type { Deployment } from '../../../object/kinds.js';
import { conditionOf, withCondition } from './deployment-conditions.js';
import { progressDeadlineMs } from './deployment-status.js';

/**
 * The Deployment with a `Progressing` condition that says whether it is paused: a Deployment that was
 * paused for longer than its deadline must not be reported as stuck when it goes on.
 */
export function withPauseCondition(deployment: Deployment, nowMs: number): Deployment {
  if (progressDeadlineMs(deployment) === undefined) return deployment;
  const conditions = deployment.status?.conditions ?? [];
  const reason = conditionOf(conditions, 'Progressing')?.reason;
  if (reason === 'ProgressDeadlineExceeded') return deployment;
  const paused = deployment.spec?.paused === true;
  if (paused === (reason === 'DeploymentPaused')) return deployment;
  const said = paused
    ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
  const statement = { type: 'Progressing', status: 'Unknown', ...said } as const;
  const status = { ...deployment.status, conditions: withCondition(conditions, statement, nowMs) };
  return { ...deployment, status };
}
