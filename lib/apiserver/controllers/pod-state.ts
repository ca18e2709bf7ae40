import { formatTime, findCondition, isApiError, ownerReferenceTo } from '../../object/index.js';
import type { Pod, ReplicaSet, KubernetesObject, ObjectMeta } from '../../object/index.js';
import { errorMessage } from '../../system/index.js';

/** Criteria for available pods. */
interface Availability {
  /** The time that a pod must have been ready, in seconds. */
  readonly minReadySeconds: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Returns the condition of `type`, if the pod has it. */
export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return findCondition(pod.status?.conditions, type);
}

export type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

/** Returns true if the condition `Ready` is true. */
export function isPodReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True';
}

/** Returns true if the pod is being deleted; its containers may still have their grace period. */
export function isPodTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** Returns true if the pod has succeeded or failed. Its containers never run again. */
export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Returns true if the pod counts as a replica: it is neither finished nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && !isPodTerminating(pod);
}

/** Returns true if the pod has been ready for long enough. */
export function isPodAvailable(pod: Pod, availability: Availability): boolean {
  return availableInMs(pod, availability) === 0;
}

/**
 * Returns the milliseconds until the pod is available if it stays ready: 0 if it is available now, undefined
 * if it is not ready.
 */
function availableInMs(pod: Pod, availability: Availability): number | undefined {
  const { minReadySeconds, nowMs } = availability;
  if (!isPodReady(pod)) return undefined;
  if (minReadySeconds === 0) return 0;
  const readyMs = timestampMs(podCondition(pod, 'Ready')?.lastTransitionTime);
  return Math.max(0, readyMs + minReadySeconds * 1000 - nowMs);
}

/** Returns the milliseconds until another of `pods` becomes available, or undefined if no pod is about to. */
export function nextAvailableInMs(
  pods: readonly Pod[],
  availability: Availability,
): number | undefined {
  const waits = pods
    .map((pod) => availableInMs(pod, availability))
    .filter((wait): wait is number => wait !== undefined && wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

export type PodTemplate = NonNullable<NonNullable<ReplicaSet['spec']>['template']>;

// A generated name gets five more letters. The whole name must be a valid label value, of at most 63 letters.
const longestPrefix = 58;

/** Returns the pod that `owner` creates from `template`. The server generates its name. */
export function podFromTemplate(template: PodTemplate, owner: KubernetesObject): Pod {
  const { namespace = '', name = '' } = owner.metadata;
  const { labels, annotations, finalizers } = (template.metadata ?? {}) as ObjectMeta;
  const metadata: ObjectMeta = {
    generateName: `${name}-`.slice(0, longestPrefix),
    namespace,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
    ownerReferences: [ownerReferenceTo(owner, { controller: true, blockOwnerDeletion: true })],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, ...(template.spec && { spec: template.spec }) };
}

/** Returns the transition time of a condition with the new `status`. The time changes with the status only. */
export function transitionTime(
  before: { readonly status: string; readonly lastTransitionTime?: string | undefined } | undefined,
  status: string,
  nowMs: number,
): string {
  const kept = before?.status === status ? before.lastTransitionTime : undefined;
  return kept ?? formatTime(nowMs);
}

/** Returns the milliseconds since 1970 of an RFC 3339 time, or 0 if it is absent or invalid. */
export function timestampMs(time: string | undefined): number {
  const ms = time === undefined ? NaN : Date.parse(time);
  return Number.isNaN(ms) ? 0 : ms;
}

/** Rounding of a percentage by {@link intOrPercent}. */
type Rounding = 'up' | 'down';

/**
 * Returns the number of an int-or-string field, which is a number or a percentage of `total`. Other strings
 * count as 0; the API server does not admit them.
 */
export function intOrPercent(
  value: string | number | undefined,
  total: number,
  rounding: Rounding,
): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return 0;
  const exact = (Number(percent) * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}

/** Returns a status field with a count, or no field if the count is zero, as Go's `omitempty` does. */
export function counted<Name extends string>(
  name: Name,
  count: number,
): Partial<Record<Name, number>> {
  return count === 0 ? {} : ({ [name]: count } as Record<Name, number>);
}

/** Returns the server's message for a refused write, or the message of any other error. */
export function failureMessage(error: unknown): string {
  if (isApiError(error)) return error.body.message ?? error.message;
  return errorMessage(error);
}
