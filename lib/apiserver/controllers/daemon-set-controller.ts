import { ControllerRevision, DaemonSet, Node, Pod, keyOf } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { newestRevision, pruneRevisions, templateOf } from './controller-revisions.js';
import { DependentsClaim, followDependents } from './dependents.js';
import type { RecordEvent } from './controller-events.js';
import { PodControl } from './pod-control.js';
import {
  counted,
  intOrPercent,
  isPodAvailable,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  nextAvailableInMs,
  podFromTemplate,
  timestampMs,
} from './pod-state.js';
import type { PodTemplate } from './pod-state.js';
import { podFitsNode, podMayStayOn } from './scheduler.js';
import type { WorkQueue } from './work-queue.js';

interface SetState {
  readonly set: DaemonSet;
  readonly pods: readonly Pod[];
  readonly update: ControllerRevision;
  readonly revisions: readonly ControllerRevision[];
  readonly collisionCount: number;
}

/** Keeps one pod of each DaemonSet on each node that it fits. */
export class DaemonSetController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #control: PodControl;
  readonly #pods: DependentsClaim<Pod>;
  readonly #revisions: DependentsClaim<ControllerRevision>;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#recordEvent = host.events.from({ component: 'daemonset-controller' });
    this.#control = new PodControl(host, this.#recordEvent);
    this.#pods = new DependentsClaim(host, this.#writer, Pod);
    this.#revisions = new DependentsClaim(host, this.#writer, ControllerRevision);
    this.#queue = host.objectQueue(DaemonSet, 'daemon-sets', (key) => this.#reconcile(key));
    followDependents(host, { type: Pod, ownerType: DaemonSet, queue: this.#queue });
    host.watch(Node, () => {
      for (const set of host.list(DaemonSet)) this.#queue.add(keyOf(set));
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const set = this.#host.get(DaemonSet, key);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
    const state = await this.#stateOf(set);
    try {
      await this.#carryOut(state, daemonSetPlan(viewOf(set, this.#nodeViews(state))));
    } finally {
      await this.#report(key, state);
    }
  }

  async #carryOut(state: SetState, plan: DaemonSetPlan): Promise<void> {
    const { set } = state;
    for (const name of plan.deletePods) {
      const pod = state.pods.find(({ metadata }) => metadata.name === name);
      if (pod === undefined) continue;
      this.#recordEnd(set, pod);
      await this.#control.delete(set, pod);
    }
    for (const node of plan.createOn) {
      await this.#control.create(set, daemonPod(set, state.update, node));
    }
  }

  /** Records that a finished pod is about to be replaced. */
  #recordEnd(set: DaemonSet, pod: Pod): void {
    const { name = '', namespace = '' } = pod.metadata;
    const where = `daemon pod ${namespace}/${name} on node ${pod.spec?.nodeName ?? ''}`;
    const { phase } = pod.status ?? {};
    if (phase === 'Failed') {
      const message = `Found failed ${where}, will try to kill it`;
      this.#recordEvent({ about: set, type: 'Warning', reason: 'FailedDaemonPod', message });
    } else if (phase === 'Succeeded') {
      const message = `Found succeeded ${where}, will try to delete it`;
      this.#recordEvent({ about: set, reason: 'SucceededDaemonPod', message });
    }
  }

  async #stateOf(set: DaemonSet): Promise<SetState> {
    const pods = await this.#pods.claim(set);
    const revisions = await this.#revisions.claim(set);
    const history = { writer: this.#writer, hashLabel: revisionHashLabel };
    const { revision: update, collisionCount } = await newestRevision(history, set, revisions);
    return { set, pods, update, revisions, collisionCount };
  }

  #nodeViews(state: SetState): DaemonNodeView[] {
    const { set, pods } = state;
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    const nowMs = this.#host.now();
    return this.#nodes(set, pods).map(({ pods: placed, ...node }) => ({
      ...node,
      pods: placed.map((pod) => ({
        name: pod.metadata.name ?? '',
        updated: isOfRevision(pod, state.update),
        available: isPodAvailable(pod, { minReadySeconds, nowMs }),
        terminating: isPodTerminating(pod),
        finished: isPodFinished(pod),
      })),
    }));
  }

  #nodes(
    set: DaemonSet,
    pods: readonly Pod[],
  ): (Omit<DaemonNodeView, 'pods'> & { readonly pods: Pod[] })[] {
    const pod = podFor(set, set.spec?.template ?? {});
    const oldestFirst = pods.toSorted(
      (a, b) =>
        timestampMs(a.metadata.creationTimestamp) - timestampMs(b.metadata.creationTimestamp),
    );
    return this.#host.list(Node).map((node) => {
      const { name = '' } = node.metadata;
      const placed = oldestFirst.filter((other) => nodeNameOf(other) === name);
      return {
        ...{ name, wanted: podFitsNode(pod, node), keeps: podMayStayOn(pod, node) },
        pods: placed,
      };
    });
  }

  async #report(key: ObjectKey, state: SetState): Promise<void> {
    const set = this.#host.get(DaemonSet, key);
    if (set === undefined || set.metadata.uid !== state.set.metadata.uid) return;
    const { update, collisionCount, revisions } = state;
    const nowMs = this.#host.now();
    const pods = this.#host.controlled(Pod, set).filter((pod) => !isPodFinished(pod));
    const isUpdated = (pod: Pod): boolean => isOfRevision(pod, update);
    const nodes = this.#nodes(set, pods);
    const status = daemonSetStatus(set, { nodes, isUpdated, collisionCount, nowMs });
    await this.#writer.updateStatus(set, status);
    const hashes = new Set(pods.map((pod) => pod.metadata.labels?.[revisionHashLabel] ?? ''));
    const used = revisions.filter(({ metadata }) =>
      hashes.has(metadata.labels?.[revisionHashLabel] ?? ''),
    );
    const inUse = new Set([update, ...used].map(({ metadata }) => metadata.name ?? ''));
    const limit = set.spec?.revisionHistoryLimit ?? 10;
    await pruneRevisions(this.#writer, revisions, { limit, inUse });
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    const wait = nextAvailableInMs(pods, { minReadySeconds, nowMs });
    if (wait !== undefined) this.#queue.addSoon(key, wait);
  }
}

