/** What the plan needs to know of a pod of a StatefulSet. */
export interface StatefulPodView {
  readonly ordinal: number;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly ready: boolean;
  /** Ready for at least `minReadySeconds`. */
  readonly available: boolean;
  readonly terminating: boolean;
  /** The name of its ControllerRevision. */
  readonly revision: string;
}

/** What the plan needs to know of a StatefulSet. */
export interface StatefulSetView {
  readonly replicas: number;
  /** The ordinal of the first pod. */
  readonly start: number;
  readonly policy: 'OrderedReady' | 'Parallel';
  readonly strategy: 'RollingUpdate' | 'OnDelete';
  /** Pods below it keep their revision. Absent: the strategy has no `rollingUpdate`. */
  readonly partition: number | undefined;
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** `status.currentReplicas`. */
  readonly currentReplicas: number;
}

/** One thing to do, in the order of the plan; when one fails, the rest waits for the next plan. */
export type StatefulSetAction =
  | { readonly type: 'createPod'; readonly ordinal: number; readonly revision: string }
  | { readonly type: 'createClaims'; readonly ordinal: number }
  | { readonly type: 'deletePod'; readonly ordinal: number; readonly why: DeletionReason }
  /** The pod runs as it should: its labels and its claims' owners are checked. */
  | { readonly type: 'checkPod'; readonly ordinal: number }
  /** The pod goes by scaling down: its claims' owners are checked. */
  | { readonly type: 'checkClaims'; readonly ordinal: number };

/** Why a pod is deleted. */
export type DeletionReason = 'finished' | 'scaledDown' | 'updated';

/**
 * What a StatefulSet does next. By `OrderedReady`, pods come up one by one from the lowest ordinal,
 * each waiting for all before it, and go one by one from the highest; an update begins only when
 * every pod is available. So a pod that never gets ready on a broken revision blocks the set, also
 * after the template was repaired: the one thing that nobody does for it is delete that pod.
 * By `Parallel`, pods come and go at once; updates are one by one all the same.
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
  // Pods made just now are not up yet: they block as unavailable ones do.
  return [...actions, ...updateStep(set, byOrdinal)];
}

/** The revision that a pod gets when it is made. */
export function revisionForNewPod(set: StatefulSetView, ordinal: number): string {
  const { partition, strategy, start, currentReplicas } = set;
  const kept =
    partition === undefined
      ? strategy === 'RollingUpdate' && ordinal < start + currentReplicas
      : ordinal < start + partition;
  return kept ? set.currentRevision : set.updateRevision;
}

/** `blocked`: nothing after it may happen now. */
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

/** The highest ordinal that is not of the newest revision, one at a time, from the top. */
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

/** Pods beyond the wanted ordinals, the highest first. */
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

/** In order until one blocks; when order does not matter, each holds up only itself. */
function runAll<T>(items: readonly T[], monotonic: boolean, stepOf: (item: T) => Step): Step {
  const actions: StatefulSetAction[] = [];
  for (const item of items) {
    const step = stepOf(item);
    actions.push(...step.actions);
    if (step.blocked && monotonic) return { actions, blocked: true };
  }
  return { actions, blocked: false };
}
