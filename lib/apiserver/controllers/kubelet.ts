import { formatTime, Pod, keyOf } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { kubelet } from './controller-host.js';
import { podEndEvents, podStepEvents } from './kubelet-events.js';
import type { ControllerEvent } from './controller-events.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import {
  isPodFinished,
  isPodReady,
  isPodTerminating,
  podCondition,
  timestampMs,
  transitionTime,
} from './pod-state.js';
import type { PodCondition } from './pod-state.js';
import { podBehaviorOf, podScript, restartDelayMs, scriptPosition } from './pod-behavior.js';
import type { PodBehavior, PodStage, ResolvedPodOptions } from './pod-behavior.js';
import type { WorkQueue } from './work-queue.js';

/** Simulates the kubelet of every node: starts pods, makes them ready, ends and removes them. */
export function startKubelet(host: ControllerHost, options: ResolvedPodOptions): void {
  new Kubelet(host, options);
}

/** The kubelet's record of a pod. The times in a pod's status are too coarse for the simulation. */
interface PodRecord {
  /** The behavior and the images of the pod. A change starts its script again. */
  readonly identity: string;
  readonly startedMs: number;
  /** The stage in the pod's status; `waiting` before the first status. */
  readonly stage: PodStage;
  readonly restarts: number;
  /** The time of the containers' last crash, on the monotonic clock. */
  readonly crashedMs: number;
  readonly podIP: string;
}

class Kubelet {
  readonly #host: ControllerHost;
  readonly #options: ResolvedPodOptions;
  readonly #writer: ObjectWriter;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #records = new Map<string, PodRecord>();
  readonly #doomed = new Map<string, number>();
  #addresses = 0;

