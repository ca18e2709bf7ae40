import type { Job } from '../../../object/kinds.js';
import { timestamp } from '../timestamp.js';

/** `status` of a Job. */
export type JobStatus = NonNullable<Job['status']>;
/** One of `status.conditions` of a Job. */
export type JobCondition = NonNullable<JobStatus['conditions']>[number];

/** A condition of a Job without its times. */
export interface JobStatement {
  readonly type: 'Complete' | 'Failed' | 'SuccessCriteriaMet' | 'FailureTarget' | 'Suspended';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Returns the condition that marks the end of the Job, `Complete` or `Failed`, if one is true. */
export function finishedCondition(job: Job): JobCondition | undefined {
  return job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
}

/** Returns the condition of `type`, if it is true. */
export function trueCondition(
  conditions: readonly JobCondition[],
  type: JobStatement['type'],
): JobCondition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === 'True');
}

/** Returns `conditions` with `statement`. A condition with the same status and reason stays unchanged. */
export function withJobCondition(
  conditions: readonly JobCondition[],
  statement: JobStatement,
  nowMs: number,
): JobCondition[] {
  const known = conditions.find(({ type }) => type === statement.type);
  const same = known?.status === statement.status && known.reason === statement.reason;
  if (same) return [...conditions];
  const now = timestamp(nowMs);
  const condition = { ...statement, lastProbeTime: now, lastTransitionTime: now };
  if (known === undefined) return [...conditions, condition];
  return conditions.map((other) => (other === known ? condition : other));
}
