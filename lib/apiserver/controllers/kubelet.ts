import { ConfigMap, Pod, Secret, keyOf } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import type { ControllerEvent } from './controller-events.js';
import { kubelet } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { podEndEvents, podStepEvents } from './kubelet-events.js';
import { missingReference } from './missing-references.js';
import type { MissingReference } from './missing-references.js';
import { rootCertificateName } from './root-certificate.js';
import {
  podConditions,
  podStatus,
  resizedStatus,
  restartsOf,
  shownStage,
} from './kubelet-status.js';
import { podBehaviorOf, podScript, restartDelayMs, scriptPosition } from './pod-behavior.js';
import type { PodStage, ResolvedPodOptions } from './pod-behavior.js';
import type { PodBehavior } from './pod-rules.js';
import { isPodFinished, isPodReady, isPodTerminating, timestampMs } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

/** The kubelet's record of a pod. The times in a pod's status are too coarse for the simulation. */
interface PodRecord {
  /** The behavior and the images of the pod. If they change, the simulation of the pod starts again. */
  readonly identity: string;
  readonly startedMs: number;
  /** The stage in the pod's status; `waiting` before the first status. */
  readonly stage: PodStage;
  readonly restarts: number;
  /** The time of the containers' last crash, on the monotonic clock. */
  readonly crashedMs: number;
  readonly podIP: string;
}

/** Options of {@link Kubelet}. */
interface KubeletOptions extends ResolvedPodOptions {
  /** False if no namespace has the ConfigMap `kube-root-ca.crt`: pods then start without it. */
  readonly rootCertificates: boolean;
}

/** Simulates the kubelet of every node: starts pods, makes them ready, ends and removes them. */
export class Kubelet {
  readonly #host: ControllerHost;
  readonly #options: KubeletOptions;
  readonly #writer: ObjectWriter;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #records = new Map<string, PodRecord>();
  readonly #doomed = new Map<string, number>();
  /** The pods that wait because a ConfigMap or a Secret does not exist, or lacks a key. */
  readonly #held = new Map<string, { readonly key: ObjectKey; readonly message: string }>();
  #addresses = 0;

  constructor(host: ControllerHost, options: KubeletOptions) {
    this.#host = host;
    this.#options = options;
    this.#writer = host.writer(kubelet);
    this.#queue = host.objectQueue(Pod, 'kubelet', (key) => this.#reconcile(key));
    options.rules.onChange(() => {
      for (const pod of host.list(Pod)) this.#queue.add(keyOf(pod));
    });
    host.onRestore(() => {
      this.#records.clear();
      this.#doomed.clear();
      this.#held.clear();
    });
    for (const type of [ConfigMap, Secret]) {
      host.watch<ConfigMap | Secret>(type, ({ object }) =>
        this.#startHeld(object.metadata.namespace),
      );
    }
    host.watch(Pod, ({ type, object }) => {
      if (type !== 'DELETED') return;
      this.#records.delete(object.metadata.uid ?? '');
      this.#doomed.delete(object.metadata.uid ?? '');
      this.#held.delete(object.metadata.uid ?? '');
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
    const missing = record.stage === 'waiting' ? this.#missing(pod) : undefined;
    // A kubelet mounts volumes, then pulls images, then reads the environment of containers.
    const pullsFirst = behavior === 'imagePullError' && missing?.container !== undefined;
    if (missing !== undefined && !pullsFirst) {
      await this.#hold(pod, record, { missing, nowMs });
      return;
    }
    this.#held.delete(pod.metadata.uid ?? '');
    const restartable = pod.spec?.restartPolicy !== 'Never';
    const script = podScript(behavior, restartable, this.#options);
    const { stage, nextInMs } = scriptPosition(script, nowMs - record.startedMs);
    if (nextInMs !== undefined) this.#queue.addSoon(keyOf(pod), nextInMs);
    if (stage === 'crashed') await this.#crash(pod, record, nowMs);
    else if (stage !== record.stage || isLongWait(pod, stage, nextInMs)) {
      await this.#show(pod, { ...record, stage });
    } else await this.#refresh(pod, stage);
  }

  #missing(pod: Pod): MissingReference | undefined {
    const { namespace } = pod.metadata;
    const isAssumed = (name: string): boolean =>
      !this.#options.rootCertificates && name === rootCertificateName;
    return missingReference(pod, {
      isAssumed,
      find: (type, name) => this.#host.get(type, { namespace, name }),
    });
  }

  /** Writes into the status why a pod cannot start, and lets the pod wait. */
  async #hold(
    pod: Pod,
    record: PodRecord,
    { missing, nowMs }: { readonly missing: MissingReference; readonly nowMs: number },
  ): Promise<void> {
    const { stage, podIP, restarts } = record;
    const { uid = '' } = pod.metadata;
    const known = this.#held.get(uid);
    const { message, event } = missing;
    this.#held.set(uid, { key: keyOf(pod), message });
    // The times of the pod's behavior count from the moment when the missing object exists.
    this.#records.set(uid, { ...record, startedMs: nowMs });
    if (known?.message !== message) this.#recordEvents(pod, [event]);
    const situation = { stage, restarts, podIP, nowMs: this.#host.now(), missing };
    await this.#writer.updateStatus(pod, podStatus(pod, situation));
  }

  #startHeld(namespace: string | undefined): void {
    for (const { key } of this.#held.values()) {
      if (key.namespace === namespace) this.#queue.add(key);
    }
  }

  /** Records the first crash immediately, and each further crash after its back-off. */
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

  /** Updates the conditions and the resources in the status of a pod that stays in its stage. */
  async #refresh(pod: Pod, stage: PodStage): Promise<void> {
    const hasGates = (pod.spec?.readinessGates ?? []).length > 0;
    const conditions = hasGates && podConditions(pod, { stage, nowMs: this.#host.now() });
    await this.#writer.updateStatus(pod, {
      ...resizedStatus(pod),
      ...(conditions && { conditions }),
    });
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
   * Returns how long a pod has run already, in milliseconds, if it has a status from before this kubelet started. Such
   * a pod does not start again.
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
    // Finalizers still keep the pod: show in the status how it ended, for the controllers that remove them.
    if (finalizers.length > 0 && !isPodFinished(pod)) {
      await this.#writer.updateStatus(pod, this.#endedStatus(pod));
    }
    if (deletionGracePeriodSeconds > 0) {
      await this.#writer.delete(Pod, pod, { gracePeriodSeconds: 0 });
    }
  }

  /** Returns the status of a pod that has ended because it was deleted. A pod without a node never ran. */
  #endedStatus(pod: Pod): Pod['status'] {
    if (!pod.spec?.nodeName) return { ...pod.status, phase: 'Failed' };
    const { podIP = '' } = pod.status ?? {};
    // The exit code of programs that end by SIGTERM.
    const ended = { stage: 'failed', exitCode: 143 } as const;
    return podStatus(pod, { ...ended, restarts: restartsOf(pod), podIP, nowMs: this.#host.now() });
  }
}

// Clients cannot notice a shorter wait, so the kubelet writes no status for it.
const visibleWaitMs = 50;

function isLongWait(pod: Pod, stage: PodStage, nextInMs = 0): boolean {
  const shown = pod.status?.containerStatuses !== undefined;
  return stage === 'waiting' && !shown && nextInMs >= visibleWaitMs;
}

function hasRun({ stage }: PodRecord): boolean {
  return ['running', 'ready', 'crashed'].includes(stage);
}
