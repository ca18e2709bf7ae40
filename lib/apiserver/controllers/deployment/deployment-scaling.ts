import type { Deployment, ReplicaSet } from '../../../object/kinds.js';
import { timestampMs } from '../timestamp.js';
import { proportionalSteps } from './proportional-scaling.js';
import {
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  numberAnnotation,
} from './revision-annotations.js';
import type { ReplicaSetSize, RollingUpdate, ScaleStep } from './rolling-update.js';
import { rolloutLimits } from './rollout-limits.js';

/** A Deployment and its ReplicaSets; `old` starts with the oldest. */
export interface Rollout {
  readonly deployment: Deployment;
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** Returns true if `spec.replicas` of the Deployment changed since its ReplicaSets were scaled. */
export function isScalingEvent({ deployment, current, old }: Rollout): boolean {
  return active(current === undefined ? old : [...old, current]).some((set) => {
    const desired = numberAnnotation(set, desiredReplicasAnnotation);
    return desired !== undefined && desired !== desiredReplicas(deployment);
  });
}

/** Returns the steps for a Deployment that is paused or resized. Its rollout does not proceed meanwhile. */
export function scalingSteps(rollout: Rollout): ScaleStep[] {
  const { deployment, current, old } = rollout;
  const desired = desiredReplicas(deployment);
  const sets = active(current === undefined ? old : [...old, current]);
  if (sets.length <= 1) {
    const only = sets[0] ?? current ?? old.at(-1);
    return only === undefined ? [] : [{ name: nameOf(only), replicas: desired }];
  }
  if (current !== undefined && isSaturated(current, desired)) {
    return active(old).map((set) => ({ name: nameOf(set), replicas: 0 }));
  }
  if (deployment.spec?.strategy?.type === 'Recreate') return [];
  return proportionalSteps({
    desired,
    maxSurge: rolloutLimits(deployment).maxSurge,
    statusReplicas: deployment.status?.replicas ?? 0,
    active: sets.map((set) => ({
      name: nameOf(set),
      replicas: replicasOf(set),
      maxReplicas: numberAnnotation(set, maxReplicasAnnotation),
      createdMs: timestampMs(set.metadata.creationTimestamp),
    })),
  });
}

/** Returns the input of a rolling update. */
export function rollingUpdateOf(rollout: Rollout, current: ReplicaSet): RollingUpdate {
  const { deployment, old } = rollout;
  return {
    ...rolloutLimits(deployment),
    desired: desiredReplicas(deployment),
    current: sizeOf(current),
    old: active(old).map(sizeOf),
  };
}

/** Returns `spec.replicas` of a Deployment, by default 1. */
export function desiredReplicas(deployment: Deployment): number {
  return deployment.spec?.replicas ?? 1;
}

/** Returns `spec.replicas` of a ReplicaSet, by default 1. */
export function replicasOf(set: ReplicaSet): number {
  return set.spec?.replicas ?? 1;
}

function active(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0);
}

function sizeOf(set: ReplicaSet): ReplicaSetSize {
  const available = set.status?.availableReplicas ?? 0;
  return { name: nameOf(set), replicas: replicasOf(set), available };
}

function isSaturated(set: ReplicaSet, desired: number): boolean {
  return (
    replicasOf(set) === desired &&
    numberAnnotation(set, desiredReplicasAnnotation) === desired &&
    (set.status?.availableReplicas ?? 0) === desired
  );
}

function nameOf(set: ReplicaSet): string {
  return set.metadata.name ?? '';
}
