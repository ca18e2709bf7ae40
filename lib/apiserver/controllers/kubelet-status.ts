import { formatTime } from '../../object/index.js';
import type { Pod } from '../../object/index.js';
import type { MissingReference } from './missing-references.js';
import type { PodStage } from './pod-behavior.js';
import { podCondition, transitionTime } from './pod-state.js';
import type { PodCondition } from './pod-state.js';

/** The data, besides the pod, from which {@link podStatus} computes a status. */
interface PodSituation extends ContainerSituation {
  /** The IP address that the pod has, or gets when it runs. */
  readonly podIP: string;
}

/** Computes the status of a pod in `situation.stage`. */
export function podStatus(pod: Pod, situation: PodSituation): PodStatus {
  const { stage, nowMs, podIP } = situation;
  const before = pod.status ?? {};
  const initStatuses = initContainerStatuses(pod, situation);
  const hasRun = !['waiting', 'errImagePull', 'imagePullBackOff'].includes(stage);
  return {
    ...before,
    phase: shownStages[stage].phase,
    conditions: podConditions(pod, situation),
    startTime: before.startTime ?? formatTime(nowMs),
    ...(hasRun && podIP !== '' && { podIP, podIPs: [{ ip: podIP }] }),
    ...(initStatuses.length > 0 && { initContainerStatuses: initStatuses }),
    containerStatuses: containerStatuses(pod, situation),
  };
}

/** Computes the conditions of a pod in `stage`; the conditions of other writers stay. */
export function podConditions(
  pod: Pod,
  { stage, nowMs }: Pick<PodSituation, 'stage' | 'nowMs'>,
): PodCondition[] {
  const ready = stage === 'ready' && readinessGatesOpen(pod);
  const { notReady } = shownStages[stage];
  const initialized = !['waiting', 'errImagePull', 'imagePullBackOff'].includes(stage);
  const hasInit = (pod.spec?.initContainers ?? []).length > 0;
  const statements: readonly Statement[] = [
    { type: 'Initialized', holds: initialized || !hasInit, reason: 'ContainersNotInitialized' },
    { type: 'Ready', holds: ready, reason: notReady ?? 'ReadinessGatesNotReady' },
    { type: 'ContainersReady', holds: stage === 'ready', reason: notReady },
    { type: 'PodScheduled', holds: true, reason: undefined },
  ];
  const types = statements.map(({ type }) => type);
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !types.includes(type));
  return [...statements.map((statement) => conditionFor(pod, statement, nowMs)), ...others];
}

export function shownStage(pod: Pod): PodStage {
  if (podCondition(pod, 'ContainersReady')?.status === 'True') return 'ready';
  const { waiting, running } = pod.status?.containerStatuses?.[0]?.state ?? {};
  const stage = waitingStages[waiting?.reason ?? ''];
  return stage ?? (running === undefined ? 'waiting' : 'running');
}

const waitingStages: Readonly<Partial<Record<string, PodStage>>> = {
  ErrImagePull: 'errImagePull',
  ImagePullBackOff: 'imagePullBackOff',
  CrashLoopBackOff: 'crashed',
};

interface Statement {
  readonly type: string;
  readonly holds: boolean;
  readonly reason: string | undefined;
}

function conditionFor(pod: Pod, { type, holds, reason }: Statement, nowMs: number): PodCondition {
  const status = holds ? 'True' : 'False';
  // A real server writes null if no probe has run.
  const lastProbeTime = null as unknown as string;
  return {
    type,
    status,
    lastProbeTime,
    lastTransitionTime: transitionTime(podCondition(pod, type), status, nowMs),
    ...(!holds && reason !== undefined && { reason }),
  };
}

interface ShownStage {
  readonly phase: string;
  /** Why the containers are not ready. */
  readonly notReady?: string;
}

const notReady = 'ContainersNotReady';

