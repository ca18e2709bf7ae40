/** What the plan needs to know of a Job. */
export interface JobView {
  readonly parallelism: number;
  /** Absent: the Job is done as soon as one pod succeeded and none runs any more. */
  readonly completions: number | undefined;
  readonly backoffLimit: number;
  readonly suspended: boolean;
  /** Milliseconds since 1970 by which the Job must have ended. */
  readonly deadlineMs: number | undefined;
  /** Pods that run or wait to run. */
  readonly active: number;
  /** Pods being deleted. */
  readonly terminating: number;
  /** A pod is replaced only when it has ended, not when it is being deleted. */
  readonly replaceOnlyFailed: boolean;
  readonly succeeded: number;
  readonly failed: number;
  /** What an earlier reconcile decided. */
  readonly decided: 'succeeded' | 'failed' | undefined;
  readonly nowMs: number;
}

/** What a Job does next. */
export type JobPlan =
  /** All pods that still run are deleted, then the Job has ended. */
  | { readonly type: 'end'; readonly outcome: JobOutcome }
  /** Pods are created (positive) or deleted (negative). */
  | { readonly type: 'scale'; readonly by: number };

/** How a Job ends; undefined fields: as an earlier reconcile said. */
export type JobOutcome =
  | { readonly type: 'succeeded' }
  | { readonly type: 'failed'; readonly reason?: string; readonly message?: string };

/** What a Job does next: end by a limit, end because the work is done, or run pods. */
export function jobPlan(job: JobView): JobPlan {
  const outcome = outcomeOf(job);
  if (outcome !== undefined) return { type: 'end', outcome };
  return { type: 'scale', by: missingPods(job) };
}

function outcomeOf(job: JobView): JobOutcome | undefined {
  const { decided, failed, backoffLimit, deadlineMs, nowMs, completions, succeeded, active } = job;
  if (decided !== undefined) return { type: decided };
  if (failed > backoffLimit) {
    const message = 'Job has reached the specified backoff limit';
    return { type: 'failed', reason: 'BackoffLimitExceeded', message };
  }
  if (deadlineMs !== undefined && nowMs >= deadlineMs) {
    const message = 'Job was active longer than specified deadline';
    return { type: 'failed', reason: 'DeadlineExceeded', message };
  }
  const done = completions === undefined ? succeeded > 0 && active === 0 : succeeded >= completions;
  return done ? { type: 'succeeded' } : undefined;
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
