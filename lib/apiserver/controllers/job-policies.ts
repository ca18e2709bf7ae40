import type { Job, Pod } from '../../object/index.js';
import { indexOf, parseIndexes } from './job-pods.js';
import type { JobOutcome } from './job-status.js';
import { isPodTerminating, timestampMs } from './pod-state.js';

/** The effect of a failed pod on its Job, by `podFailurePolicy`. */
interface FailureEffect {
  /** True if the failure counts towards the limits. */
  readonly counts: boolean;
  readonly failsIndex: boolean;
  /** The message of the Job that the pod fails; undefined if the Job continues. */
  readonly failsJob: string | undefined;
}

/** Returns the pods whose failures count towards the limits of a Job. */
export function countedFailures(job: Job, failed: readonly Pod[]): readonly Pod[] {
  return failed.filter((pod) => effectOf(job, pod).counts);
}

/** Returns the outcome of a Job that a rule of `podFailurePolicy` ends. */
export function outcomeByPods(job: Job, failed: readonly Pod[]): JobOutcome | undefined {
  for (const pod of failed) {
    const { failsJob: message } = effectOf(job, pod);
    if (message !== undefined) return { type: 'failed', reason: 'PodFailurePolicy', message };
  }
  return undefined;
}

/** Returns the indexes that have failed for good; undefined for a Job without `backoffLimitPerIndex`. */
export function failedIndexes(job: Job, newlyFailed: readonly Pod[]): Set<number> | undefined {
  const { backoffLimitPerIndex: limit, completions = 0 } = job.spec ?? {};
  if (limit === undefined) return undefined;
  const indexes = parseIndexes(job.status?.failedIndexes);
  for (const pod of newlyFailed) {
    const { counts, failsIndex } = effectOf(job, pod);
    const index = indexOf(pod);
    const isOver = failsIndex || (counts && numberIn(pod, countAnnotation) >= limit);
    if (index !== undefined && isOver) indexes.add(index);
  }
  return new Set([...indexes].filter((index) => index < completions));
}

/** Returns the outcome of a Job that its failed indexes or a rule of `successPolicy` end. */
export function outcomeByIndexes(
  { spec }: Job,
  succeeded: ReadonlySet<number>,
  failed: ReadonlySet<number> = new Set(),
): JobOutcome | undefined {
  const { completions = 0, maxFailedIndexes = Infinity, successPolicy } = spec ?? {};
  if (failed.size > maxFailedIndexes) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return { type: 'failed', reason: 'MaxFailedIndexesExceeded', message };
  }
  if (failed.size > 0 && failed.size + succeeded.size >= completions) {
    return { type: 'failed', reason: 'FailedIndexes', message: 'Job has failed indexes' };
  }
  const met = (successPolicy?.rules ?? []).findIndex(
    ({ succeededIndexes, succeededCount = Infinity }) => {
      if (succeededIndexes === undefined) return succeeded.size >= succeededCount;
      const wanted = parseIndexes(succeededIndexes);
      const reached = [...wanted].filter((index) => succeeded.has(index)).length;
      return reached > 0 && (reached === wanted.size || reached >= succeededCount);
    },
  );
  if (met === -1) return undefined;
  return { type: 'succeeded', reason: 'SuccessPolicy', message: `Matched rules at index ${met}` };
}

/** A failed pod that the next pod of its index replaces. */
export interface FailedAttempt {
  readonly pod: Pod;
  /** The number of failures of the index so far, including this one. */
  readonly failures: number;
  /** The time of the failure, in milliseconds since 1970. */
  readonly endedMs: number;
  /** The annotations with which the next pod counts the failures. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Returns the last failure of each index of a Job with `backoffLimitPerIndex`. */
export function lastFailures(job: Job, pods: readonly Pod[]): ReadonlyMap<number, FailedAttempt> {
  const last = new Map<number, FailedAttempt>();
  if (job.spec?.backoffLimitPerIndex === undefined) return last;
  for (const pod of pods) {
    const { phase } = pod.status ?? {};
    const index = indexOf(pod);
    if (index === undefined || !(phase === 'Failed' || isPodTerminating(pod))) continue;
    const attempt = attemptOf(job, pod);
    if ((last.get(index)?.failures ?? 0) < attempt.failures) last.set(index, attempt);
  }
  return last;
}

/** Returns the annotations of the first pod of an index. */
export function firstAnnotations({ spec }: Job): Readonly<Record<string, string>> {
  return spec?.backoffLimitPerIndex === undefined ? {} : { [countAnnotation]: '0' };
}

const countAnnotation = 'batch.kubernetes.io/job-index-failure-count';
const ignoredAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count';

function attemptOf(job: Job, pod: Pod): FailedAttempt {
  const { counts } = effectOf(job, pod);
  const counted = numberIn(pod, countAnnotation) + (counts ? 1 : 0);
  const ignored = numberIn(pod, ignoredAnnotation) + (counts ? 0 : 1);
  const ends = (pod.status?.containerStatuses ?? []).map(({ state }) =>
    timestampMs(state?.terminated?.finishedAt),
  );
  return {
    pod,
    failures: counted + ignored,
    endedMs: Math.max(timestampMs(pod.metadata.deletionTimestamp), ...ends),
    annotations: {
      [countAnnotation]: String(counted),
      ...(ignored > 0 && { [ignoredAnnotation]: String(ignored) }),
    },
  };
}

function numberIn(pod: Pod, annotation: string): number {
  const text = pod.metadata.annotations?.[annotation] ?? '';
  return /^\d+$/.test(text) ? Number(text) : 0;
}

/** Returns the effect of a failed pod, by the first rule that matches. */
function effectOf(job: Job, pod: Pod): FailureEffect {
  for (const [at, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const match = matchOf(rule, pod);
    if (match === undefined) continue;
    const { action } = rule;
    const failsJob = `${match} matching ${action} rule at index ${at}`;
    return {
      counts: action !== 'Ignore',
      failsIndex: action === 'FailIndex',
      failsJob: action === 'FailJob' ? failsJob : undefined,
    };
  }
  return { counts: true, failsIndex: false, failsJob: undefined };
}

type FailureRule = NonNullable<NonNullable<Job['spec']>['podFailurePolicy']>['rules'][number];

/** Returns a text that describes what a rule matches in a pod; undefined if it matches nothing. */
function matchOf({ onExitCodes, onPodConditions }: FailureRule, pod: Pod): string | undefined {
  const { metadata, status = {} } = pod;
  const name = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  if (onExitCodes === undefined) {
    const condition = status.conditions?.find(({ type, status: value }) =>
      onPodConditions?.some((one) => one.type === type && one.status === value),
    );
    return condition && `Pod ${name} has condition ${condition.type}`;
  }
  const { containerName, operator, values } = onExitCodes;
  const containers = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  for (const container of containers) {
    const exitCode = container.state?.terminated?.exitCode ?? 0;
    if (exitCode === 0 || (containerName ?? container.name) !== container.name) continue;
    if (values.includes(exitCode) !== (operator === 'In')) continue;
    return `Container ${container.name} for pod ${name} failed with exit code ${exitCode}`;
  }
  return undefined;
}
