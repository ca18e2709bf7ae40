import type { Deployment, ReplicaSet } from '../../../object/kinds.js';
import { revisionOf } from './revision-annotations.js';

// A limit of this many means no limit.
const noLimit = 2 ** 31 - 1;

/** Returns the old ReplicaSets beyond `revisionHistoryLimit`, oldest revisions first; never one with pods. */
export function replicaSetsToPrune(
  deployment: Deployment,
  old: readonly ReplicaSet[],
): ReplicaSet[] {
  const limit = deployment.spec?.revisionHistoryLimit ?? noLimit;
  if (limit === noLimit) return [];
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = Math.max(0, alive.length - limit);
  const oldestFirst = alive.toSorted((a, b) => revisionOf(a) - revisionOf(b));
  return oldestFirst.slice(0, surplus).filter(isEmpty);
}

function isEmpty({ metadata, spec, status }: ReplicaSet): boolean {
  const observed = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return observed && (status?.replicas ?? 0) === 0 && spec?.replicas === 0;
}
