import type { ObjectKey } from '../../../object/kubernetes-object.js';
import { Node, PersistentVolumeClaim, Pod } from '../../../object/kinds.js';
import { keyOf, keyString } from '../../../object/object-key.js';
import type { ControllerHost } from '../controller-host.js';
import { scheduler } from '../manager-name.js';
import type { ObjectWriter } from '../object-writer.js';
import { isPodTerminating, podCondition } from '../pod-state.js';
import { timestamp } from '../timestamp.js';
import type { WorkQueue } from '../work-queue.js';
import { podFitsNode } from './node-fit.js';

/** Gives each pod a node that it fits on, once its claims are bound. */
export function startScheduler(host: ControllerHost): void {
  new Scheduler(host);
}

class Scheduler {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #queue: WorkQueue<ObjectKey>;
  /** Pods that found no node: every change of a node or claim may help them. */
  readonly #homeless = new Map<string, ObjectKey>();
  #turn = 0;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(scheduler);
    this.#queue = host.queue('scheduler', (key) => this.#reconcile(key), keyString);
    host.watch(Pod, ({ type, object }) => {
      if (type === 'DELETED') this.#homeless.delete(keyString(keyOf(object)));
      else if (isUnscheduled(object)) this.#queue.add(keyOf(object));
    });
    host.watch(Node, () => this.#retry());
    host.watch(PersistentVolumeClaim, () => this.#retry());
  }

  #retry(): void {
    for (const key of this.#homeless.values()) this.#queue.add(key);
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const pod = this.#host.get(Pod, key);
    this.#homeless.delete(keyString(key));
    if (pod === undefined || !isUnscheduled(pod)) return;
    const nodes = this.#host.list(Node);
    const fitting = nodes.filter((node) => podFitsNode(pod, node));
    const node = fitting[this.#turn % fitting.length];
    const obstacle = this.#claimProblem(pod) ?? (node === undefined ? "node(s) didn't match" : '');
    if (node === undefined || obstacle !== '') {
      this.#homeless.set(keyString(key), key);
      await this.#refuse(pod, `0/${nodes.length} nodes are available: ${obstacle}.`);
      return;
    }
    this.#turn++;
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name ?? '' };
    const metadata = { name, namespace, uid };
    await this.#writer.create({ apiVersion: 'v1', kind: 'Binding', metadata, target }, 'binding');
  }

  #claimProblem(pod: Pod): string | undefined {
    const { namespace } = pod.metadata;
    for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
      if (persistentVolumeClaim === undefined) continue;
      const name = persistentVolumeClaim.claimName;
      const claim = this.#host.get(PersistentVolumeClaim, { namespace, name });
      if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
      if (claim.metadata.deletionTimestamp !== undefined) {
        return `persistentvolumeclaim "${name}" is being deleted`;
      }
      if (claim.status?.phase !== 'Bound') {
        return 'pod has unbound immediate PersistentVolumeClaims';
      }
    }
    return undefined;
  }

  async #refuse(pod: Pod, message: string): Promise<void> {
    const type = 'PodScheduled';
    const before = podCondition(pod, type);
    const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== type);
    const lastTransitionTime = before?.lastTransitionTime ?? timestamp(this.#host.now());
    const lastProbeTime = null as unknown as string;
    const said = { status: 'False', reason: 'Unschedulable', message, lastProbeTime };
    const conditions = [...others, { type, ...said, lastTransitionTime }];
    await this.#writer.updateStatus(pod, { ...pod.status, conditions });
  }
}

function isUnscheduled(pod: Pod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec ?? {};
  return (
    !nodeName &&
    !isPodTerminating(pod) &&
    schedulerName === 'default-scheduler' &&
    schedulingGates.length === 0
  );
}
