import type { Job, Pod } from '../../../object/kinds.js';
import { counted } from '../counted.js';
import { isPodActive, isPodFinished, isPodReady, isPodTerminating } from '../pod-state.js';
import { timestamp, timestampMs } from '../timestamp.js';
import { formatIndexes, parseIndexes } from './index-ranges.js';
import { trueCondition, withJobCondition } from './job-conditions.js';
import type { JobCondition, JobStatement, JobStatus } from './job-conditions.js';
import type { JobOutcome, JobView } from './job-plan.js';
import { indexOf, isIndexed, trackingFinalizer } from './job-pods.js';
import type { JobPods } from './job-pods.js';

/** Sorts the pods of a Job by state. @param known - UIDs of the pods that are already counted */
export function sortPods(job: Job, all: readonly Pod[], known: ReadonlySet<string>): JobPods {
  const uncounted = all.filter(
    ({ metadata }) =>
      metadata.finalizers?.includes(trackingFinalizer) === true && !known.has(metadata.uid ?? ''),
  );
  const onlyFailed = replacesOnlyFailed(job);
  const hasFailed = (pod: Pod): boolean =>
    pod.status?.phase === 'Failed' ||
    (!onlyFailed && isPodTerminating(pod) && pod.status?.phase !== 'Succeeded');
  return {
    all,
    active: all.filter(isPodActive),
    newlySucceeded: uncounted.filter((pod) => pod.status?.phase === 'Succeeded'),
    newlyFailed: uncounted.filter(hasFailed),
  };
}

function replacesOnlyFailed(job: Job): boolean {
  return job.spec?.podReplacementPolicy === 'Failed';
}

/** Returns the status with the time of the latest start. */
export function startedStatus(job: Job, nowMs: number): JobStatus {
  const status = job.status ?? {};
  const suspended = job.spec?.suspend === true;
  const resumed = trueCondition(status.conditions ?? [], 'Suspended') !== undefined && !suspended;
  if (suspended || (status.startTime !== undefined && !resumed)) return status;
  return { ...status, startTime: timestamp(nowMs) };
}

/** Returns the input of the plan for a Job. */
export function jobView(
  job: Job,
  pods: JobPods,
  { nowMs, status }: { readonly nowMs: number; readonly status: JobStatus },
): JobView {
  const { parallelism = 1, completions, backoffLimit = 6, suspend } = job.spec ?? {};
  const { activeDeadlineSeconds } = job.spec ?? {};
  const suspended = suspend === true;
  const conditions = status.conditions ?? [];
  const indexes = succeededIndexes(job, pods.newlySucceeded);
  const deadlineMs =
    activeDeadlineSeconds === undefined || suspended
      ? undefined
      : timestampMs(status.startTime) + activeDeadlineSeconds * 1000;
  return {
    parallelism,
    completions,
    backoffLimit,
    suspended,
    deadlineMs,
    active: pods.active.length,
    terminating: countEnding(pods.all),
    replaceOnlyFailed: replacesOnlyFailed(job),
    succeeded: indexes?.size ?? (status.succeeded ?? 0) + pods.newlySucceeded.length,
    failed: (status.failed ?? 0) + pods.newlyFailed.length,
    decided: trueCondition(conditions, 'SuccessCriteriaMet')
      ? 'succeeded'
      : trueCondition(conditions, 'FailureTarget') && 'failed',
    nowMs,
  };
}

/** Returns the indexes that have succeeded; undefined for a Job without indexes. */
export function succeededIndexes(
  job: Job,
  newlySucceeded: readonly Pod[],
): Set<number> | undefined {
  if (!isIndexed(job)) return undefined;
  const indexes = parseIndexes(job.status?.completedIndexes);
  for (const pod of newlySucceeded) indexes.add(indexOf(pod) ?? -1);
  indexes.delete(-1);
  return indexes;
}

/** Input of `jobStatus`. */
export interface JobObservation {
  /** The pods at the time of the plan. */
  readonly pods: JobPods;
  /** The pods now. */
  readonly now: readonly Pod[];
  readonly started: JobStatus;
  /** The result of the Job, once it is known. */
  readonly outcome: JobOutcome | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Computes the status of a Job from its pods. */
export function jobStatus(job: Job, observation: JobObservation): JobStatus {
  const { pods, now, started } = observation;
  const active = now.filter(isPodActive);
  const indexes = succeededIndexes(job, pods.newlySucceeded);
  const succeeded = indexes?.size ?? (started.succeeded ?? 0) + pods.newlySucceeded.length;
  const { conditions, startTime, completionTime } = started;
  const status: JobStatus = {
    ...(conditions && { conditions }),
    ...(startTime !== undefined && { startTime }),
    ...(completionTime !== undefined && { completionTime }),
    ...counted('active', active.length),
    ...counted('succeeded', succeeded),
    ...counted('failed', (started.failed ?? 0) + pods.newlyFailed.length),
    ...(indexes !== undefined && { completedIndexes: formatIndexes(indexes) }),
    ready: active.filter(isPodReady).length,
    terminating: countEnding(now),
    uncountedTerminatedPods: {},
  };
  return withConditions(job, status, observation);
}

function countEnding(pods: readonly Pod[]): number {
  return pods.filter((pod) => isPodTerminating(pod) && !isPodFinished(pod)).length;
}

function withConditions(
  job: Job,
  status: JobStatus,
  done: { readonly outcome: JobOutcome | undefined; readonly nowMs: number },
): JobStatus {
  const { outcome, nowMs } = done;
  let conditions: JobCondition[] = [...(status.conditions ?? [])];
  const say = (statement: JobStatement): void => {
    conditions = withJobCondition(conditions, statement, nowMs);
  };
  if (outcome === undefined) {
    for (const statement of suspension(job, conditions)) say(statement);
    return conditions.length === 0 ? status : { ...status, conditions };
  }
  const succeeded = outcome.type === 'succeeded';
  const intent = succeeded ? 'SuccessCriteriaMet' : 'FailureTarget';
  const known = trueCondition(conditions, intent);
  const said = outcome.type === 'failed' ? outcome : completed;
  const { reason = known?.reason ?? '', message = known?.message ?? '' } = said;
  say({ type: intent, status: 'True', reason, message });
  // The Job has ended only when none of its pods runs.
  if ((status.active ?? 0) + (status.terminating ?? 0) > 0) return { ...status, conditions };
  say({ type: succeeded ? 'Complete' : 'Failed', status: 'True', reason, message });
  const completionTime = succeeded ? { completionTime: timestamp(nowMs) } : {};
  return { ...status, ...completionTime, conditions };
}

const completed = {
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
};

function suspension(job: Job, conditions: readonly JobCondition[]): JobStatement[] {
  const known = conditions.some(({ type }) => type === 'Suspended');
  if (job.spec?.suspend === true) {
    const said = { reason: 'JobSuspended', message: 'Job suspended' };
    return [{ type: 'Suspended', status: 'True', ...said }];
  }
  const said = { reason: 'JobResumed', message: 'Job resumed' };
  return known ? [{ type: 'Suspended', status: 'False', ...said }] : [];
}
