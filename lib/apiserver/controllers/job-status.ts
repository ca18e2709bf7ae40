import { formatTime } from '../../object/index.js';
import type { Job, Pod } from '../../object/index.js';
import type { ControllerEvent } from './controller-events.js';
import {
  formatIndexes,
  indexOf,
  isIndexed,
  isPodEnding,
  isTracked,
  parseIndexes,
} from './job-pods.js';
import type { JobPods } from './job-pods.js';
import { countedFailures, failedIndexes, outcomeByIndexes, outcomeByPods } from './job-policies.js';
import {
  counted,
  isPodActive,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  timestampMs,
} from './pod-state.js';

/** Sorts the pods of a Job by state. @param known - UIDs of the pods that are already counted */
export function sortPods(job: Job, all: readonly Pod[], known: ReadonlySet<string>): JobPods {
  const uncounted = all.filter((pod) => isTracked(pod) && !known.has(pod.metadata.uid ?? ''));
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
  return { ...status, startTime: formatTime(nowMs) };
}

/** Returns the data of a Job from which {@link jobPlan} plans the next step. */
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
    failed: (status.failed ?? 0) + countedFailures(job, pods.newlyFailed).length,
    byPods: outcomeByPods(job, pods.newlyFailed),
    byIndexes: indexes && outcomeByIndexes(job, indexes, failedIndexes(job, pods.newlyFailed)),
    restarts: restartsThatCount(job, pods.all),
    decided: trueCondition(conditions, 'SuccessCriteriaMet')
      ? 'succeeded'
      : trueCondition(conditions, 'FailureTarget') && 'failed',
    nowMs,
  };
}

