import { CronJob, Job } from '../../object/index.js';
import type { ChainNames } from '../chain-names.js';
import type { ChainedLink, ObjectOptions } from '../link.js';
import { objectLink, refuseFields } from './object-link.js';
import { podOptionNames, podTemplateOf, templateRemedy } from './pod-template.js';
import type { PodLink, PodOptions } from './pod-template.js';
import type { SpecOf } from './specified.js';

/** Options of {@link BuilderChain.job | Builder.job}. The pods' `restartPolicy` defaults to `Never`. */
export interface JobOptions<Names extends ChainNames = ChainNames, Name extends string = string>
  extends ObjectOptions<Name>, PodOptions<Names> {
  /** Further fields of the Job's `spec`, for which there is no other option. */
  readonly spec?: Partial<Omit<SpecOf<Job>, 'template'>> | undefined;
}

/**
 * Options of {@link BuilderChain.cronJob | Builder.cronJob}. The pods' `restartPolicy` defaults to `Never`.
 */
export interface CronJobOptions<Names extends ChainNames = ChainNames, Name extends string = string>
  extends ObjectOptions<Name>, PodOptions<Names> {
  /** Cron expression, for example `0 3 * * *`. */
  readonly schedule: string;
  /** Further fields of the `spec` of each Job, for which there is no other option. */
  readonly jobSpec?: Partial<Omit<SpecOf<Job>, 'template'>> | undefined;
  /** Further fields of the CronJob's `spec`, for which there is no other option. */
  readonly spec?: Partial<Omit<SpecOf<CronJob>, 'schedule' | 'jobTemplate'>> | undefined;
}

/** Returns the link of a Job, whose immutable template never carries hashes of ConfigMaps and Secrets. */
export function jobLink<Names extends ChainNames>(options: JobOptions<Names>): ChainedLink {
  refuseFields(`Job ${options.name}: spec`, options.spec, { template: templateRemedy });
  const { template, requires } = jobTemplateOf(options, { kind: Job.kind, others: podOptionNames });
  const body = { spec: { ...options.spec, template } };
  const link = objectLink(Job, options, body, podOptionNames);
  return { ...link, requires };
}

/** Returns the link of a CronJob. A changed ConfigMap takes effect at the next run. */
export function cronJobLink<Names extends ChainNames>(options: CronJobOptions<Names>): ChainedLink {
  const { schedule, spec = {}, jobSpec = {} } = options;
  const { kind } = CronJob;
  const subject = `${kind} ${options.name}`;
  refuseFields(`${subject}: jobSpec`, jobSpec, { template: templateRemedy });
  refuseFields(`${subject}: spec`, spec, {
    schedule: 'use the option schedule',
    jobTemplate: 'use the options jobSpec and podTemplate',
  });
  const { template, requires } = jobTemplateOf(options, { kind, others: cronJobOptionNames });
  const jobTemplate = { spec: { ...jobSpec, template } };
  const body = { spec: { ...spec, schedule, jobTemplate } };
  const link = objectLink(CronJob, options, body, cronJobOptionNames);
  return { ...link, requires };
}

const cronJobOptionNames = { ...podOptionNames, schedule: true, jobSpec: true };

function jobTemplateOf<Names extends ChainNames>(
  options: PodOptions<Names> & ObjectOptions,
  job: PodLink,
): ReturnType<typeof podTemplateOf> {
  const { template, requires } = podTemplateOf(options, {}, job);
  const spec = { restartPolicy: 'Never', ...template.spec } as NonNullable<typeof template.spec>;
  return { template: { ...template, spec }, requires };
}
