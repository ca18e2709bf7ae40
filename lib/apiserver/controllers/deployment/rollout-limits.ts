import type { Deployment } from '../../../object/kinds.js';
import { intOrPercent } from '../int-or-percent.js';

/** The limits within which a rollout may deviate from the desired number of pods. */
export interface RolloutLimits {
  /** The maximum number of pods above the desired number. */
  readonly maxSurge: number;
  /** The maximum number of pods below the desired number that may be unavailable. */
  readonly maxUnavailable: number;
}

/** Returns the limits of a Deployment's strategy with percentages resolved; both are 0 for `Recreate`. */
export function rolloutLimits(deployment: Deployment): RolloutLimits {
  const { strategy, replicas = 1 } = deployment.spec ?? {};
  if (strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = intOrPercent(maxSurge, replicas, 'up');
  const unavailable = intOrPercent(maxUnavailable, replicas, 'down');
  // Both limits may round to 0. One pod may then be unavailable, or the rollout could not proceed.
  const resolved = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge: surge, maxUnavailable: Math.min(resolved, replicas) };
}
