import type { Pod } from '../../object/kinds.js';
import { timestampMs } from './timestamp.js';

/** When pods count as available. */
export interface Availability {
  /** How long a pod must have been ready, in seconds. */
  readonly minReadySeconds: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** The condition of `type`, if the pod has it. */
export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

/** One of `status.conditions` of a Pod. */
export type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

/** Its condition `Ready` is true. */
export function isPodReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True';
}

/** It is being deleted: its containers have their grace period. */
export function isPodTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** Succeeded or failed: its containers never run again. */
export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Neither finished nor being deleted: it counts as a replica. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && !isPodTerminating(pod);
}

/** Ready, and for long enough. */
export function isPodAvailable(pod: Pod, availability: Availability): boolean {
  return availableInMs(pod, availability) === 0;
}

/**
 * Milliseconds until the pod is available if it stays ready: 0 when it is, undefined when it is not
 * ready.
 */
export function availableInMs(pod: Pod, availability: Availability): number | undefined {
  const { minReadySeconds, nowMs } = availability;
  if (!isPodReady(pod)) return undefined;
  if (minReadySeconds === 0) return 0;
  const readyMs = timestampMs(podCondition(pod, 'Ready')?.lastTransitionTime);
  return Math.max(0, readyMs + minReadySeconds * 1000 - nowMs);
}

/** The shortest wait until one more of `pods` is available, or undefined when none is on its way. */
export function nextAvailableInMs(
  pods: readonly Pod[],
  availability: Availability,
): number | undefined {
  const waits = pods
    .map((pod) => availableInMs(pod, availability))
    .filter((wait): wait is number => wait !== undefined && wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