  constructor(host: ControllerHost, options: ResolvedPodOptions) {
    this.#host = host;
    this.#options = options;
    this.#writer = host.writer(kubelet);
    this.#queue = host.objectQueue(Pod, 'kubelet', (key) => this.#reconcile(key));
    options.rules.onChange(() => {
      for (const pod of host.list(Pod)) this.#queue.add(keyOf(pod));
    });
    host.watch(Pod, ({ type, object }) => {
      if (type !== 'DELETED') return;
      this.#records.delete(object.metadata.uid ?? '');
      this.#doomed.delete(object.metadata.uid ?? '');
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const pod = this.#host.get(Pod, key);
    if (pod === undefined) return;
    if (isPodTerminating(pod)) await this.#terminate(pod);
    else if (pod.spec?.nodeName && !isPodFinished(pod)) await this.#proceed(pod);
  }

  async #proceed(pod: Pod): Promise<void> {
    const nowMs = this.#host.clock.monotonicMs();
    const behavior = podBehaviorOf(pod, this.#options.behavior);
    const record = this.#recordOf(pod, behavior, nowMs);
    const restartable = pod.spec?.restartPolicy !== 'Never';
    const script = podScript(behavior, restartable, this.#options);
    const { stage, nextInMs } = scriptPosition(script, nowMs - record.startedMs);
    if (nextInMs !== undefined) this.#queue.addSoon(keyOf(pod), nextInMs);
    if (stage === 'crashed') await this.#crash(pod, record, nowMs);
    else if (stage !== record.stage || isLongWait(pod, stage, nextInMs)) {
      await this.#show(pod, { ...record, stage });
    } else await this.#checkGates(pod, stage);
  }

  /** Records the first crash at once, and each further crash after its back-off. */
  async #crash(pod: Pod, record: PodRecord, nowMs: number): Promise<void> {
    const first = record.stage !== 'crashed';
    const delayMs = restartDelayMs(first ? 0 : record.restarts, this.#options.restartAfterMs);
    const dueMs = first ? nowMs : record.crashedMs + delayMs;
    if (dueMs > nowMs) {
      // A crash loop never ends, so `settled` does not wait for it.
      this.#queue.addLater(keyOf(pod), dueMs - nowMs);
      return;
    }
    const restarts = first ? record.restarts : record.restarts + 1;
    await this.#show(pod, { ...record, stage: 'crashed', restarts, crashedMs: nowMs });
    const againInMs = restartDelayMs(restarts, this.#options.restartAfterMs);
    this.#queue.addLater(keyOf(pod), againInMs);
  }

  /** Writes the status of a new stage. Within a stage, changes by other writers stay. */
  async #show(pod: Pod, record: PodRecord): Promise<void> {
    const { stage, restarts, podIP } = record;
    const { uid = '' } = pod.metadata;
    const before = this.#records.get(uid);
    this.#records.set(uid, record);
    const from = before?.stage ?? 'waiting';
    const isRestart = before !== undefined && before.restarts < restarts;
    this.#recordEvents(pod, podStepEvents(pod, { from, to: stage, isRestart }));
    const situation = { stage, restarts, podIP, nowMs: this.#host.now() };
    await this.#writer.updateStatus(pod, podStatus(pod, situation));
  }

  #recordEvents(pod: Pod, events: readonly ControllerEvent[]): void {
    const source = { component: 'kubelet', node: pod.spec?.nodeName, manager: kubelet };
    const record = this.#host.events.from(source);
    for (const event of events) record(event);
  }

  async #checkGates(pod: Pod, stage: PodStage): Promise<void> {
    if ((pod.spec?.readinessGates ?? []).length === 0) return;
    const conditions = podConditions(pod, { stage, nowMs: this.#host.now() });
    await this.#writer.updateStatus(pod, { ...pod.status, conditions });
  }

  #recordOf(pod: Pod, behavior: PodBehavior, nowMs: number): PodRecord {
    const { uid = '' } = pod.metadata;
    const images = (pod.spec?.containers ?? []).map(({ image = '' }) => image);
    const identity = [behavior, ...images].join(' ');
    const known = this.#records.get(uid);
    if (known?.identity === identity) return known;
    const record: PodRecord = {
      identity,
      startedMs: nowMs - (known === undefined ? this.#headStart(pod) : 0),
      stage: known === undefined ? shownStage(pod) : 'waiting',
      restarts: known === undefined ? restartsOf(pod) : known.restarts + (hasRun(known) ? 1 : 0),
      crashedMs: nowMs,
      podIP: pod.status?.podIP ?? known?.podIP ?? this.#nextAddress(),
    };
    this.#records.set(uid, record);
    return record;
  }

  /**
   * Returns the progress of a pod that another kubelet started, in milliseconds. The pod does not start
   * again.
   */
  #headStart(pod: Pod): number {
    const { startTime } = pod.status ?? {};
    if (startTime === undefined) return 0;
    const { runningAfterMs, readyAfterMs } = this.#options;
    const ageMs = this.#host.now() - timestampMs(startTime) + runningAfterMs;
    return isPodReady(pod) ? Math.max(ageMs, readyAfterMs) : ageMs;
  }

  #nextAddress(): string {
    const n = this.#addresses++;
    return `10.244.${Math.floor(n / 254) % 256}.${(n % 254) + 1}`;
  }

  async #terminate(pod: Pod): Promise<void> {
    const { uid = '', deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata;
    const nowMs = this.#host.clock.monotonicMs();
    const graceMs = deletionGracePeriodSeconds * 1000;
    const delayMs = Math.min(this.#options.terminatedAfterMs, graceMs);
    if (!this.#doomed.has(uid)) this.#recordEvents(pod, podEndEvents(pod));
    const doomedMs = this.#doomed.get(uid) ?? nowMs + delayMs;
    this.#doomed.set(uid, doomedMs);
    if (doomedMs > nowMs) {
      this.#queue.addSoon(keyOf(pod), doomedMs - nowMs);
      return;
    }
    // Finalizers keep the pod, and their controllers must see how it ended.
    if (finalizers.length > 0 && pod.spec?.nodeName && !isPodFinished(pod)) {
      const { podIP = '' } = pod.status ?? {};
      const situation = { stage: 'failed', restarts: restartsOf(pod), podIP } as const;
      await this.#writer.updateStatus(
        pod,
        podStatus(pod, { ...situation, nowMs: this.#host.now() }),
      );
    }
    if (deletionGracePeriodSeconds > 0) {
      await this.#writer.delete(Pod, pod, { gracePeriodSeconds: 0 });
    }
  }
}

// A client cannot notice a shorter wait, so it is not worth a write.
const visibleWaitMs = 50;

function isLongWait(pod: Pod, stage: PodStage, nextInMs = 0): boolean {
  const shown = pod.status?.containerStatuses !== undefined;
  return stage === 'waiting' && !shown && nextInMs >= visibleWaitMs;
}

function hasRun({ stage }: PodRecord): boolean {
  return ['running', 'ready', 'crashed'].includes(stage);
}

function restartsOf(pod: Pod): number {
  const counts = (pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount);
  return Math.max(0, ...counts);
}

/** Input of `podStatus`. */
interface PodSituation extends ContainerSituation {
  /** The IP address that the pod has, or gets when it runs. */
  readonly podIP: string;
}

/** Computes the status of a pod in `situation.stage`. */
function podStatus(pod: Pod, situation: PodSituation): PodStatus {
  const { stage, nowMs, podIP } = situation;
  const before = pod.status ?? {};
  const initStatuses = initContainerStatuses(pod, situation);
  const hasRun = !['waiting', 'errImagePull', 'imagePullBackOff'].includes(stage);
  return {
    ...before,
    phase: phaseOf(stage),
    conditions: podConditions(pod, situation),
    startTime: before.startTime ?? formatTime(nowMs),
    ...(hasRun && podIP !== '' && { podIP, podIPs: [{ ip: podIP }] }),
    ...(initStatuses.length > 0 && { initContainerStatuses: initStatuses }),
    containerStatuses: containerStatuses(pod, situation),
  };
}

/** Computes the conditions of a pod in `stage`; the conditions of other writers stay. */
function podConditions(
  pod: Pod,
  { stage, nowMs }: Pick<PodSituation, 'stage' | 'nowMs'>,
): PodCondition[] {
  const ready = stage === 'ready' && readinessGatesOpen(pod);
  const notReady = notReadyReason(stage);
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

/** Returns the stage that the status of a pod shows. */
function shownStage(pod: Pod): PodStage {
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

function notReadyReason(stage: PodStage): string | undefined {
  switch (stage) {
    case 'ready':
      return undefined;
    case 'succeeded':
      return 'PodCompleted';
    case 'failed':
      return 'PodFailed';
    case 'waiting':
    case 'running':
    case 'errImagePull':
    case 'imagePullBackOff':
    case 'crashed':
      return 'ContainersNotReady';
  }
}

function readinessGatesOpen(pod: Pod): boolean {
  const gates = pod.spec?.readinessGates ?? [];
  return gates.every(({ conditionType }) => podCondition(pod, conditionType)?.status === 'True');
}

function phaseOf(stage: PodStage): string {
  switch (stage) {
    case 'waiting':
    case 'errImagePull':
    case 'imagePullBackOff':
      return 'Pending';
    case 'running':
    case 'ready':
    case 'crashed':
      return 'Running';
    case 'succeeded':
      return 'Succeeded';
    case 'failed':
      return 'Failed';
  }
}

type PodStatus = NonNullable<Pod['status']>;
/** One of `status.containerStatuses` of a Pod. */
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type ContainerState = NonNullable<ContainerStatus['state']>;
type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];

/** Input of the container statuses, in addition to the pod. */
interface ContainerSituation {
  readonly stage: PodStage;
  /** The number of restarts of the containers. */
  readonly restarts: number;
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
        : { running: { startedAt: formatTime(nowMs) } };
    case 'succeeded':
      return ended(0, nowMs, before);
    case 'failed':
      return ended(1, nowMs, before);
  }
}

function ended(exitCode: number, nowMs: number, before?: ContainerState): ContainerState {
  const finishedAt = formatTime(nowMs);
  const startedAt = before?.running?.startedAt ?? finishedAt;
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { terminated: { exitCode, reason, startedAt, finishedAt } };
}
