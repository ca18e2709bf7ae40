import type { Pod } from '../../../object/kinds.js';
import { timestamp } from '../timestamp.js';
import type { PodStage } from './pod-script.js';

/** `status` of a Pod. */
export type PodStatus = NonNullable<Pod['status']>;
/** One of `status.containerStatuses` of a Pod. */
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type ContainerState = NonNullable<ContainerStatus['state']>;
type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];

/** Input of the container statuses, in addition to the pod. */
export interface ContainerSituation {
  readonly stage: PodStage;
  /** The number of restarts of the containers. */
  readonly restarts: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Returns the statuses of the pod's containers, in the order of its spec. */
export function containerStatuses(pod: Pod, situation: ContainerSituation): ContainerStatus[] {
  const known = pod.status?.containerStatuses ?? [];
  return (pod.spec?.containers ?? []).map((container) => {
    const before = known.find(({ name }) => name === container.name);
    const ready = situation.stage === 'ready';
    return statusOf(container, { before, ready, situation });
  });
}

/**
 * Returns the statuses of the pod's init containers. They end before other containers start; sidecars
 * continue.
 */
export function initContainerStatuses(pod: Pod, situation: ContainerSituation): ContainerStatus[] {
  const known = pod.status?.initContainerStatuses ?? [];
  const { stage, nowMs } = situation;
  return (pod.spec?.initContainers ?? []).map((container) => {
    const before = known.find(({ name }) => name === container.name);
    const pulled = !['waiting', 'errImagePull', 'imagePullBackOff'].includes(stage);
    const sidecar = container.restartPolicy === 'Always';
    if (!pulled || sidecar) return statusOf(container, { before, ready: pulled, situation });
    const status = statusOf(container, { before, ready: true, situation });
    return { ...status, started: false, state: before?.state ?? ended(0, nowMs) };
  });
}

function statusOf(
  container: Container,
  facts: {
    readonly before: ContainerStatus | undefined;
    readonly ready: boolean;
    readonly situation: ContainerSituation;
  },
): ContainerStatus {
  const { before, ready, situation } = facts;
  const { stage, restarts, nowMs } = situation;
  const state = stateOf(stage, before?.state, nowMs);
  const crashed = stage === 'crashed';
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: '',
    ready,
    started: state.running !== undefined,
    restartCount: restarts,
    state,
    lastState: crashed ? ended(1, nowMs) : (before?.lastState ?? {}),
  };
}

function stateOf(
  stage: PodStage,
  before: ContainerState | undefined,
  nowMs: number,
): ContainerState {
  switch (stage) {
    case 'waiting':
      return { waiting: { reason: 'ContainerCreating' } };
    case 'errImagePull':
      return { waiting: { reason: 'ErrImagePull', message: 'image not found' } };
    case 'imagePullBackOff':
      return { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } };
    case 'crashed':
      return { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting container' } };
    case 'running':
    case 'ready':
      return before?.running
        ? { running: before.running }
        : { running: { startedAt: timestamp(nowMs) } };
    case 'succeeded':
      return ended(0, nowMs, before);
    case 'failed':
      return ended(1, nowMs, before);
  }
}

function ended(exitCode: number, nowMs: number, before?: ContainerState): ContainerState {
  const finishedAt = timestamp(nowMs);
  const startedAt = before?.running?.startedAt ?? finishedAt;
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { terminated: { exitCode, reason, startedAt, finishedAt } };
}