function isOfRevision(pod: Pod, revision: ControllerRevision): boolean {
  const hash = revision.metadata.labels?.[revisionHashLabel];
  return pod.metadata.labels?.[revisionHashLabel] === hash;
}

function viewOf(set: DaemonSet, nodes: readonly DaemonNodeView[]): DaemonSetView {
  const { updateStrategy } = set.spec ?? {};
  const { maxSurge = 0, maxUnavailable = 1 } = updateStrategy?.rollingUpdate ?? {};
  const wanted = nodes.filter((node) => node.wanted).length;
  return {
    nodes,
    strategy: updateStrategy?.type === 'OnDelete' ? 'OnDelete' : 'RollingUpdate',
    maxUnavailable: intOrPercent(maxUnavailable, wanted, 'up'),
    maxSurge: intOrPercent(maxSurge, wanted, 'up'),
  };
}

/** A pod of a DaemonSet, as {@link daemonSetPlan} reads it. */
interface DaemonPodView {
  readonly name: string;
  /** True if the pod has the newest revision. */
  readonly updated: boolean;
  /** True if the pod has been ready for at least `minReadySeconds`. */
  readonly available: boolean;
  readonly terminating: boolean;
  readonly finished: boolean;
}

/** A node and the pods of the DaemonSet on it, oldest first. */
interface DaemonNodeView {
  readonly name: string;
  /** True if the node gets a pod. */
  readonly wanted: boolean;
  /** True if a pod that the node has may stay. */
  readonly keeps: boolean;
  readonly pods: readonly DaemonPodView[];
}

