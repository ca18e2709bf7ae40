import type { Pod, StatefulSet } from '../../../object/kinds.js';
import { counted } from '../counted.js';
import { isPodAvailable, isPodReady, isPodTerminating } from '../pod-state.js';
import { revisionLabel } from './stateful-pod.js';

/** `status` of a StatefulSet. */
export type StatefulSetStatus = NonNullable<StatefulSet['status']>;

/** Input of `statefulSetStatus`. */
export interface StatefulSetObservation {
  readonly pods: readonly Pod[];
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Computes the status of a StatefulSet from its pods. */
export function statefulSetStatus(
  set: StatefulSet,
  observation: StatefulSetObservation,
): StatefulSetStatus {
  const { pods, currentRevision, updateRevision, collisionCount, nowMs } = observation;
  const { replicas = 1, minReadySeconds = 0, updateStrategy } = set.spec ?? {};
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const available = ready.filter((pod) => isPodAvailable(pod, { minReadySeconds, nowMs })).length;
  const ofRevision = (revision: string): number =>
    pods.filter((pod) => !isPodTerminating(pod) && revisionOf(pod) === revision).length;
  const updated = ofRevision(updateRevision);
  const complete =
    updateStrategy?.type !== 'OnDelete' &&
    [updated, ready.length, pods.length].every((count) => count === replicas);
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    ...counted('readyReplicas', ready.length),
    ...counted('currentReplicas', complete ? updated : ofRevision(currentRevision)),
    ...counted('updatedReplicas', updated),
    availableReplicas: available,
    currentRevision: complete ? updateRevision : currentRevision,
    updateRevision,
    collisionCount,
  };
}

/** Returns the name of a pod's ControllerRevision, or an empty string without one. */
export function revisionOf(pod: Pod): string {
  return pod.metadata.labels?.[revisionLabel] ?? '';
}
