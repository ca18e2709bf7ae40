import { formatTime, Pod, ReplicaSet } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { DependentsClaim, followDependents } from './dependents.js';
import { PodControl } from './pod-control.js';
import {
  counted,
  failureMessage,
  isPodActive,
  isPodAvailable,
  isPodReady,
  isPodTerminating,
  nextAvailableInMs,
  podCondition,
  podFromTemplate,
  timestampMs,
} from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

// As in the real controller: the maximum number of pods to create or delete in one reconcile.
const burst = 500;

/** Keeps `spec.replicas` pods for each ReplicaSet. */
export class ReplicaSetController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #control: PodControl;
  readonly #pods: DependentsClaim<Pod>;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#control = new PodControl(host, host.events.from({ component: 'replicaset-controller' }));
    this.#pods = new DependentsClaim(host, this.#writer, Pod);
    this.#queue = host.objectQueue(ReplicaSet, 'replica-sets', (key) => this.#reconcile(key));
    followDependents(host, { type: Pod, ownerType: ReplicaSet, queue: this.#queue });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const set = this.#host.get(ReplicaSet, key);
    if (set === undefined) return;
    const pods = await this.#pods.claim(set);
    let failure: { readonly error: unknown; readonly reason: string } | undefined;
    if (set.metadata.deletionTimestamp === undefined) {
      const difference = pods.filter(isPodActive).length - (set.spec?.replicas ?? 1);
      try {
        await this.#scale(set, pods, difference);
      } catch (error) {
        failure = { error, reason: difference < 0 ? 'FailedCreate' : 'FailedDelete' };
      }
    }
    await this.#report(key, failure);
    if (failure !== undefined) throw failure.error;
  }

  async #scale(set: ReplicaSet, pods: readonly Pod[], difference: number): Promise<void> {
    const template = set.spec?.template;
    if (difference < 0 && template !== undefined) {
      const pod = podFromTemplate(template, set);
      for (let n = 0; n < Math.min(-difference, burst); n++) await this.#control.create(set, pod);
    }
    if (difference > 0) {
      const doomed = podsInRemovalOrder(pods.filter(isPodActive));
      for (const pod of doomed.slice(0, Math.min(difference, burst))) {
        await this.#control.delete(set, pod);
      }
    }
  }

  async #report(
    key: ObjectKey,
    failure: { readonly error: unknown; readonly reason: string } | undefined,
  ): Promise<void> {
    const set = this.#host.get(ReplicaSet, key);
    if (set === undefined) return;
    const pods = this.#host.controlled(Pod, set);
    const nowMs = this.#host.now();
    const outcome = {
      pods,
      nowMs,
      failure: failure && { reason: failure.reason, message: failureMessage(failure.error) },
    };
    await this.#writer.updateStatus(set, replicaSetStatus(set, outcome));
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    const wait = nextAvailableInMs(pods.filter(isPodActive), { minReadySeconds, nowMs });
    if (wait !== undefined) this.#queue.addSoon(key, wait);
  }
}

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const phaseRanks: Readonly<Partial<Record<string, number>>> = {
  Pending: 0,
  Unknown: 1,
  Running: 2,
};

/**
 * Sorts pods in the order in which a ReplicaSet deletes them. The first of these that differs decides: no
 * node, earlier phase, not ready, lower deletion cost, shorter time ready, more restarts, newer.
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

type ReplicaSetStatus = NonNullable<ReplicaSet['status']>;

/** The result of a reconcile, from which {@link replicaSetStatus} computes the status. */
interface ReplicaSetOutcome {
  readonly pods: readonly Pod[];
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** The reason why some pods could not be created or deleted. */
  readonly failure?: { readonly reason: string; readonly message: string } | undefined;
}

/** Computes the status of a ReplicaSet from its pods. */
function replicaSetStatus(set: ReplicaSet, outcome: ReplicaSetOutcome): ReplicaSetStatus {
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
  const lastTransitionTime = formatTime(nowMs);
  return [...others, { type: 'ReplicaFailure', status: 'True', lastTransitionTime, ...failure }];
}
