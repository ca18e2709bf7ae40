import type { Pod, ReplicaSet } from '../../../object/kinds.js';
import { counted } from '../counted.js';
import { isPodActive, isPodAvailable, isPodReady, isPodTerminating } from '../pod-state.js';
import { timestamp } from '../timestamp.js';

/** `status` of a ReplicaSet. */
export type ReplicaSetStatus = NonNullable<ReplicaSet['status']>;

/** Input of `replicaSetStatus`. */
export interface ReplicaSetOutcome {
  readonly pods: readonly Pod[];
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** The reason why some pods could not be created or deleted. */
  readonly failure?: { readonly reason: string; readonly message: string } | undefined;
}

/** Computes the status of a ReplicaSet from its pods. */
export function replicaSetStatus(set: ReplicaSet, outcome: ReplicaSetOutcome): ReplicaSetStatus {
  const { pods, nowMs } = outcome;
  const { generation = 0 } = set.metadata;
  const active = pods.filter(isPodActive);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const labels = Object.entries(set.spec?.template?.metadata?.labels ?? {});
  const labeled = active.filter(({ metadata }) =>
    labels.every(([key, value]) => metadata.labels?.[key] === value),
  );
  const available = active.filter((pod) => isPodAvailable(pod, { minReadySeconds, nowMs }));
  const conditions = failureConditions(set, outcome);
  // Omits zero counts, as Go's `omitempty` does, except `replicas` and `terminatingReplicas`.
  return {
    replicas: active.length,
    ...(labeled.length > 0 && { fullyLabeledReplicas: labeled.length }),
    ...counted('readyReplicas', active.filter(isPodReady).length),
    ...counted('availableReplicas', available.length),
    terminatingReplicas: pods.filter(isPodTerminating).length,
    observedGeneration: generation,
    ...(conditions.length > 0 && { conditions }),
  };
}

type Conditions = NonNullable<ReplicaSetStatus['conditions']>;

function failureConditions(set: ReplicaSet, { failure, nowMs }: ReplicaSetOutcome): Conditions {
  const conditions = set.status?.conditions ?? [];
  const others = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  if (failure === undefined) return others;
  const current = conditions.find(({ type }) => type === 'ReplicaFailure');
  if (current !== undefined) return conditions;
  const lastTransitionTime = timestamp(nowMs);
  return [...others, { type: 'ReplicaFailure', status: 'True', lastTransitionTime, ...failure }];
}
