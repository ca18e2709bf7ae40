import type { Deployment } from '../../../object/kinds.js';
import { intOrPercent } from '../int-or-percent.js';

/** How far a rollout may leave the desired number of pods. */
export interface RolloutLimits {
  /** Pods above the desired number. */
  readonly maxSurge: number;
  /** Pods below it that may be unavailable. */
  readonly maxUnavailable: number;
}

/** The limits of a Deployment's strategy, percentages resolved; none for `Recreate`. */
export function rolloutLimits(deployment: Deployment): RolloutLimits {
  const { strategy, replicas = 1 } = deployment.spec ?? {};
  if (strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = intOrPercent(maxSurge, replicas, 'up');
  const unavailable = intOrPercent(maxUnavailable, replicas, 'down');
  // A percentage may round down to nothing: then one pod may be missing, or nothing would move.
  const resolved = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge: surge, maxUnavailable: Math.min(resolved, replicas) };
}
