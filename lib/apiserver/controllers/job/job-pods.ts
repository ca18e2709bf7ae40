import type { Job, Pod } from '../../../object/kinds.js';
import { podFromTemplate } from '../pod-template.js';
import type { PodTemplate } from '../pod-template.js';

/** The finalizer that keeps a finished pod until the status counts it. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexAnnotation = 'batch.kubernetes.io/job-completion-index';

/** The pods of a Job by state. */
export interface JobPods {
  readonly all: readonly Pod[];
  readonly active: readonly Pod[];
  /** Pods that have succeeded and are not in the status yet. */
  readonly newlySucceeded: readonly Pod[];
  readonly newlyFailed: readonly Pod[];
}

/** Returns true if each pod of the Job has its own index. */
export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed';
}

/** Returns the index of an indexed Job's pod. */
export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexAnnotation];
  return text === undefined ? undefined : Number(text);
}

/** Returns a new pod of a Job. @param suffix - five letters that make the name of an indexed pod unique */
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

/** Returns the lowest `count` indexes that are not in `taken`. */
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
