import type { V1CronJob, V1Job, V1JobSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { defaultCronJob, defaultJobSpec } from '../defaulting/workloads.js';
import { validateCronJob, validateJob, validateJobUpdate } from '../validation/jobs.js';
import type { KindRules } from './kind-rules.js';
import { podWarnings } from './pod-warnings.js';
import { specChanged } from './spec-changed.js';
import { typedRules } from './typed-rules.js';

type Job = Wire<V1Job>;

const uidLabel = 'batch.kubernetes.io/controller-uid';

/** Selects the pods of a Job by its uid, unless the Job has its own selector. */
function generateSelector({ metadata, spec }: Job): void {
  if (metadata === undefined || spec === undefined || spec.manualSelector === true) return;
  const { name = '', uid = '' } = metadata;
  spec.template.metadata ??= {};
  const labels = (spec.template.metadata.labels ??= {});
  // Mutate in place: a Job that took its labels from the template gets these labels, too.
  labels[uidLabel] ??= uid;
  labels['batch.kubernetes.io/job-name'] ??= name;
  labels['controller-uid'] ??= uid;
  labels['job-name'] ??= name;
  metadata.labels ??= labels;
  spec.selector ??= {};
  spec.selector.matchLabels = { [uidLabel]: uid, ...spec.selector.matchLabels };
}

function templateWarnings(spec: Wire<V1JobSpec> | undefined, field: string): readonly string[] {
  const podSpec = spec?.template.spec;
  return podSpec === undefined ? [] : podWarnings(podSpec, `${field}.template.spec`);
}

const job = typedRules<Job>(
  {
    defaults: ({ metadata, spec }) => {
      if (spec === undefined) return;
      const { labels } = spec.template.metadata ?? {};
      if (labels !== undefined && metadata !== undefined) metadata.labels ??= labels;
      defaultJobSpec(spec, true);
    },
    prepareForCreate: generateSelector,
    validate: validateJob,
    validateUpdate: validateJobUpdate,
    warnings: ({ spec }, old) => (old === undefined ? templateWarnings(spec, 'spec') : []),
    selectableFields: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
  },
  { specChanged, orphansByDefault: false },
);

const cronJob = typedRules<Wire<V1CronJob>>(
  {
    defaults: defaultCronJob,
    validate: validateCronJob,
    warnings: ({ spec }) => templateWarnings(spec?.jobTemplate.spec, 'spec.jobTemplate.spec'),
  },
  { specChanged },
);

/** The rules of the batch group. */
export const batchRules: Readonly<Record<string, KindRules>> = {
  'batch/v1/Job': job,
  'batch/v1/CronJob': cronJob,
};