/** A DaemonSet, as {@link daemonSetPlan} reads it. */
interface DaemonSetView {
  readonly nodes: readonly DaemonNodeView[];
  readonly strategy: 'RollingUpdate' | 'OnDelete';
  /** The maximum number of nodes without an available pod during an update. */
  readonly maxUnavailable: number;
  /** The maximum number of nodes with a second pod during an update. With 0, old pods are deleted first. */
  readonly maxSurge: number;
}

/** Pods to delete, and nodes to create a pod on. */
interface DaemonSetPlan {
  readonly createOn: readonly string[];
  readonly deletePods: readonly string[];
}

/** Plans the next step of a DaemonSet: one pod on each wanted node, then the update. */
function daemonSetPlan(set: DaemonSetView): DaemonSetPlan {
  const placement = placePods(set.nodes);
  if (set.strategy === 'OnDelete') return placement;
  const update = set.maxSurge > 0 ? surgeStep(set) : replaceStep(set);
  return {
    createOn: [...new Set([...placement.createOn, ...update.createOn])],
    deletePods: [...new Set([...placement.deletePods, ...update.deletePods])],
  };
}

function placePods(nodes: readonly DaemonNodeView[]): DaemonSetPlan {
  const createOn: string[] = [];
  const deletePods: string[] = [];
  for (const { name, wanted, keeps, pods } of nodes) {
    const gone = pods.filter(({ finished, terminating }) => finished && !terminating);
    const alive = pods.filter(({ finished, terminating }) => !finished && !terminating);
    deletePods.push(...gone.map((pod) => pod.name));
    if (!keeps) deletePods.push(...alive.map((pod) => pod.name));
    // A terminating pod must be gone before the next pod is created.
    else if (wanted && pods.length === 0) createOn.push(name);
    else deletePods.push(...duplicates(alive).map((pod) => pod.name));
  }
  return { createOn, deletePods };
}

/** Returns the surplus pods of a node: all except its oldest updated pod and its oldest old pod. A surge needs both. */
function duplicates(alive: readonly DaemonPodView[]): DaemonPodView[] {
  const [updated, old] = [alive.filter((pod) => pod.updated), alive.filter((pod) => !pod.updated)];
  return [...updated.slice(1), ...old.slice(1)];
}

/** Deletes all unavailable old pods, and available ones as far as `maxUnavailable` allows. */
function replaceStep({ nodes, maxUnavailable }: DaemonSetView): DaemonSetPlan {
  const broken: string[] = [];
  const working: string[] = [];
  let unavailable = 0;
  for (const { wanted, pods } of nodes) {
    // A node that gets no new pod may have an old pod.
    if (!wanted && pods.length === 0) continue;
    const pod = pods.find(({ terminating, finished }) => !terminating && !finished);
    if (pod === undefined) unavailable++;
    else if (pod.updated) unavailable += pod.available ? 0 : 1;
    else if (pod.available) working.push(pod.name);
    else {
      broken.push(pod.name);
      unavailable++;
    }
  }
  const room = Math.max(0, maxUnavailable - unavailable);
  return { createOn: [], deletePods: [...broken, ...working.slice(0, room)] };
}

/**
 * Creates a new pod in addition to the old one, and deletes the old pod when the new one is available. An old pod on a
 * node that gets no new pod is deleted if enough other pods are available.
 */
function surgeStep({ nodes, maxSurge }: DaemonSetView): DaemonSetPlan {
  const deletePods: string[] = [];
  // An old pod that is not available may be replaced at any time.
  const broken: string[] = [];
  const working: string[] = [];
  const unwanted: string[] = [];
  let surging = 0;
  let spare = 0;
  for (const { name, wanted, pods } of nodes) {
    const alive = pods.filter(({ terminating, finished }) => !terminating && !finished);
    const old = alive.find(({ updated }) => !updated);
    const fresh = alive.find(({ updated }) => updated);
    spare += ((old ?? fresh)?.available === true ? 1 : 0) - (wanted ? 1 : 0);
    if (old === undefined) continue;
    if (fresh?.available === true) deletePods.push(old.name);
    else if (fresh !== undefined) surging++;
    else if (wanted) (old.available ? working : broken).push(name);
    else (old.available ? unwanted : deletePods).push(old.name);
  }
  const room = Math.max(0, maxSurge - surging);
  deletePods.push(...unwanted.slice(0, Math.max(0, spare)));
  return { createOn: [...broken, ...working.slice(0, room)], deletePods };
}

