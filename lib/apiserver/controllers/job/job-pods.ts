import type { Job, Pod } from '../../../object/kinds.js';
import { podFromTemplate } from '../pod-template.js';
import type { PodTemplate } from '../pod-template.js';

/** Keeps a finished pod until it was counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexAnnotation = 'batch.kubernetes.io/job-completion-index';

/** Pods of a Job, sorted by what counts. */
export interface JobPods {
  readonly all: readonly Pod[];
  readonly active: readonly Pod[];
  /** Ended, and not in the status yet. */
  readonly newlySucceeded: readonly Pod[];
  readonly newlyFailed: readonly Pod[];
}

/** Whether each pod of the Job has a number of its own. */
export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed';
}

/** The number of an indexed Job's pod. */
export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexAnnotation];
  return text === undefined ? undefined : Number(text);
}

/** The next pod of a Job. @param suffix - five letters that make an indexed pod's name unique */
export function jobPod(job: Job, index: number | undefined, suffix: string): Pod {
  const template: PodTemplate = job.spec?.template ?? {};
  const pod = podFromTemplate(template, job);
  const finalizers = [...(pod.metadata.finalizers ?? []), trackingFinalizer];
  if (index === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers } };
  const jobName = job.metadata.name ?? '';
  const text = String(index);
  const generateName = `${jobName}-${text}-`;
  const { metadata } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName,
      name: `${generateName}${suffix}`,
      finalizers,
      labels: { ...metadata.labels, [indexAnnotation]: text },
      annotations: { ...metadata.annotations, [indexAnnotation]: text },
    },
    spec: withIndex({ ...pod.spec, hostname: `${jobName}-${text}` } as PodSpec),
  };
}

type PodSpec = NonNullable<Pod['spec']>;

function withIndex(spec: PodSpec): PodSpec {
  const fieldPath = `metadata.labels['${indexAnnotation}']`;
  const variable = { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath } } };
  const containers = spec.containers.map((container) => {
    const env = container.env ?? [];
    const known = env.some(({ name }) => name === variable.name);
    return known ? container : { ...container, env: [...env, variable] };
  });
  return { ...spec, containers };
}

/** The lowest `count` numbers that neither run nor are done. */
export function missingIndexes(
  completions: number,
  taken: ReadonlySet<number>,
  count: number,
): number[] {
  const missing: number[] = [];
  for (let index = 0; index < completions && missing.length < count; index++) {
    if (!taken.has(index)) missing.push(index);
  }
  return missing;
}
