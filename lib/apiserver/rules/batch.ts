import type { V1CronJob, V1Job, V1JobSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { largestInt32, validateNonnegative } from './field-values.js';
import { cronProblem, timeZoneProblems } from './cron-schedules.js';
import { validateIndexed } from './job-indexes.js';
import { validateJobPolicies } from './job-policies.js';
import { validateJobUpdate } from './job-updates.js';
import { validateJobStatus } from './job-status.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { refuseTemplateLabels, selects, validateLabelSelector } from './metadata.js';
import { defaultPodSpec, validatePodTemplate } from './pod-spec.js';
import { templateRules } from './pod.js';

type Job = Wire<V1Job>;

const uidLabel = 'batch.kubernetes.io/controller-uid';

/** Selects the pods of a Job by its uid, unless the Job has its own selector. */
function generateSelector({ metadata, spec }: Job): void {
  if (metadata === undefined || spec === undefined || spec.manualSelector === true) return;
  const { name = '', uid = '' } = metadata;
  spec.template.metadata ??= {};
  const hasEmptyLabels = hadEmptyMember(spec.template.metadata, 'labels');
  const labels = (spec.template.metadata.labels ??= {});
  // As on the real server, the Job also takes empty labels from its template.
  if (hasEmptyLabels) metadata.labels ??= labels;
  // Mutate in place: a Job that took its labels from the template gets these labels, too. A Job without labels in its
  // template gets them in reads only, see `completeNew`.
  labels[uidLabel] ??= uid;
  labels['batch.kubernetes.io/job-name'] ??= name;
  labels['controller-uid'] ??= uid;
  labels['job-name'] ??= name;
  spec.selector ??= {};
  spec.selector.matchLabels = { [uidLabel]: uid, ...spec.selector.matchLabels };
}

const ofTemplate = templateRules<Job>('spec.template.spec', ({ spec }) => spec?.template.spec);

const job = typedRules<Job>({
  ...ofTemplate,
  defaults: ({ metadata, spec }) => {
    if (spec === undefined) return;
    const { labels } = spec.template.metadata ?? {};
    if (labels !== undefined) metadata.labels ??= labels;
    defaultJobSpec(spec, true);
  },
  prepareForCreate: (object) => {
    ofTemplate.prepareForCreate(object);
    generateSelector(object);
  },
  completeNew: ({ metadata, spec }) => {
    const labels = spec?.template.metadata?.labels;
    if (metadata.labels !== undefined || labels === undefined) return false;
    metadata.labels = labels;
    return true;
  },
  validate: validateJob,
  validateUpdate: (object, old, errors) => {
    // The real server checks the spec of an update twice, and reports each problem twice.
    if (object.spec !== undefined) validateSelectedSpec(object.spec, errors);
    validateJobUpdate(object, old, errors);
  },
  selectableFields: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
  ...{ specChanged, defaultsMetadata: true },
  validateStatusUpdate: validateJobStatus,
  orphansByDefault: true,
  orphanWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
});

const cronJob = typedRules<Wire<V1CronJob>>({
  ...templateRules<Wire<V1CronJob>>(
    'spec.jobTemplate.spec.template.spec',
    ({ spec }) => spec?.jobTemplate.spec?.template.spec,
  ),
  defaults: defaultCronJob,
  validate: validateCronJob,
  specChanged,
});

export const batchRules: Readonly<Record<string, KindRules>> = {
  'batch/v1/Job': job,
  'batch/v1/CronJob': cronJob,
};

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

function validateJob({ metadata, spec }: Wire<V1Job>, errors: FieldErrors): void {
  if (spec === undefined) return;
  if (spec.manualSelector !== true) validateGenerated(metadata, spec, errors);
  validateSelectedSpec(spec, errors);
}

/** Checks the spec of a Job with the selector of its pods. */
function validateSelectedSpec(spec: JobSpec, errors: FieldErrors): void {
  validateJobSpec(spec, errors.at('spec'));
  if (spec.selector === undefined) errors.required('spec.selector');
  else validateLabelSelector(spec.selector, errors.at('spec.selector'));
  const { metadata } = spec.template;
  if (selects(spec.selector, metadata?.labels) === false) refuseTemplateLabels(metadata, errors);
}

const prefix = 'batch.kubernetes.io/';

/** Checks the generated selector and its labels. Without `manualSelector` they must have the server's values. */
function validateGenerated(
  { uid = '', name = '' }: { readonly uid?: string; readonly name?: string } = {},
  { template, selector }: JobSpec,
  errors: FieldErrors,
): void {
  if (selector === undefined) return;
  const labels = template.metadata?.labels ?? {};
  const expected = {
    ...{ 'controller-uid': uid, [`${prefix}controller-uid`]: uid },
    ...{ 'job-name': name, [`${prefix}job-name`]: name },
  };
  for (const [key, value] of Object.entries(expected)) {
    if (labels[key] === value) continue;
    const field = `spec.template.metadata.labels[${key}]`;
    const why = `must be '${value}'`;
    if (labels[key] === undefined) errors.required(field, why);
    else errors.invalid(field, labels, why);
  }
  if (selects(selector, expected) === false) {
    errors.invalid('spec.selector', selector, '`selector` not auto-generated');
  }
}

function validateJobSpec(spec: JobSpec, errors: FieldErrors): void {
  for (const count of counts) validateNonnegative(spec[count], errors.at(count));
  const { completionMode = 'NonIndexed', backoffLimitPerIndex, maxFailedIndexes } = spec;
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.required('backoffLimitPerIndex', 'when maxFailedIndexes is specified');
  }
  errors.oneOf('completionMode', completionMode, ['NonIndexed', 'Indexed']);
  if (completionMode === 'Indexed') validateIndexed(spec, errors);
  if (completionMode === 'NonIndexed') {
    const why = 'requires indexed completion mode';
    for (const member of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[member] !== undefined) errors.invalid(member, spec[member], why);
    }
  }
  validateJobPolicies(spec, errors);
  validatePodTemplate(spec.template, errors.at('template'));
  const { restartPolicy = 'Always' } = spec.template.spec ?? {};
  const path = 'template.spec.restartPolicy';
  if (restartPolicy === 'Always') errors.required(path, 'valid values: "OnFailure", "Never"');
  else errors.oneOf(path, restartPolicy, ['OnFailure', 'Never']);
  if (restartPolicy === 'OnFailure' && spec.podFailurePolicy !== undefined) {
    const why = 'only "Never" is supported when podFailurePolicy is specified';
    errors.invalid(path, restartPolicy, why);
  }
}

