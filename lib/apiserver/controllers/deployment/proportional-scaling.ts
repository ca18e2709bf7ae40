import type { ScaleStep } from './rolling-update.js';

/** Input of proportional scaling: a ReplicaSet. */
export interface ScalableReplicaSet {
  readonly name: string;
  readonly replicas: number;
  /**
   * The annotation `max-replicas`: replicas plus surge of the Deployment when the ReplicaSet was last scaled.
   */
  readonly maxReplicas: number | undefined;
  readonly createdMs: number;
}

/** A Deployment that is scaled while several of its ReplicaSets have pods. */
export interface ProportionalScaling {
  readonly desired: number;
  readonly maxSurge: number;
  /** `status.replicas` of the Deployment. */
  readonly statusReplicas: number;
  /** The ReplicaSets with pods. */
  readonly active: readonly ScalableReplicaSet[];
}

/**
 * Distributes the replicas that a Deployment gains or loses among its ReplicaSets by their sizes, so that
 * neither the old nor the new version takes an undue part of the risk. When many small ReplicaSets shrink,
 * rounding may keep up to one replica too many in each. As in Kubernetes, the rollout removes those.
 */
export function proportionalSteps(scaling: ProportionalScaling): ScaleStep[] {
  const { desired, maxSurge, active } = scaling;
  const allowed = desired > 0 ? desired + maxSurge : 0;
  const missing = allowed - active.reduce((sum, { replicas }) => sum + replicas, 0);
  const bySize = active.toSorted((a, b) => compareSize(a, b, missing));
  let shared = 0;
  const sizes = bySize.map((set) => {
    const part = proportion(set, scaling, { missing, shared });
    shared += part;
    return { name: set.name, replicas: set.replicas + part };
  });
  // The largest ReplicaSet takes the remainder of the rounding, down to 0 replicas.
  return sizes.map(({ name, replicas }, index) => ({
    name,
    replicas: index === 0 ? Math.max(0, replicas + missing - shared) : replicas,
  }));
}

/**
 * Sorts larger ReplicaSets first. Of equal sizes, the newer one grows first and the older one shrinks first.
 */
function compareSize(a: ScalableReplicaSet, b: ScalableReplicaSet, missing: number): number {
  if (a.replicas !== b.replicas) return b.replicas - a.replicas;
  return missing > 0 ? b.createdMs - a.createdMs : a.createdMs - b.createdMs;
}

function proportion(
  set: ScalableReplicaSet,
  scaling: ProportionalScaling,
  { missing, shared }: { readonly missing: number; readonly shared: number },
): number {
  if (set.replicas === 0 || missing === shared) return 0;
  const fraction = fractionOf(set, scaling);
  const left = missing - shared;
  return missing > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

function fractionOf(set: ScalableReplicaSet, scaling: ProportionalScaling): number {
  const { desired, maxSurge, statusReplicas } = scaling;
  if (desired === 0) return -set.replicas;
  const before =
    set.maxReplicas === undefined || set.maxReplicas === 0 ? statusReplicas : set.maxReplicas;
  if (before === 0) return 0;
  return Math.round((set.replicas * (desired + maxSurge)) / before) - set.replicas;
}
