import type { Job, Pod } from '../../object/index.js';
import { isPodFinished, isPodTerminating, podFromTemplate } from './pod-state.js';
import type { PodTemplate } from './pod-state.js';

/** The finalizer that keeps a finished pod until the status counts it. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexAnnotation = 'batch.kubernetes.io/job-completion-index';

export interface JobPods {
  readonly all: readonly Pod[];
  readonly active: readonly Pod[];
  /** Pods that have succeeded and are not in the status yet. */
  readonly newlySucceeded: readonly Pod[];
  readonly newlyFailed: readonly Pod[];
}

/** Returns true if a pod has the finalizer that a Job removes once it has counted the pod. */
export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) === true;
}

/** Returns true if the pod is being deleted and its containers have not ended. */
export function isPodEnding(pod: Pod): boolean {
  return isPodTerminating(pod) && !isPodFinished(pod);
}

/** Returns true if each pod of the Job has its own index. */
export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed';
}

/** Returns the index of an indexed Job's pod. */
export function indexOf(pod: Pod): number | undefined {
  const { [indexAnnotation]: text = '' } = pod.metadata.annotations ?? {};
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The parts of a pod that differ between the pods of a Job. */
interface JobPodParts {
  readonly index: number | undefined;
  /** Five letters that make the name of an indexed pod unique. */
  readonly suffix: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export function jobPod(job: Job, { index, suffix, annotations }: JobPodParts): Pod {
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
      annotations: { ...metadata.annotations, [indexAnnotation]: text, ...annotations },
    },
    spec: withIndex({ ...pod.spec, hostname: `${jobName}-${text}` } as PodSpec),
  };
}

type PodSpec = NonNullable<Pod['spec']>;
type Container = PodSpec['containers'][number];

function withIndex(spec: PodSpec): PodSpec {
  const fieldPath = `metadata.labels['${indexAnnotation}']`;
  const variable = { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath } } };
  const withVariable = (container: Container): Container => {
    const env = container.env ?? [];
    const known = env.some(({ name }) => name === variable.name);
    return known ? container : { ...container, env: [...env, variable] };
  };
  const { containers, initContainers } = spec;
  return {
    ...spec,
    containers: containers.map(withVariable),
    ...(initContainers && { initContainers: initContainers.map(withVariable) }),
  };
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

/** Parses a string such as `0-2,5`. */
export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',').filter(Boolean)) {
    const [first = NaN, last = first] = part.split('-').map(Number);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** Formats numbers as ascending ranges: `0-2,5`; only two in a row as `0,1`. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] ?? NaN) + 1) end++;
    const [first = 0, last = 0] = [sorted[at], sorted[end]];
    if (end === at) parts.push(String(first));
    else parts.push(end === at + 1 ? `${first},${last}` : `${first}-${last}`);
    at = end + 1;
  }
  return parts.join(',');
}
