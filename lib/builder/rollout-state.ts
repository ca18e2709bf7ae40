import { isKind, isPaused, rollsPods, updatesOnDelete } from '../apply/index.js';
import type { RolloutState } from '../apply/index.js';
import {
  isForbidden,
  findCondition,
  describeObject,
  Deployment,
  Pod,
  StatefulSet,
  isControlledBy,
  isRollingOut,
  rolloutStatus,
} from '../object/index.js';
import type { KubernetesObject, UnstructuredObject, LabelSelector } from '../object/index.js';
import type { Clock } from '../system/index.js';
import type { ChainedObject } from './chain.js';
import type { RunContext } from './context.js';

/** Settings of {@link rolloutStateOf}. */
export interface RolloutJudgement {
  readonly clock: Clock;
  /** The operator's field manager; its last write marks the start of the rollout. */
  readonly controllerName: string;
  readonly progressDeadlineSeconds: number;
}

/** A {@link RolloutState} with the time of the next check. */
export interface TimedRolloutState extends RolloutState {
  /** Milliseconds until the rollout counts as stuck. Undefined for Deployments, whose status reports it. */
  readonly deadlineInMs?: number;
}

/** Returns the rollout state of `live`; undefined for kinds without rollouts. */
export function rolloutStateOf(
  live: UnstructuredObject,
  judgement: RolloutJudgement,
): TimedRolloutState | undefined {
  if (!rollsPods(live)) return undefined;
  if (updatesOnDelete(live)) {
    return { state: 'unwatched', message: 'its pods are replaced when they are deleted' };
  }
  const status = rolloutStatus(live);
  if (!status.complete && isPaused(live)) {
    return { state: 'unwatched', message: 'it is paused: its pods stay until it is resumed' };
  }
  if (status.complete) return { state: 'complete', message: 'rolled out' };
  const { message, stuck } = status;
  if (stuck) return { state: 'stuck', message };
  if (isKind(live, Deployment)) return { state: 'progressing', message };
  return againstDeadline(live, message, judgement);
}

function againstDeadline(
  live: UnstructuredObject,
  message: string,
  { clock, controllerName, progressDeadlineSeconds }: RolloutJudgement,
): TimedRolloutState {
  const progressMs = lastProgressMs(live, controllerName);
  const deadlineMs = progressDeadlineSeconds * 1_000;
  // `progressMs` is the server's time. The limit prevents a long wait if the local clock is behind.
  const leftMs = Math.min(progressMs + deadlineMs - clock.now(), deadlineMs);
  if (leftMs > 0) return { state: 'progressing', message, deadlineInMs: leftMs };
  const stuck = `${message}, without progress for more than ${progressDeadlineSeconds} s`;
  return { state: 'stuck', message: stuck };
}

// The status of StatefulSets and DaemonSets has no time of progress. `managedFields` has the times of the
// operator's last change and of the last status update.
function lastProgressMs({ metadata }: KubernetesObject, manager: string): number {
  const { managedFields = [], creationTimestamp = '' } = metadata;
  const times = managedFields
    .filter((entry) => entry.manager === manager || entry.subresource === 'status')
    .map(({ time = '' }) => Date.parse(time));
  const known = [Date.parse(creationTimestamp), ...times].filter((time) => !Number.isNaN(time));
  return Math.max(0, ...known);
}

/** Reasons why a workload has to wait for earlier workloads. */
export interface WorkloadGate {
  /** Reason not to replace the workload's pods yet; undefined if they may be replaced. */
  readonly replacement?: string | undefined;
  /** Reason not to create the workload yet; undefined if it may be created. */
  readonly creation?: string | undefined;
}

/**
 * Returns the reason not to replace the pods of a workload yet; undefined if they may be replaced. A broken
 * workload never waits, because the change may repair it. Broken means that no pod is available, a pod can't
 * start, or the rollout is stuck.
 */
export async function reasonToHold(
  context: RunContext,
  { chained, live }: { readonly chained: ChainedObject; readonly live: UnstructuredObject },
  { replacement }: WorkloadGate,
): Promise<string | undefined> {
  if (replacement === undefined || !rollsPods(live)) return undefined;
  const { clock, controllerName } = context.settings;
  const { progressDeadlineSeconds = 600 } = chained.link.workload ?? {};
  const judgement = { clock, controllerName, progressDeadlineSeconds };
  const isBroken =
    rolloutStateOf(live, judgement)?.state === 'stuck' ||
    (!isRollingOut(live) && hasNoPods(live)) ||
    (!rolloutStatus(live).complete && (await hasHopelessPod(context, live)));
  return isBroken ? undefined : replacement;
}

/** Returns true if the workload should have pods but has no available pod. */
function hasNoPods(live: UnstructuredObject): boolean {
  const { availableReplicas, numberAvailable } = (live['status'] ?? {}) as {
    readonly availableReplicas?: number;
    readonly numberAvailable?: number;
  };
  return !rolloutStatus(live).complete && (availableReplicas ?? numberAvailable ?? 0) === 0;
}

