import type { V1Job } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, isConditionTrue } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateNonnegative } from './field-values.js';
import { validateStatusIndexes } from './job-indexes.js';

type Job = Wire<V1Job>;
type JobStatus = NonNullable<Job['status']>;

const counters = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const;

/** Checks a written status of a Job: its values, what finished Jobs may have, and its changes. */
export function validateJobStatus(job: Job, old: Job, errors: FieldErrors): void {
  const states = { job, status: stateOf(job), before: stateOf(old) };
  for (const counter of counters) {
    validateNonnegative(job.status?.[counter], errors.at(`status.${counter}`));
  }
  validateStatusIndexes(job, old, errors);
  validateConditions(states, errors);
  validateTimes(states, errors);
  validateFinished(states, errors);
  validateChange(states, errors);
}

/** The status of a Job, with its conditions. */
interface State {
  readonly status: JobStatus;
  readonly isComplete: boolean;
  readonly isFailed: boolean;
  readonly isFailing: boolean;
  readonly isSuccessful: boolean;
  readonly isFinished: boolean;
}

function stateOf({ status = {} }: Job): State {
  const has = (type: string): boolean => isConditionTrue(status.conditions, type);
  const [isComplete, isFailed] = [has('Complete'), has('Failed')];
  return {
    ...{ status, isComplete, isFailed, isFinished: isComplete || isFailed },
    ...{ isFailing: has('FailureTarget'), isSuccessful: has('SuccessCriteriaMet') },
  };
}

interface States {
  readonly job: Job;
  readonly status: State;
  readonly before: State;
}

/**
 * Checks conditions that exclude or require each other. Most checks skip conditions that the write does not change.
 */
function validateConditions({ job, status, before }: States, errors: FieldErrors): void {
  const { isComplete, isFailed, isFailing, isSuccessful } = status;
  const refuse = (detail: string): void => errors.wrong('status.conditions', detail);
  const [completes, fails] = [isComplete !== before.isComplete, isFailed !== before.isFailed];
  if ((completes || fails) && isComplete && isFailed) {
    refuse('cannot set Complete=True and Failed=true conditions');
  }
  if ((completes || isFailing !== before.isFailing) && isComplete && isFailing) {
    refuse('cannot set Complete=True and FailureTarget=true conditions');
  }
  if (fails && isFailed && !isFailing) {
    refuse('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  const succeeds = isSuccessful !== before.isSuccessful;
  if ((completes || succeeds) && isComplete && !isSuccessful) {
    refuse('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
  if (isSuccessful && isFailed) {
    refuse('cannot set SuccessCriteriaMet=True and Failed=true conditions');
  }
  if (isSuccessful && isFailing) {
    refuse('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  }
  if (job.spec?.successPolicy !== undefined && !isSuccessful && isComplete) {
    refuse('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  }
}

function validateTimes({ status, before }: States, errors: FieldErrors): void {
  const { startTime, completionTime } = status.status;
  const isChanged = !deepEqual(completionTime, before.status.completionTime);
  if (isChanged || status.isComplete !== before.isComplete) {
    if (completionTime !== undefined && !status.isComplete) {
      const why = 'cannot set completionTime when there is no Complete=True condition';
      errors.invalid('status.completionTime', completionTime, why);
    }
    if (completionTime === undefined && status.isComplete) {
      errors.required('status.completionTime', 'completionTime is required for Complete jobs');
    }
  }
  const isMoved = isChanged || !deepEqual(startTime, before.status.startTime);
  if (!isMoved || startTime === undefined || completionTime === undefined) return;
  if (completionTime < startTime) {
    errors.invalid(
      'status.completionTime',
      completionTime,
      'must be equal to or after `startTime`',
    );
  }
}

function validateFinished({ job, status, before }: States, errors: FieldErrors): void {
  const { active = 0, ready = 0, terminating = 0, startTime } = status.status;
  const { status: old } = before;
  const finishes = status.isFinished !== before.isFinished;
  const isActiveChanged = active !== (old.active ?? 0);
  if ((finishes || isActiveChanged) && status.isFinished && active > 0) {
    errors.invalid('status.active', active, 'active>0 is invalid for finished job');
  }
  const isEmpty = job.spec?.suspend === true && job.spec.completions === 0;
  const starts = !deepEqual(startTime, old.startTime);
  if ((finishes || starts) && !isEmpty && status.isFinished && startTime === undefined) {
    errors.required('status.startTime', 'startTime is required for finished job');
  }
  const isTerminatingChanged = status.status.terminating !== old.terminating;
  if ((finishes || isTerminatingChanged) && status.isFinished && terminating > 0) {
    errors.invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job');
  }
  const isReadyChanged = status.status.ready !== old.ready;
  if ((isReadyChanged || isActiveChanged) && ready > active) {
    errors.invalid('status.ready', ready, 'cannot set more ready pods than active');
  }
}

/** Checks that a status neither ends a terminal condition nor decreases a counter. */
function validateChange({ job, status, before }: States, errors: FieldErrors): void {
  const { spec } = job;
  const refuse = (detail: string): void => errors.wrong('status.conditions', detail);
  const ends = [
    ['Failed', before.isFailed, status.isFailed],
    ['Complete', before.isComplete, status.isComplete],
    ['FailureTarget', before.isFailing, status.isFailing],
  ] as const;
  for (const [type, was, is] of ends) {
    if (was && !is) refuse(`cannot disable the terminal ${type}=True condition`);
  }
  const isScalable = spec?.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const counter of isScalable ? (['failed'] as const) : (['failed', 'succeeded'] as const)) {
    const [now = 0, then = 0] = [status.status[counter], before.status[counter]];
    if (now < then) {
      errors.invalid(`status.${counter}`, now, `cannot decrease the ${counter} counter`);
    }
  }
  validateTimeChange({ job, status, before }, errors);
  if (before.isSuccessful && !status.isSuccessful) {
    refuse('cannot disable the SuccessCriteriaMet=True condition');
  }
  if (before.isComplete && !before.isSuccessful && status.isSuccessful) {
    refuse('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  }
}

function validateTimeChange({ job, status, before }: States, errors: FieldErrors): void {
  const { startTime, completionTime, conditions = [] } = status.status;
  const { status: old } = before;
  const isMoved = completionTime !== undefined && old.completionTime !== undefined;
  if (isMoved && !deepEqual(completionTime, old.completionTime)) {
    errors.invalid('status.completionTime', completionTime, 'field is immutable');
  }
  const resumes =
    isConditionTrue(old.conditions, 'Suspended') &&
    conditions.some(({ type, status: is }) => type === 'Suspended' && is === 'False');
  const isRunning = job.spec?.suspend !== true && !resumes;
  if (isRunning && old.startTime !== undefined && !deepEqual(old.startTime, startTime)) {
    const why = 'field is immutable for unsuspended job once set';
    errors.invalid('status.startTime', startTime, why);
  }
}
