import type { Pod } from '../../../object/kinds.js';
import { isPodReady, podCondition } from '../pod-state.js';
import { timestampMs } from '../timestamp.js';

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const phaseRanks: Readonly<Partial<Record<string, number>>> = {
  Pending: 0,
  Unknown: 1,
  Running: 2,
};

/**
 * Sorts pods in the order in which a ReplicaSet deletes them: without a node first, then the earlier phase,
 * not ready, the lower deletion cost, ready for a shorter time, more restarts, newer.
 */
export function podsInRemovalOrder(pods: readonly Pod[]): Pod[] {
  return pods
    .map((pod) => ({ pod, rank: removalRank(pod) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ pod }) => pod);
}

/** Returns the sort key of a pod: lower numbers go first, field by field. */
function removalRank(pod: Pod): readonly number[] {
  const ready = isPodReady(pod);
  const restarts = (pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount);
  return [
    (pod.spec?.nodeName ?? '') === '' ? 0 : 1,
    phaseRanks[pod.status?.phase ?? 'Pending'] ?? 0,
    ready ? 1 : 0,
    Number(pod.metadata.annotations?.[deletionCostAnnotation] ?? 0),
    ready ? -timestampMs(podCondition(pod, 'Ready')?.lastTransitionTime) : 0,
    -Math.max(0, ...restarts),
    -timestampMs(pod.metadata.creationTimestamp),
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [index, rank] of a.entries()) {
    const difference = rank - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