/** The phase that the status of a pod shows in each stage, and the reason why the pod is not ready. */
const shownStages: Readonly<Record<PodStage, ShownStage>> = {
  waiting: { phase: 'Pending', notReady },
  running: { phase: 'Running', notReady },
  ready: { phase: 'Running' },
  errImagePull: { phase: 'Pending', notReady },
  imagePullBackOff: { phase: 'Pending', notReady },
  crashed: { phase: 'Running', notReady },
  succeeded: { phase: 'Succeeded', notReady: 'PodCompleted' },
  failed: { phase: 'Failed', notReady: 'PodFailed' },
};

function readinessGatesOpen(pod: Pod): boolean {
  const gates = pod.spec?.readinessGates ?? [];
  return gates.every(({ conditionType }) => podCondition(pod, conditionType)?.status === 'True');
}

type PodStatus = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type ContainerState = NonNullable<ContainerStatus['state']>;
type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];

/** The data, besides the pod, from which the statuses of its containers are computed. */
interface ContainerSituation {
  readonly stage: PodStage;
  readonly restarts: number;
  /** The reason why the pod stays in the stage `waiting`. @defaultValue none */
  readonly missing?: MissingReference | undefined;
  /** The exit code of containers in the stage `failed`. @defaultValue 1 */
  readonly exitCode?: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Returns the statuses of the pod's containers, in the order of its spec. */
function containerStatuses(pod: Pod, situation: ContainerSituation): ContainerStatus[] {
  const known = pod.status?.containerStatuses ?? [];
  return (pod.spec?.containers ?? []).map((container) => {
    const before = known.find(({ name }) => name === container.name);
    const ready = situation.stage === 'ready';
    return statusOf(container, { before, ready, situation });
  });
}

/**
 * Returns the statuses of the pod's init containers. Init containers end before other containers start;
 * sidecars continue.
 */
function initContainerStatuses(pod: Pod, situation: ContainerSituation): ContainerStatus[] {
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
  const { missing } = situation;
  const isHeld = missing !== undefined && missing.container === container.name;
  const reason = 'CreateContainerConfigError';
  const state: ContainerState = isHeld
    ? { waiting: { reason, message: missing.message } }
    : stateOf(situation, before?.state);
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
    ...(state.running !== undefined && givenResources(container)),
  };
}

function givenResources({ resources = {} }: Container): Partial<ContainerStatus> {
  const { requests, limits } = resources;
  return {
    ...(requests !== undefined && { allocatedResources: requests }),
    resources: { ...(limits && { limits }), ...(requests && { requests }) },
  };
}

/** Returns the status of a pod whose running containers have the resources of the spec, as after a resize. */
export function resizedStatus({ spec, status = {} }: Pod): PodStatus {
  const resized = (statuses: ContainerStatus[], containers: readonly Container[] = []) =>
    statuses.map((shown) => {
      const container = containers.find(({ name }) => name === shown.name);
      // Another client has written a status without resources.
      if (container === undefined || shown.resources === undefined) return shown;
      return { ...shown, ...givenResources(container) };
    });
  const { containerStatuses, initContainerStatuses } = status;
  return {
    ...status,
    ...(containerStatuses && {
      containerStatuses: resized(containerStatuses, spec?.containers),
    }),
    ...(initContainerStatuses && {
      initContainerStatuses: resized(initContainerStatuses, spec?.initContainers),
    }),
  };
}

function stateOf(
  { stage, exitCode = 1, nowMs }: ContainerSituation,
  before: ContainerState | undefined,
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
        : { running: { startedAt: formatTime(nowMs) } };
    case 'succeeded':
      return ended(0, nowMs, before);
    case 'failed':
      return ended(exitCode, nowMs, before);
  }
}

function ended(exitCode: number, nowMs: number, before?: ContainerState): ContainerState {
  const finishedAt = formatTime(nowMs);
  const startedAt = before?.running?.startedAt ?? finishedAt;
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { terminated: { exitCode, reason, startedAt, finishedAt } };
}

export function restartsOf(pod: Pod): number {
  const counts = (pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount);
  return Math.max(0, ...counts);
}
