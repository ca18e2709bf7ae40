import type { RolloutLimits } from './rollout-limits.js';

/** Input of a rolling update: a ReplicaSet. */
export interface ReplicaSetSize {
  readonly name: string;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** `status.availableReplicas`. */
  readonly available: number;
}

/** The state of a rolling update; `old` starts with the oldest ReplicaSet. */
export interface RollingUpdate extends RolloutLimits {
  readonly desired: number;
  readonly current: ReplicaSetSize;
  readonly old: readonly ReplicaSetSize[];
}

/** A ReplicaSet to scale. */
export interface ScaleStep {
  readonly name: string;
  readonly replicas: number;
}

/**
 * Returns the next steps of a rolling update; an empty list means to wait. The new ReplicaSet grows as far as
 * `maxSurge` allows. If it cannot grow, old ReplicaSets shrink as far as `maxUnavailable` allows, their
 * unavailable pods first.
 */
export function rollingUpdateSteps(update: RollingUpdate): ScaleStep[] {
  const { current } = update;
  const replicas = newReplicaSetSize(update);
  if (replicas !== current.replicas) return [{ name: current.name, replicas }];
  return oldReplicaSetSteps(update);
}

/** Returns the number of replicas that the new ReplicaSet may have now. */
export function newReplicaSetSize(update: RollingUpdate): number {
  const { desired, maxSurge, current, old } = update;
  if (current.replicas >= desired) return desired;
  const room = desired + maxSurge - (total(old) + current.replicas);
  return room <= 0 ? current.replicas : Math.min(desired, current.replicas + room);
}

function oldReplicaSetSteps(update: RollingUpdate): ScaleStep[] {
  const { desired, maxUnavailable, current, old } = update;
  if (total(old) === 0) return [];
  const minAvailable = desired - maxUnavailable;
  const newUnavailable = current.replicas - current.available;
  const maxScaledDown = total(old) + current.replicas - minAvailable - newUnavailable;
  if (maxScaledDown <= 0) return [];
  const healthy = withoutUnavailable(old, maxScaledDown);
  const available = [...healthy, current].reduce((sum, set) => sum + set.available, 0);
  const shrunk = shrinkOldestFirst(healthy, available - minAvailable);
  return shrunk
    .filter((set, index) => set.replicas !== old[index]?.replicas)
    .map(({ name, replicas }) => ({ name, replicas }));
}

/** Removes unavailable pods first. Otherwise a new rollout could never replace a broken one. */
function withoutUnavailable(old: readonly ReplicaSetSize[], limit: number): ReplicaSetSize[] {
  let left = limit;
  return old.map((set) => {
    const taken = Math.max(0, Math.min(left, set.replicas - set.available));
    left -= taken;
    return { ...set, replicas: set.replicas - taken };
  });
}

function shrinkOldestFirst(old: readonly ReplicaSetSize[], limit: number): ReplicaSetSize[] {
  let left = Math.max(0, limit);
  return old.map((set) => {
    const taken = Math.min(left, set.replicas);
    left -= taken;
    return { ...set, replicas: set.replicas - taken };
  });
}

function total(sets: readonly ReplicaSetSize[]): number {
  return sets.reduce((sum, { replicas }) => sum + replicas, 0);
}
