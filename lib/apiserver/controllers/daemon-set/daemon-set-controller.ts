import type { ObjectKey } from '../../../object/kubernetes-object.js';
import { ControllerRevision, DaemonSet, Node, Pod } from '../../../object/kinds.js';
import { keyOf } from '../../../object/object-key.js';
import type { ControllerHost } from '../controller-host.js';
import { newestRevision, pruneRevisions } from '../controller-revisions.js';
import { DependentsClaim } from '../dependents-claim.js';
import { followDependents } from '../follow-dependents.js';
import { intOrPercent } from '../int-or-percent.js';
import { manager } from '../manager-name.js';
import type { ObjectWriter } from '../object-writer.js';
import {
  isPodAvailable,
  isPodFinished,
  isPodTerminating,
  nextAvailableInMs,
} from '../pod-state.js';
import { timestampMs } from '../timestamp.js';
import type { WorkQueue } from '../work-queue.js';
import { daemonFitsNode, daemonPod, nodeNameOf, revisionHashLabel } from './daemon-pod.js';
import { daemonSetPlan } from './daemon-set-plan.js';
import type { DaemonNodeView, DaemonSetView } from './daemon-set-plan.js';
import { daemonSetStatus } from './daemon-set-status.js';

/** Keeps one pod of each DaemonSet on each node that it fits. */
export function startDaemonSetController(host: ControllerHost): void {
  new DaemonSetController(host).start();
}

interface SetState {
  readonly set: DaemonSet;
  readonly pods: readonly Pod[];
  readonly update: ControllerRevision;
  readonly revisions: readonly ControllerRevision[];
  readonly collisionCount: number;
}

class DaemonSetController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #pods: DependentsClaim<Pod>;
  readonly #revisions: DependentsClaim<ControllerRevision>;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#pods = new DependentsClaim(host, this.#writer, Pod);
    this.#revisions = new DependentsClaim(host, this.#writer, ControllerRevision);
    this.#queue = host.objectQueue(DaemonSet, 'daemon-sets', (key) => this.#reconcile(key));
  }

  start(): void {
    const queue = this.#queue;
    followDependents(this.#host, { type: Pod, ownerType: DaemonSet, queue });
    this.#host.watch(Node, () => {
      for (const set of this.#host.list(DaemonSet)) queue.add(keyOf(set));
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const set = this.#host.get(DaemonSet, key);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
    const state = await this.#stateOf(set);
    const nodes = this.#nodeViews(state);
    const plan = daemonSetPlan(viewOf(set, nodes));
    for (const name of plan.deletePods) {
      const pod = state.pods.find(({ metadata }) => metadata.name === name);
      if (pod !== undefined) await this.#writer.delete(Pod, pod);
    }
    for (const node of plan.createOn) await this.#writer.create(daemonPod(set, state.update, node));
    await this.#report(key, state);
  }

  async #stateOf(set: DaemonSet): Promise<SetState> {
    const selector = set.spec?.selector;
    const pods = await this.#pods.claim({ type: Pod, owner: set, selector });
    const rule = { type: ControllerRevision, owner: set, selector };
    const revisions = await this.#revisions.claim(rule);
    const history = { host: this.#host, writer: this.#writer, hashLabel: revisionHashLabel };
    const known = { revisions, collisionCount: set.status?.collisionCount ?? 0 };
    const { revision: update, collisionCount } = await newestRevision(history, set, known);
    return { set, pods, update, revisions, collisionCount };
  }

  #nodeViews(state: SetState): DaemonNodeView[] {
    const { set, pods } = state;
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    const nowMs = this.#host.now();
    return this.#nodes(set, pods).map(({ name, wanted, pods: placed }) => ({
      name,
      wanted,
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
  ): { readonly name: string; readonly wanted: boolean; readonly pods: Pod[] }[] {
    const oldestFirst = pods.toSorted(
      (a, b) =>
        timestampMs(a.metadata.creationTimestamp) - timestampMs(b.metadata.creationTimestamp),
    );
    return this.#host.list(Node).map((node) => {
      const { name = '' } = node.metadata;
      const placed = oldestFirst.filter((pod) => nodeNameOf(pod) === name);
      return { name, wanted: daemonFitsNode(set, node), pods: placed };
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
