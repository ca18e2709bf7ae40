import {
  findCondition,
  Deployment,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
  keyOf,
  controllerOf,
  withoutMembers,
} from '../../object/index.js';
import type { KubernetesObject, ObjectKey, ResourceType } from '../../object/index.js';
import { ObjectIndex, labelWords, manager, selectorWords } from './controller-host.js';
import type { ControllerHost } from './controller-host.js';
import {
  intOrPercent,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  timestampMs,
  transitionTime,
} from './pod-state.js';
import type { PodTemplate } from './pod-state.js';

/** Keeps the status of each PodDisruptionBudget up to date. */
export function startDisruptionController(host: ControllerHost): void {
  const writer = host.writer(manager);
  const recordEvent = host.events.from({ component: 'controllermanager' });
  const podsByLabel = host.podsByLabel;
  const budgets = new ObjectIndex(host, PodDisruptionBudget, ({ spec }) =>
    selectorWords(spec?.selector),
  );
  const reconcile = async (key: ObjectKey): Promise<void> => {
    const budget = host.get(PodDisruptionBudget, key);
    if (budget === undefined) return;
    const pods = podsByLabel
      .find(key.namespace, selectorWords(budget.spec?.selector))
      .filter((pod) => !isPodFinished(pod) && selects(host, budget, pod.metadata.labels));
    if (pods.length === 0) {
      recordEvent({ about: budget, reason: 'NoPods', message: 'No matching pods found' });
    }
    const wantedReplicas = replicasWantedFor(host, pods);
    const nowMs = host.now();
    const disrupted = disruptedPods(budget, { pods, nowMs });
    const status = disruptionStatus(budget, { pods, wantedReplicas, nowMs, disrupted });
    await writer.updateStatus(budget, status);
    const dueMs = Object.values(disrupted).map((time) => timestampMs(time) + disruptionMs - nowMs);
    if (dueMs.length > 0) queue.addLater(key, Math.min(...dueMs));
  };
  const queue = host.objectQueue(PodDisruptionBudget, 'disruption-budgets', reconcile);
  const addFor = (namespace: string | undefined, labels?: Record<string, string>): void => {
    for (const budget of budgets.find(namespace, labelWords(labels))) {
      if (selects(host, budget, labels)) queue.add(keyOf(budget));
    }
  };
  for (const type of scalable) {
    host.watch(type, ({ object }) => {
      addFor(object.metadata.namespace, object.spec?.template?.metadata?.labels);
    });
  }
  host.watch(Pod, ({ object, previous }) => {
    const { namespace, labels } = object.metadata;
    addFor(namespace, labels);
    if (previous !== undefined) addFor(namespace, previous.metadata.labels);
  });
}

interface Scalable extends KubernetesObject {
  spec?: { replicas?: number | undefined; template?: PodTemplate | undefined } | undefined;
}

const scalable: readonly ResourceType<Scalable>[] = [Deployment, StatefulSet, ReplicaSet];

function selects(
  host: ControllerHost,
  budget: PodDisruptionBudget,
  labels: Record<string, string> | undefined,
): boolean {
  return host.selects(budget.spec?.selector, labels);
}

/** Returns the sum of `spec.replicas` of the topmost controllers of the pods; each controller counts once. */
function replicasWantedFor(host: ControllerHost, pods: readonly Pod[]): number {
  const wanted = new Map<string, number>();
  for (const pod of pods) {
    const scaler = topmost(host, pod);
    if (scaler !== undefined) wanted.set(scaler.metadata.uid ?? '', scaler.spec?.replicas ?? 1);
  }
  return [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0);
}

function topmost(host: ControllerHost, object: KubernetesObject): Scalable | undefined {
  const reference = controllerOf(object);
  const type = scalable.find(({ kind }) => kind === reference?.kind);
  if (reference === undefined || type === undefined) return undefined;
  const owner = host.get(type, { namespace: object.metadata.namespace, name: reference.name });
  return owner && (topmost(host, owner) ?? owner);
}

type DisruptionStatus = NonNullable<PodDisruptionBudget['status']>;

interface DisruptionObservation {
  /** The selected pods that are not finished. */
  readonly pods: readonly Pod[];
  /** The sum of `spec.replicas` of the controllers of those pods. */
  readonly wantedReplicas: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** The result of {@link disruptedPods}. */
  readonly disrupted: DisruptedPods;
}

/** Times of evictions, by the names of pods. */
type DisruptedPods = Readonly<Record<string, string>>;

/** The time that the deletion of an evicted pod may take to begin. After this time, the pod counts again. */
const disruptionMs = 120_000;

/** Returns the evicted pods whose deletion has not begun yet. */
function disruptedPods(
  { status }: PodDisruptionBudget,
  { pods, nowMs }: Pick<DisruptionObservation, 'pods' | 'nowMs'>,
): DisruptedPods {
  const { disruptedPods: evicted = {} } = status ?? {};
  const names = new Set(
    pods.filter((pod) => !isPodTerminating(pod)).map(({ metadata }) => metadata.name),
  );
  const isExpected = ([name, time]: readonly [string, string]): boolean =>
    names.has(name) && timestampMs(time) + disruptionMs > nowMs;
  return Object.fromEntries(Object.entries(evicted).filter(isExpected));
}

/** Computes the status of a budget, with the number of pods that may be evicted now. */
function disruptionStatus(
  budget: PodDisruptionBudget,
  observation: DisruptionObservation,
): DisruptionStatus {
  const { pods, nowMs, disrupted } = observation;
  const { expectedPods, desiredHealthy } = expectation(budget, observation);
  const healthy = pods.filter((pod) => isHealthy(pod, disrupted)).length;
  const allowed = expectedPods <= 0 ? 0 : Math.max(0, healthy - desiredHealthy);
  const observedGeneration = budget.metadata.generation ?? 0;
  const before = budget.status?.conditions ?? [];
  const known = findCondition(before, 'DisruptionAllowed');
  const status = allowed > 0 ? 'True' : 'False';
  const condition = {
    type: 'DisruptionAllowed',
    status,
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
    lastTransitionTime: transitionTime(known, status, nowMs),
  };
  return {
    ...withoutMembers(budget.status ?? {}, 'disruptedPods'),
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
    currentHealthy: healthy,
    desiredHealthy,
    disruptionsAllowed: allowed,
    expectedPods,
    observedGeneration,
    conditions: [...before.filter((other) => other !== known), condition],
  };
}

function isHealthy(pod: Pod, disrupted: DisruptedPods): boolean {
  const isLeaving = isPodTerminating(pod) || Object.hasOwn(disrupted, pod.metadata.name ?? '');
  return !isLeaving && isPodReady(pod);
}

function expectation(
  { spec }: PodDisruptionBudget,
  { pods, wantedReplicas }: DisruptionObservation,
): { readonly expectedPods: number; readonly desiredHealthy: number } {
  const { minAvailable, maxUnavailable } = spec ?? {};
  // As in the real controller: a budget without a limit allows no disruption.
  if (minAvailable === undefined && maxUnavailable === undefined) {
    return { expectedPods: 0, desiredHealthy: 0 };
  }
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