/** Returns the restarts of containers that count as failures: those of pods that restart on failure. */
function restartsThatCount(job: Job, pods: readonly Pod[]): number {
  if (job.spec?.template.spec?.restartPolicy !== 'OnFailure') return 0;
  return pods
    .filter((pod) => !isPodFinished(pod))
    .flatMap(({ status = {} }) => [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Returns the indexes that have succeeded; undefined for a Job without indexes. */
export function succeededIndexes(
  job: Job,
  newlySucceeded: readonly Pod[],
): Set<number> | undefined {
  if (!isIndexed(job)) return undefined;
  const newly = newlySucceeded.flatMap((pod) => indexOf(pod) ?? []);
  const indexes = [...parseIndexes(job.status?.completedIndexes), ...newly];
  const { completions = 0 } = job.spec ?? {};
  return new Set(indexes.filter((index) => index < completions));
}

interface JobObservation {
  /** The pods before this reconcile created or deleted any. */
  readonly pods: JobPods;
  /** The pods after this reconcile created or deleted some. */
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
  const failed = failedIndexes(job, pods.newlyFailed);
  const { conditions, startTime, completionTime } = started;
  const status: JobStatus = {
    ...(conditions && { conditions }),
    ...(startTime !== undefined && { startTime }),
    ...(completionTime !== undefined && { completionTime }),
    ...counted('active', active.length),
    ...counted('succeeded', succeeded),
    ...counted('failed', (started.failed ?? 0) + countedFailures(job, pods.newlyFailed).length),
    ...(indexes !== undefined && { completedIndexes: formatIndexes(indexes) }),
    ...(failed !== undefined && { failedIndexes: formatIndexes(failed) }),
    ready: active.filter(isPodReady).length,
    terminating: countEnding(now),
    uncountedTerminatedPods: {},
  };
  return withConditions(job, status, observation);
}

function countEnding(pods: readonly Pod[]): number {
  return pods.filter(isPodEnding).length;
}

function withConditions(
  job: Job,
  status: JobStatus,
  { pods, outcome, nowMs }: JobObservation,
): JobStatus {
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
  const { reason = known?.reason ?? '', message = known?.message ?? '' } = outcome;
  say({ type: intent, status: 'True', reason, message });
  // Uses the pods from before this reconcile: pods that have ended since then are not counted yet.
  if (!pods.all.every(isPodFinished)) return { ...status, conditions };
  say({ type: succeeded ? 'Complete' : 'Failed', status: 'True', reason, message });
  const completionTime = succeeded ? { completionTime: formatTime(nowMs) } : {};
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

/** The data of a Job from which {@link jobPlan} plans the next step. */
export interface JobView {
  readonly parallelism: number;
  /**
   * The number of successes that complete the Job. If undefined, the Job is complete as soon as one pod has
   * succeeded and no pod is active.
   */
  readonly completions: number | undefined;
  readonly backoffLimit: number;
  readonly suspended: boolean;
  /** The deadline of the Job, in milliseconds since 1970; undefined without one. */
  readonly deadlineMs: number | undefined;
  /** The number of pods that run or wait to run. */
  readonly active: number;
  /** The number of pods that are being deleted. */
  readonly terminating: number;
  /** Replace pods only after they have ended, not while they are being deleted. */
  readonly replaceOnlyFailed: boolean;
  readonly succeeded: number;
  readonly failed: number;
  /** The outcome by the `podFailurePolicy`. */
  readonly byPods?: JobOutcome | undefined;
  /** The outcome by failed indexes and the `successPolicy`. */
  readonly byIndexes?: JobOutcome | undefined;
  /** The number of restarts of containers in pods with the `restartPolicy` `OnFailure`. */
  readonly restarts: number;
  /** The result of the Job that an earlier reconcile has recorded. */
  readonly decided: 'succeeded' | 'failed' | undefined;
  readonly nowMs: number;
}

/** The next step of a Job. */
type JobPlan =
  /** Delete all active pods and end the Job. */
  | { readonly type: 'end'; readonly outcome: JobOutcome }
  /** Create (positive) or delete (negative) this number of pods. */
  | { readonly type: 'scale'; readonly by: number };

/** The result of a Job. Absent fields keep the values of an earlier reconcile. */
export interface JobOutcome {
  readonly type: 'succeeded' | 'failed';
  readonly reason?: string;
  readonly message?: string;
}

/** Plans the next step of a Job: end it at a limit, end it because the work is done, or scale its pods. */
export function jobPlan(job: JobView): JobPlan {
  const outcome = outcomeOf(job);
  if (outcome !== undefined) return { type: 'end', outcome };
  return { type: 'scale', by: missingPods(job) };
}

function outcomeOf(job: JobView): JobOutcome | undefined {
  const { decided, failed, restarts, backoffLimit, deadlineMs, nowMs } = job;
  const { completions, succeeded, active } = job;
  if (decided !== undefined) return { type: decided };
  if (job.byPods !== undefined) return job.byPods;
  if (failed > backoffLimit || (restarts > 0 && restarts >= backoffLimit)) {
    const message = 'Job has reached the specified backoff limit';
    return { type: 'failed', reason: 'BackoffLimitExceeded', message };
  }
  if (deadlineMs !== undefined && nowMs >= deadlineMs) {
    const message = 'Job was active longer than specified deadline';
    return { type: 'failed', reason: 'DeadlineExceeded', message };
  }
  if (job.byIndexes !== undefined) return job.byIndexes;
  const done = completions === undefined ? succeeded > 0 && active === 0 : succeeded >= completions;
  return done ? { type: 'succeeded', ...completed } : undefined;
}

function missingPods(job: JobView): number {
  const { active, suspended, parallelism, completions, succeeded } = job;
  if (suspended) return -active;
  const wanted =
    completions === undefined
      ? succeeded > 0
        ? Math.min(active, parallelism)
        : parallelism
      : Math.min(completions - succeeded, parallelism);
  const counted = active + (job.replaceOnlyFailed ? job.terminating : 0);
  if (active > wanted) return wanted - active;
  return Math.max(0, wanted - counted);
}

export type JobStatus = NonNullable<Job['status']>;
type JobCondition = NonNullable<JobStatus['conditions']>[number];

/** A condition of a Job without its times. */
interface JobStatement {
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

/** Returns the events of a change of the status. */
export function jobEvents(before: Job, after: Job): Omit<ControllerEvent, 'about'>[] {
  const events: Omit<ControllerEvent, 'about'>[] = [];
  const [was, is] = [before, after].map(({ status }) =>
    status?.conditions?.find(({ type }) => type === 'Suspended'),
  );
  if (is?.status === 'True' && was?.status !== 'True') {
    events.push({ reason: 'Suspended', message: 'Job suspended' });
  }
  if (is?.status === 'False' && was?.status === 'True') {
    events.push({ reason: 'Resumed', message: 'Job resumed' });
  }
  const finished = finishedCondition(after);
  if (finished === undefined || finishedCondition(before) !== undefined) return events;
  if (finished.type === 'Failed') {
    const { reason = '', message = '' } = finished;
    return [...events, { type: 'Warning', reason, message }];
  }
  const { completions } = after.spec ?? {};
  if (completions !== undefined && (after.status?.succeeded ?? 0) > completions) {
    const message = 'Too many succeeded pods running after completion count reached';
    events.push({ type: 'Warning', reason: 'TooManySucceededPods', message });
  }
  return [...events, { reason: 'Completed', message: 'Job completed' }];
}

/** Returns the condition of `type`, if it is true. */
function trueCondition(
  conditions: readonly JobCondition[],
  type: JobStatement['type'],
): JobCondition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === 'True');
}

/** Returns `conditions` with `statement`. A condition with the same status and reason stays unchanged. */
function withJobCondition(
  conditions: readonly JobCondition[],
  statement: JobStatement,
  nowMs: number,
): JobCondition[] {
  const known = conditions.find(({ type }) => type === statement.type);
  const same = known?.status === statement.status && known.reason === statement.reason;
  if (same) return [...conditions];
  const now = formatTime(nowMs);
  const condition = { ...statement, lastProbeTime: now, lastTransitionTime: now };
  if (known === undefined) return [...conditions, condition];
  return conditions.map((other) => (other === known ? condition : other));
}