function validateCronJob(cronJob: Wire<V1CronJob>, errors: FieldErrors): void {
  const { spec, metadata } = cronJob;
  if (spec === undefined) return;
  const { name = '' } = metadata ?? {};
  if (name.length > 52) errors.invalid('metadata.name', name, 'must be no more than 52 characters');
  if (spec.schedule === '') errors.required('spec.schedule');
  else validateSchedule(spec.schedule, errors);
  errors.text('spec.timeZone', spec.timeZone, timeZoneProblems);
  validateNonnegative(spec.startingDeadlineSeconds, errors.at('spec.startingDeadlineSeconds'));
  const { concurrencyPolicy = '' } = spec;
  const policies = ['Allow', 'Forbid', 'Replace'];
  errors.oneOf('spec.concurrencyPolicy', concurrencyPolicy, policies);
  const { spec: jobSpec } = spec.jobTemplate;
  if (jobSpec !== undefined) {
    validateJobSpec(jobSpec, errors.at('spec.jobTemplate.spec'));
    if (jobSpec.selector !== undefined) {
      const why = '`selector` will be auto-generated';
      errors.invalid('spec.jobTemplate.spec.selector', jobSpec.selector, why);
    }
    if (jobSpec.manualSelector === true) {
      errors.notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']);
    }
  }
  validateNonnegative(
    spec.successfulJobsHistoryLimit,
    errors.at('spec.successfulJobsHistoryLimit'),
  );
  validateNonnegative(spec.failedJobsHistoryLimit, errors.at('spec.failedJobsHistoryLimit'));
}

function validateSchedule(text: string, errors: FieldErrors): void {
  const field = 'spec.schedule';
  if (text.includes('TZ')) {
    errors.invalid(field, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  }
  const problem = cronProblem(text);
  if (problem !== undefined) errors.invalid(field, text, problem);
}

/**
 * Fills in the defaults of a Job's spec, in place.
 * @param withJob - false for a CronJob's template.
 */
function defaultJobSpec(spec: Wire<V1JobSpec>, withJob: boolean): void {
  if (withJob) {
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    spec.parallelism ??= 1;
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : largestInt32;
    spec.completionMode ??= 'NonIndexed';
    spec.suspend ??= false;
    spec.podReplacementPolicy ??=
      spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
    spec.manualSelector ??= false;
  }
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
  }
  if (spec.template.spec !== undefined) defaultPodSpec(spec.template.spec);
}

function defaultCronJob({ spec }: Wire<V1CronJob>): void {
  if (spec === undefined) return;
  spec.concurrencyPolicy ??= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  if (spec.jobTemplate.spec !== undefined) defaultJobSpec(spec.jobTemplate.spec, false);
}
