import type { Pod, PodDisruptionBudget } from '../../../object/kinds.js';
import { intOrPercent } from '../int-or-percent.js';
import { isPodReady, isPodTerminating } from '../pod-state.js';
import { timestamp } from '../timestamp.js';

/** `status` of a PodDisruptionBudget. */
export type DisruptionStatus = NonNullable<PodDisruptionBudget['status']>;

/** Input of `disruptionStatus`. */
export interface DisruptionObservation {
  /** The selected pods that are not finished. */
  readonly pods: readonly Pod[];
  /** The total of the replicas that the controllers of those pods want. */
  readonly wantedReplicas: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Computes the status of a budget, with the number of pods that may be evicted now. */
export function disruptionStatus(
  budget: PodDisruptionBudget,
  observation: DisruptionObservation,
): DisruptionStatus {
  const { pods, nowMs } = observation;
  const { expectedPods, desiredHealthy } = expectation(budget, observation);
  const healthy = pods.filter((pod) => isPodReady(pod) && !isPodTerminating(pod)).length;
  const allowed = expectedPods <= 0 ? 0 : Math.max(0, healthy - desiredHealthy);
  const observedGeneration = budget.metadata.generation ?? 0;
  const before = budget.status?.conditions ?? [];
  const known = before.find(({ type }) => type === 'DisruptionAllowed');
  const status = allowed > 0 ? 'True' : 'False';
  const now = timestamp(nowMs);
  const condition = {
    type: 'DisruptionAllowed',
    status,
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
    lastTransitionTime: known?.status === status ? known.lastTransitionTime : now,
  };
  return {
    ...budget.status,
    currentHealthy: healthy,
    desiredHealthy,
    disruptionsAllowed: allowed,
    expectedPods,
    observedGeneration,
    conditions: [...before.filter((other) => other !== known), condition],
  };
}

function expectation(
  { spec }: PodDisruptionBudget,
  { pods, wantedReplicas }: DisruptionObservation,
): { readonly expectedPods: number; readonly desiredHealthy: number } {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    const missing = intOrPercent(maxUnavailable, wantedReplicas, 'up');
    return { expectedPods: wantedReplicas, desiredHealthy: Math.max(0, wantedReplicas - missing) };
  }
  if (typeof minAvailable === 'number') {
    return { expectedPods: pods.length, desiredHealthy: minAvailable };
  }
  const desiredHealthy = intOrPercent(minAvailable, wantedReplicas, 'up');
  return { expectedPods: wantedReplicas, desiredHealthy };
}
