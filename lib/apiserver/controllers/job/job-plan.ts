/** Input of the plan: a Job. */
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
  /** Decision of an earlier reconcile. */
  readonly decided: 'succeeded' | 'failed' | undefined;
  readonly nowMs: number;
}

/** The next step of a Job. */
export type JobPlan =
  /** Delete all active pods and end the Job. */
  | { readonly type: 'end'; readonly outcome: JobOutcome }
  /** Create (positive) or delete (negative) this number of pods. */
  | { readonly type: 'scale'; readonly by: number };

/** The result of a Job. Absent fields keep the values of an earlier reconcile. */
export type JobOutcome =
  | { readonly type: 'succeeded' }
  | { readonly type: 'failed'; readonly reason?: string; readonly message?: string };

/** Plans the next step of a Job: end it at a limit, end it because the work is done, or scale its pods. */
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
