import { isKind } from '../apply/index.js';
import { isForbidden } from '../object/api-error.js';
import { findCondition } from '../object/conditions.js';
import { describeObject } from '../object/describe-object.js';
import { Deployment, Pod, StatefulSet } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { formatLabelSelector } from '../object/label-selector.js';
import type { LabelSelector } from '../object/label-selector.js';
import { isControlledBy } from '../object/owner-reference.js';
import type { RunContext } from './context.js';

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
  if (!isKind(live, StatefulSet)) return undefined;
  const set = live as unknown as StatefulSet;
  const { spec, status } = set;
  const waits = (spec?.podManagementPolicy ?? 'OrderedReady') === 'OrderedReady';
  const { readyReplicas = 0, updatedReplicas = 0, replicas = 0 } = status ?? {};
  const outdated = updatedReplicas < replicas;
  if (!waits || !outdated || !isObserved(set) || readyReplicas >= replicas) return undefined;
  const pods = await podsOf(context, live);
  const firstUpdated = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  return pods
    .filter((pod) => isControlledBy(pod, set) && ordinalOf(pod) >= firstUpdated)
    .sort((one, other) => ordinalOf(other) - ordinalOf(one))
    .filter((pod) => isOutdated(pod, status?.updateRevision ?? ''))
    .find((pod) => isBroken(pod, context.settings.clock.now() - graceSeconds * 1_000));
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