const revisionLabel = 'controller-revision-hash';

/**
 * Returns the pod that blocks the rollout of a StatefulSet. It has an outdated revision and can't run, was
 * apparently never ready, or has been unready for `graceSeconds`. The StatefulSet controller waits for such a
 * pod forever, even if the newest revision is correct (a known limitation, "Forced rollback" in the
 * Kubernetes documentation).
 * @returns undefined if no pod blocks, or if the StatefulSet does not wait for pods
 */
export async function blockingPod(
  context: RunContext,
  live: UnstructuredObject,
  graceSeconds: number,
): Promise<Pod | undefined> {
  if (!mayBeBlocked(live)) return undefined;
  const set = live as unknown as StatefulSet;
  const { spec, status } = set;
  const pods = await podsOf(context, live);
  const firstUpdated = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  return pods
    .filter((pod) => isControlledBy(pod, set) && ordinalOf(pod) >= firstUpdated)
    .sort((one, other) => ordinalOf(other) - ordinalOf(one))
    .filter((pod) => isOutdated(pod, status?.updateRevision ?? ''))
    .find((pod) => isBroken(pod, context.settings.clock.now() - graceSeconds * 1_000));
}

/** Returns true if the StatefulSet may be waiting for a pod of an older revision. */
export function mayBeBlocked(live: UnstructuredObject): boolean {
  if (!isKind(live, StatefulSet)) return false;
  const set = live as unknown as StatefulSet;
  const waits = (set.spec?.podManagementPolicy ?? 'OrderedReady') === 'OrderedReady';
  const { readyReplicas = 0, updatedReplicas = 0, replicas = 0 } = set.status ?? {};
  return waits && updatedReplicas < replicas && isObserved(set) && readyReplicas < replicas;
}

/** Returns true if a pod of the workload can't start without a change. */
export async function hasHopelessPod(
  context: RunContext,
  live: UnstructuredObject,
): Promise<boolean> {
  const pods = await podsOf(context, live);
  return pods.some((pod) => {
    const scheduled = findCondition(pod.status?.conditions, 'PodScheduled');
    return scheduled?.reason === 'Unschedulable' || waitsForNothing(pod.status);
  });
}

/**
 * Returns the pods of a workload. Returns an empty list if the operator lacks the permission to list pods, because they
 * only improve the result.
 */
async function podsOf(
  { client, settings }: RunContext,
  live: UnstructuredObject,
): Promise<readonly Pod[]> {
  const { selector: labelSelector } = (live['spec'] ?? {}) as { readonly selector?: LabelSelector };
  const { namespace, uid } = live.metadata;
  const { signal, logger } = settings;
  // The pods of a Deployment are controlled by its ReplicaSets.
  const controllerUid = isKind(live, Deployment) ? undefined : uid;
  try {
    const pods = await client.list(Pod, { namespace, labelSelector, controllerUid, signal });
    return pods.items;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const remedy = 'pods cannot be listed: broken rollouts are found late; grant list on pods';
    logger.warn(remedy, { name: describeObject(live) });
    return [];
  }
}

/** Returns a message that `pod` blocks the rollout of its StatefulSet, with the remedy. */
export function blockedMessage(pod: Pod): string {
  return `${describeObject(pod)} is of an older revision and is not ready, so the rollout cannot continue: delete it, or set unblock`;
}

function isObserved({ metadata, status }: StatefulSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function isOutdated({ metadata }: Pod, updateRevision: string): boolean {
  if (metadata.deletionTimestamp !== undefined || updateRevision === '') return false;
  return metadata.labels?.[revisionLabel] !== updateRevision;
}

// Time after a pod's start within which a transition of its condition `Ready` does not count, in
// milliseconds. The kubelet first reports a pod as not ready when it accepts it; a later transition means
// that the pod was ready.
const firstWordMs = 5_000;

// Waiting does not help a container with one of these reasons.
const hopeless: ReadonlySet<string> = new Set([
  ...['CrashLoopBackOff', 'ImagePullBackOff', 'ErrImagePull', 'InvalidImageName'],
  ...['CreateContainerError', 'CreateContainerConfigError', 'RunContainerError'],
]);

/** Returns true if `pod` can't run, was never ready, or has been unready since before `graceEndMs`. */
function isBroken({ metadata, status }: Pod, graceEndMs: number): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status === 'True') return false;
  if (waitsForNothing(status)) return true;
  const unreadyMs = timeOf(ready?.lastTransitionTime);
  const begunMs = timeOf(status?.startTime) ?? timeOf(metadata.creationTimestamp);
  if (unreadyMs === undefined || begunMs === undefined) return true;
  return unreadyMs <= begunMs + firstWordMs || unreadyMs <= graceEndMs;
}

function waitsForNothing(status: Pod['status'] = {}): boolean {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses].some(({ state }) =>
    hopeless.has(state?.waiting?.reason ?? ''),
  );
}

function timeOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

function ordinalOf({ metadata: { name = '' } }: Pod): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}
