import { isKind, rollsPods } from '../apply/index.js';
import type { RolloutState } from '../apply/index.js';
import { isForbidden } from '../object/api-error.js';
import { findCondition } from '../object/conditions.js';
import { describeObject } from '../object/describe-object.js';
import { Deployment, Pod, StatefulSet } from '../object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import { formatLabelSelector } from '../object/label-selector.js';
import type { LabelSelector } from '../object/label-selector.js';
import { isControlledBy } from '../object/owner-reference.js';
import { isRollingOut, rolloutStatus } from '../object/rollout-status.js';
import type { Clock } from '../system/clock.js';
import type { ChainedObject } from './chain.js';
import type { RunContext } from './context.js';

/** What {@link rolloutStateOf} judges by. */
export interface RolloutJudgement {
  readonly clock: Clock;
  /** Our field manager: when it last wrote is when the rollout began. */
  readonly controllerName: string;
  readonly progressDeadlineSeconds: number;
}

/** A {@link RolloutState}, and when it has to be looked at again. */
export interface TimedRolloutState extends RolloutState {
  /** Milliseconds until it counts as stuck. The server tells of a stuck Deployment by itself. */
  readonly deadlineInMs?: number;
}

/** How far the rollout of `live` is; undefined for kinds that have none. */
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
  // The server's time: where our own wall clock is behind it, waiting for the difference would be long.
  const leftMs = Math.min(progressMs + deadlineMs - clock.now(), deadlineMs);
  if (leftMs > 0) return { state: 'progressing', message, deadlineInMs: leftMs };
  const stuck = `${message}, without progress for more than ${progressDeadlineSeconds} s`;
  return { state: 'stuck', message: stuck };
}

// StatefulSets and DaemonSets don't say since when they try. The server notes when we last changed
// the spec, and when the controller last had something new to say in the status.
function lastProgressMs({ metadata }: KubernetesObject, manager: string): number {
  const { managedFields = [], creationTimestamp = '' } = metadata;
  const times = managedFields
    .filter((entry) => entry.manager === manager || entry.subresource === 'status')
    .map(({ time = '' }) => Date.parse(time));
  const known = [Date.parse(creationTimestamp), ...times].filter((time) => !Number.isNaN(time));
  return Math.max(0, ...known);
}

/** Whether a Deployment is paused: a changed template waits until it is resumed. */
export function isPaused(live: UnstructuredObject): boolean {
  const { paused = false } = (live['spec'] ?? {}) as { readonly paused?: boolean };
  return isKind(live, Deployment) && paused;
}

/** Whether the pods of a workload stay as they are until somebody deletes them. */
export function updatesOnDelete(live: UnstructuredObject): boolean {
  const { updateStrategy } = (live['spec'] ?? {}) as {
    readonly updateStrategy?: { readonly type?: string };
  };
  return updateStrategy?.type === 'OnDelete';
}

/** What a workload has to wait for: those before it. */
export interface WorkloadGate {
  /** Why its pods must not be replaced yet; undefined: they may be. */
  readonly replacement?: string | undefined;
  /** Why it must not be created yet; undefined: it may be. */
  readonly creation?: string | undefined;
}

/**
 * Why the pods of a workload must not be replaced yet; undefined: they may be. A workload that is
 * itself broken (none of its pods is available, one can't start, or its rollout is stuck) never waits:
 * the change may be its repair.
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

/** Whether pods are wanted, and none is available. */
function hasNoPods(live: UnstructuredObject): boolean {
  const { availableReplicas, numberAvailable } = (live['status'] ?? {}) as {
    readonly availableReplicas?: number;
    readonly numberAvailable?: number;
  };
  return !rolloutStatus(live).complete && (availableReplicas ?? numberAvailable ?? 0) === 0;
}

const revisionLabel = 'controller-revision-hash';

/**
 * The pod that keeps a StatefulSet from going on: it is of another revision than the newest, and was
 * never ready, as far as can be told, can't run, or has not been ready for `graceSeconds`. The controller waits for such a pod for ever, even when the newest revision is right (a
 * known limitation of StatefulSets, "Forced rollback" in the Kubernetes documentation).
 * @returns undefined where there is none, or the set is not of the sort that waits
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

/** Whether a StatefulSet waits for a pod of an older revision. */
export function mayBeBlocked(live: UnstructuredObject): boolean {
  if (!isKind(live, StatefulSet)) return false;
  const set = live as unknown as StatefulSet;
  const waits = (set.spec?.podManagementPolicy ?? 'OrderedReady') === 'OrderedReady';
  const { readyReplicas = 0, updatedReplicas = 0, replicas = 0 } = set.status ?? {};
  return waits && updatedReplicas < replicas && isObserved(set) && readyReplicas < replicas;
}

/** Whether a pod of a workload can't start, and will not by waiting alone. */
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

/** The pods of a workload; none where the operator may not list pods: they only make it judge better. */
async function podsOf(
  { client, settings }: RunContext,
  live: UnstructuredObject,
): Promise<readonly Pod[]> {
  const { selector = {} } = (live['spec'] ?? {}) as { readonly selector?: LabelSelector };
  const labelSelector = formatLabelSelector(selector);
  const { namespace, uid } = live.metadata;
  const { signal, logger } = settings;
  // The pods of a Deployment are controlled by its ReplicaSets.
  const controllerUid = isKind(live, Deployment) ? undefined : uid;
  try {
    const pods = await client.list(Pod, { namespace, labelSelector, controllerUid, signal });
    return pods.items;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const remedy = 'pods can not be listed: broken rollouts are found late; grant list on pods';
    logger.warn(remedy, { name: describeObject(live) });
    return [];
  }
}

/** Says that `pod` blocks the rollout of its StatefulSet, and what to do. */
export function blockedMessage(pod: Pod): string {
  return `${describeObject(pod)} is of an older revision and is not ready, so the rollout can't go on: delete it, or set unblock`;
}

function isObserved({ metadata, status }: StatefulSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function isOutdated({ metadata }: Pod, updateRevision: string): boolean {
  if (metadata.deletionTimestamp !== undefined || updateRevision === '') return false;
  return metadata.labels?.[revisionLabel] !== updateRevision;
}

// The kubelet first says that a pod is not ready when it takes it on; what it says later is a change.
const firstWordMs = 5_000;

// A container that waits for one of these does not get ready by waiting.
const hopeless: ReadonlySet<string> = new Set([
  ...['CrashLoopBackOff', 'ImagePullBackOff', 'ErrImagePull', 'InvalidImageName'],
  ...['CreateContainerError', 'CreateContainerConfigError', 'RunContainerError'],
]);

/** Whether `pod` is not ready for good, and not one that was ready until a moment ago. */
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
