import type { Job } from '../../../object/kinds.js';
import { timestamp } from '../timestamp.js';

/** `status` of a Job. */
export type JobStatus = NonNullable<Job['status']>;
/** One of its `conditions`. */
export type JobCondition = NonNullable<JobStatus['conditions']>[number];

/** What a condition of a Job says. */
export interface JobStatement {
  readonly type: 'Complete' | 'Failed' | 'SuccessCriteriaMet' | 'FailureTarget' | 'Suspended';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The condition that says that the Job has ended: `Complete` or `Failed`. */
export function finishedCondition(job: Job): JobCondition | undefined {
  return job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
}

/** The condition of `type`, if it is true. */
export function trueCondition(
  conditions: readonly JobCondition[],
  type: JobStatement['type'],
): JobCondition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === 'True');
}

/** `conditions` with `statement`; nothing changes while status, reason and message stay. */
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