/** The label with the hash of the revision, on pods and on ControllerRevisions. */
const revisionHashLabel = 'controller-revision-hash';
const generationAnnotation = 'deprecated.daemonset.template.generation';
const generationLabel = 'pod-template-generation';

type PodSpec = NonNullable<Pod['spec']>;
type Toleration = NonNullable<PodSpec['tolerations']>[number];

// Problems of a node do not evict its daemon pods.
const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

function daemonPod(set: DaemonSet, revision: ControllerRevision, nodeName: string): Pod {
  const pod = podFor(set, templateOf(revision));
  const generation = set.metadata.annotations?.[generationAnnotation];
  const labels = {
    ...pod.metadata.labels,
    [revisionHashLabel]: revision.metadata.labels?.[revisionHashLabel] ?? '',
    ...(generation !== undefined && { [generationLabel]: generation }),
  };
  const spec = { ...pod.spec, affinity: pinnedTo(nodeName, pod.spec) } as PodSpec;
  return { ...pod, metadata: { ...pod.metadata, labels }, spec };
}

/** Returns the node of a DaemonSet's pod, even before the pod is scheduled. */
function nodeNameOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    const name = matchFields.find(({ key }) => key === 'metadata.name')?.values?.[0];
    if (name !== undefined) return name;
  }
  return undefined;
}

function podFor(set: DaemonSet, template: PodTemplate): Pod {
  const pod = podFromTemplate(template, set);
  const given = pod.spec?.tolerations ?? [];
  const tolerations = [...given, ...daemonTolerations];
  return { ...pod, spec: { ...pod.spec, tolerations } as PodSpec };
}

function pinnedTo(nodeName: string, spec: PodSpec | undefined): PodSpec['affinity'] {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return {
    ...spec?.affinity,
    nodeAffinity: {
      ...spec?.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: required,
    },
  };
}

type DaemonSetStatus = NonNullable<DaemonSet['status']>;

/** A node and the pods of the DaemonSet on it that are not finished, oldest first. */
interface DaemonNode {
  readonly wanted: boolean;
  readonly pods: readonly Pod[];
}

interface DaemonSetObservation {
  readonly nodes: readonly DaemonNode[];
  readonly isUpdated: (pod: Pod) => boolean;
  readonly collisionCount: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Computes the status of a DaemonSet from its pods. */
function daemonSetStatus(set: DaemonSet, observation: DaemonSetObservation): DaemonSetStatus {
  const { nodes, isUpdated, collisionCount, nowMs } = observation;
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const wanted = nodes.filter((node) => node.wanted);
  // During a surge, the old pod of a node counts until it is gone.
  const placed = wanted.flatMap(({ pods }) => pods.find((pod) => !isUpdated(pod)) ?? pods[0] ?? []);
  const ready = placed.filter(isPodReady);
  const available = ready.filter((pod) => isPodAvailable(pod, { minReadySeconds, nowMs })).length;
  return {
    currentNumberScheduled: placed.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: nodes.filter((node) => !node.wanted && node.pods.length > 0).length,
    numberReady: ready.length,
    observedGeneration: set.metadata.generation ?? 0,
    ...counted('updatedNumberScheduled', placed.filter(isUpdated).length),
    ...counted('numberAvailable', available),
    ...counted('numberUnavailable', wanted.length - available),
    // A `collisionCount` that is in the status stays: the server refuses a lower one.
    ...((collisionCount > 0 || set.status?.collisionCount !== undefined) && { collisionCount }),
  };
}
