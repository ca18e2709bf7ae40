import type { DaemonSet, Pod } from '../../../object/kinds.js';
import { counted } from '../counted.js';
import { isPodAvailable, isPodReady } from '../pod-state.js';

/** `status` of a DaemonSet. */
export type DaemonSetStatus = NonNullable<DaemonSet['status']>;

/** A node and the pods of the DaemonSet on it that are not finished, oldest first. */
export interface DaemonNode {
  readonly wanted: boolean;
  readonly pods: readonly Pod[];
}

/** Input of `daemonSetStatus`. */
export interface DaemonSetObservation {
  readonly nodes: readonly DaemonNode[];
  readonly isUpdated: (pod: Pod) => boolean;
  readonly collisionCount: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Computes the status of a DaemonSet from its pods. */
export function daemonSetStatus(
  set: DaemonSet,
  observation: DaemonSetObservation,
): DaemonSetStatus {
  const { nodes, isUpdated, collisionCount, nowMs } = observation;
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const wanted = nodes.filter((node) => node.wanted);
  const placed = wanted.filter(({ pods }) => pods.length > 0);
  const ready = placed.filter(({ pods }) => pods.some(isPodReady));
  const available = ready.filter(({ pods }) =>
    pods.some((pod) => isPodAvailable(pod, { minReadySeconds, nowMs })),
  ).length;
  return {
    currentNumberScheduled: placed.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: nodes.filter((node) => !node.wanted && node.pods.length > 0).length,
    numberReady: ready.length,
    observedGeneration: set.metadata.generation ?? 0,
    ...counted('updatedNumberScheduled', placed.filter(({ pods }) => pods.some(isUpdated)).length),
    ...counted('numberAvailable', available),
    ...counted('numberUnavailable', wanted.length - available),
    ...(collisionCount > 0 && { collisionCount }),
  };
}
