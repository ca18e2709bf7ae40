import type { V1CronJob, V1Job, V1JobSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { cronProblem, timeZoneProblem } from './cron.js';
import type { FieldErrors } from './field-errors.js';
import { validateImmutable } from './immutable.js';
import { selects } from './label-selector.js';
import { validateJobPolicies } from './job-policies.js';
import { validateNonnegative } from './numbers.js';
import { validatePodTemplate } from './pod-spec.js';

type JobSpec = Wire<V1JobSpec>;

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

/** Checks a Job. */
export function validateJob({ metadata, spec }: Wire<V1Job>, errors: FieldErrors): void {
  if (spec === undefined) return;
  if (spec.manualSelector !== true) validateGenerated(metadata, spec, errors);
  if (spec.selector === undefined) errors.required('spec.selector');
  validateJobSpec(spec, 'spec', errors);
  const labels = spec.template.metadata?.labels;
  if (selects(spec.selector, labels) === false) {
    const why = '`selector` does not match template `labels`';
    errors.invalid('spec.template.metadata.labels', labels, why);
  }
}

const prefix = 'batch.kubernetes.io/';

/**
 * Checks the generated selector and its labels. Without `manualSelector` they must have the
 * server's values.
 */
function validateGenerated(
  { uid = '', name = '' }: { readonly uid?: string; readonly name?: string } = {},
  { template, selector }: JobSpec,
  errors: FieldErrors,
): void {
  const labels = template.metadata?.labels ?? {};
  const expected = { 'controller-uid': uid, 'job-name': name };
  for (const [label, value] of Object.entries(expected)) {
    for (const key of [label, `${prefix}${label}`]) {
      if (labels[key] === value) continue;
      const field = `spec.template.metadata.labels[${key}]`;
      errors.invalid(field, labels, `must be '${value}'`);
    }
  }
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const generated =
    matchExpressions.length === 0 &&
    Object.entries(matchLabels).every(
      ([key, value]) => key.includes('controller-uid') && value === uid,
    );
  if (selector !== undefined && !generated) {
    errors.invalid('spec.selector', selector, '`selector` not auto-generated');
  }
}

function validateJobSpec(spec: JobSpec, field: string, errors: FieldErrors): void {
  for (const count of counts) validateNonnegative(spec[count], `${field}.${count}`, errors);
  const { completionMode = 'NonIndexed', completions, backoffLimitPerIndex } = spec;
  if (completionMode !== 'NonIndexed' && completionMode !== 'Indexed') {
    errors.notSupported(`${field}.completionMode`, completionMode, ['NonIndexed', 'Indexed']);
  }
  if (completionMode === 'Indexed' && completions === undefined) {
    errors.required(`${field}.completions`, 'when completion mode is Indexed');
  }
  if (completionMode === 'NonIndexed' && backoffLimitPerIndex !== undefined) {
    const why = 'requires indexed completion mode';
    errors.invalid(`${field}.backoffLimitPerIndex`, backoffLimitPerIndex, why);
  }
  validateJobPolicies(spec, field, errors);
  validatePodTemplate(spec.template, `${field}.template`, errors);
  const { restartPolicy = 'Always' } = spec.template.spec ?? {};
  const path = `${field}.template.spec.restartPolicy`;
  if (restartPolicy === 'Always') errors.required(path, 'valid values: "OnFailure", "Never"');
  else if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never') {
    errors.notSupported(path, restartPolicy, ['OnFailure', 'Never']);
  }
}

/** Checks the immutable fields of a Job. */
export function validateJobUpdate(job: Wire<V1Job>, old: Wire<V1Job>, errors: FieldErrors): void {
  const { spec } = job;
  const { spec: before } = old;
  if (spec === undefined || before === undefined) return;
  if (spec.completionMode !== 'Indexed') immutable('completions');
  immutable('selector');
  if (before.suspend !== true) immutable('template');
  immutable('completionMode');
  immutable('podFailurePolicy');
  immutable('backoffLimitPerIndex');
  immutable('managedBy');
  immutable('successPolicy');

  function immutable(member: keyof JobSpec): void {
    const change = { field: `spec.${member}`, value: spec?.[member], old: before?.[member] };
    validateImmutable(change, errors);
  }
}

/** Checks a CronJob. */
export function validateCronJob(cronJob: Wire<V1CronJob>, errors: FieldErrors): void {
  const { spec, metadata } = cronJob;
  if (spec === undefined) return;
  const { name = '' } = metadata ?? {};
  if (name.length > 52) {
    errors.invalid('metadata.name', name, 'must be no more than 52 characters');
  }
  if (spec.schedule === '') errors.required('spec.schedule');
  else validateSchedule(spec.schedule, errors);
  const { timeZone } = spec;
  const unknownZone = timeZone === undefined ? undefined : timeZoneProblem(timeZone);
  if (unknownZone !== undefined) errors.invalid('spec.timeZone', timeZone, unknownZone);
  validateNonnegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds', errors);
  const { concurrencyPolicy = '' } = spec;
  const policies = ['Allow', 'Forbid', 'Replace'];
  if (!policies.includes(concurrencyPolicy)) {
    errors.notSupported('spec.concurrencyPolicy', concurrencyPolicy, policies);
  }
  const { spec: jobSpec } = spec.jobTemplate;
  if (jobSpec !== undefined) {
    if (jobSpec.manualSelector === true) {
      const why = 'is not supported in CronJobs';
      errors.notSupported('spec.jobTemplate.spec.manualSelector', why, ['nil', 'false']);
    }
    validateJobSpec(jobSpec, 'spec.jobTemplate.spec', errors);
  }
  validateNonnegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit', errors);
  validateNonnegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit', errors);
}

function validateSchedule(text: string, errors: FieldErrors): void {
  const field = 'spec.schedule';
  if (text.includes('TZ')) {
    const why = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    errors.invalid(field, text, why);
    return;
  }
  const problem = cronProblem(text);
  if (problem !== undefined) errors.invalid(field, text, problem);
}
