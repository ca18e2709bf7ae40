import type { Deployment } from '../../../object/kinds.js';
import { conditionOf, withCondition } from './deployment-conditions.js';
import { progressDeadlineMs } from './deployment-status.js';

/**
 * Returns the Deployment with a `Progressing` condition that records a pause or its end. Without it, a
 * Deployment that was paused for longer than its progress deadline would be reported as stuck when it
 * resumes.
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
