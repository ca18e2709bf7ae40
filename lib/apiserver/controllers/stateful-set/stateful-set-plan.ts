/** Input of the plan: a pod of a StatefulSet. */
export interface StatefulPodView {
  readonly ordinal: number;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly ready: boolean;
  /** True if the pod has been ready for at least `minReadySeconds`. */
  readonly available: boolean;
  readonly terminating: boolean;
  /** The name of its ControllerRevision. */
  readonly revision: string;
}

/** Input of the plan: a StatefulSet. */
export interface StatefulSetView {
  readonly replicas: number;
  /** The ordinal of the first pod. */
  readonly start: number;
  readonly policy: 'OrderedReady' | 'Parallel';
  readonly strategy: 'RollingUpdate' | 'OnDelete';
  /**
   * The number of pods, from the first, that keep their revision. Undefined: the strategy has no
   * `rollingUpdate`.
   */
  readonly partition: number | undefined;
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** `status.currentReplicas`. */
  readonly currentReplicas: number;
}

/** An action of a plan. If it fails, the actions after it wait for the next plan. */
export type StatefulSetAction =
  | { readonly type: 'createPod'; readonly ordinal: number; readonly revision: string }
  | { readonly type: 'createClaims'; readonly ordinal: number }
  | { readonly type: 'deletePod'; readonly ordinal: number; readonly why: DeletionReason }
  /** Check the labels and the claims' owners of a pod that runs. */
  | { readonly type: 'checkPod'; readonly ordinal: number }
  /** Check the claims' owners of a pod that is scaled down. */
  | { readonly type: 'checkClaims'; readonly ordinal: number };

/** The reason for the deletion of a pod. */
export type DeletionReason = 'finished' | 'scaledDown' | 'updated';

/**
 * Plans the next actions of a StatefulSet.
 *
 * With `OrderedReady`, pods are created one by one from the lowest ordinal; each waits for all before it.
 * They are deleted one by one from the highest ordinal. An update begins only when every pod is available. A
 * pod of a broken revision that never becomes ready therefore blocks the set, even after the template is
 * repaired: the controller does not delete that pod.
 *
 * With `Parallel`, pods are created and deleted at once, but updates still go one by one.
 */
export function statefulSetPlan(
  set: StatefulSetView,
  pods: readonly StatefulPodView[],
): StatefulSetAction[] {
  const monotonic = set.policy === 'OrderedReady';
  const byOrdinal = new Map(pods.map((pod) => [pod.ordinal, pod]));
  const replicas = ordinalsOf(set);
  const growth = runAll(replicas, monotonic, (ordinal) => keepReplica(set, byOrdinal, ordinal));
  if (growth.blocked) return [...growth.actions];
  const condemned = condemnedPods(set, pods);
  const claims = condemned.map(({ ordinal }) => ({ type: 'checkClaims', ordinal }) as const);
  const unhealthy = firstUnavailable(set, byOrdinal, condemned);
  const shrink = runAll(condemned, monotonic, (pod) => condemnPod(pod, monotonic, unhealthy));
  const actions = [...growth.actions, ...claims, ...shrink.actions];
  if (shrink.blocked || set.strategy === 'OnDelete') return actions;
  // Pods that are about to be created are not available: they block the update too.
  return [...actions, ...updateStep(set, byOrdinal)];
}

/** Returns the revision for a new pod. */
export function revisionForNewPod(set: StatefulSetView, ordinal: number): string {
  const { partition, strategy, start, currentReplicas } = set;
  const kept =
    partition === undefined
      ? strategy === 'RollingUpdate' && ordinal < start + currentReplicas
      : ordinal < start + partition;
  return kept ? set.currentRevision : set.updateRevision;
}

/** The actions for one pod; `blocked` if later pods must wait. */
interface Step {
  readonly actions: readonly StatefulSetAction[];
  readonly blocked: boolean;
}

const go: Step = { actions: [], blocked: false };
const wait: Step = { actions: [], blocked: true };

function keepReplica(
  set: StatefulSetView,
  pods: ReadonlyMap<number, StatefulPodView>,
  ordinal: number,
): Step {
  const monotonic = set.policy === 'OrderedReady';
  const pod = pods.get(ordinal);
  if (pod === undefined) {
    const revision = revisionForNewPod(set, ordinal);
    return { actions: [{ type: 'createPod', ordinal, revision }], blocked: monotonic };
  }
  if (pod.phase === 'Failed' || pod.phase === 'Succeeded') {
    return pod.terminating
      ? wait
      : { actions: [{ type: 'deletePod', ordinal, why: 'finished' }], blocked: true };
  }
  const claims: StatefulSetAction[] =
    pod.phase === 'Pending' ? [{ type: 'createClaims', ordinal }] : [];
  const up = !pod.terminating && pod.phase === 'Running' && pod.ready && pod.available;
  if (monotonic && !up) return { actions: claims, blocked: true };
  return { actions: [...claims, { type: 'checkPod', ordinal }], blocked: false };
}

function condemnPod(
  pod: StatefulPodView,
  monotonic: boolean,
  unhealthy: StatefulPodView | undefined,
): Step {
  const { ordinal } = pod;
  if (pod.terminating) return monotonic ? wait : go;
  const healthy = pod.phase === 'Running' && pod.ready && pod.available;
  if (monotonic && !healthy && pod !== unhealthy) return wait;
  return { actions: [{ type: 'deletePod', ordinal, why: 'scaledDown' }], blocked: true };
}

/** Deletes the pod with the highest ordinal that does not have the newest revision, one pod at a time. */
function updateStep(
  set: StatefulSetView,
  pods: ReadonlyMap<number, StatefulPodView>,
): StatefulSetAction[] {
  const { replicas, start, partition = 0, updateRevision } = set;
  for (let index = replicas - 1; index >= partition; index--) {
    const ordinal = start + index;
    const pod = pods.get(ordinal);
    if (pod === undefined) return [];
    if (pod.revision !== updateRevision && !pod.terminating) {
      return [{ type: 'deletePod', ordinal, why: 'updated' }];
    }
    if (pod.terminating || !pod.available) return [];
  }
  return [];
}

function ordinalsOf({ start, replicas }: StatefulSetView): number[] {
  return Array.from({ length: replicas }, (_, index) => start + index);
}

/** Returns the pods outside the wanted ordinals, the highest first. */
function condemnedPods(
  { start, replicas }: StatefulSetView,
  pods: readonly StatefulPodView[],
): StatefulPodView[] {
  return pods
    .filter(({ ordinal }) => ordinal < start || ordinal >= start + replicas)
    .toSorted((a, b) => b.ordinal - a.ordinal);
}

function firstUnavailable(
  set: StatefulSetView,
  pods: ReadonlyMap<number, StatefulPodView>,
  condemned: readonly StatefulPodView[],
): StatefulPodView | undefined {
  const wanted = ordinalsOf(set).flatMap((ordinal) => pods.get(ordinal) ?? []);
  const inOrder = [...wanted, ...condemned.toReversed()];
  return inOrder.find((pod) => !pod.available || pod.terminating);
}

/** Collects actions in order. If `monotonic`, the first blocked item ends the list. */
function runAll<T>(items: readonly T[], monotonic: boolean, stepOf: (item: T) => Step): Step {
  const actions: StatefulSetAction[] = [];
  for (const item of items) {
    const step = stepOf(item);
    actions.push(...step.actions);
    if (step.blocked && monotonic) return { actions, blocked: true };
  }
  return { actions, blocked: false };
}
