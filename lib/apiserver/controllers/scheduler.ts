import {
  formatTime,
  Node,
  PersistentVolumeClaim,
  Pod,
  matchesLabels,
  keyOf,
  keyString,
} from '../../object/index.js';
import type { ObjectKey, LabelSelectorExpression } from '../../object/index.js';
import { errorMessage } from '../../system/index.js';
import { isSameTaint, notReadyTaint } from '../rules/cluster.js';
import type { RecordEvent } from './controller-events.js';
import { scheduler } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { isPodTerminating, podCondition } from './pod-state.js';
import { readinessOf } from './simulated-nodes.js';
import type { WorkQueue } from './work-queue.js';

/** The node for a pod, or the obstacle to its scheduling. */
type Placement =
  | { readonly node: Node }
  /** `fleeting`: likely to be gone in a moment, so not reported yet. */
  | { readonly obstacle: string; readonly fleeting: boolean };

// The time that the scheduler waits for a claim to be bound before it reports an obstacle.
const claimPatienceMs = 1;

/** Assigns each pod to a node that it fits, once its claims are bound. */
export class Scheduler {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #queue: WorkQueue<ObjectKey>;
  /** Pods without a fitting node. The scheduler tries them again after a change of a node or of their claims. */
  readonly #unscheduled = new Map<string, { readonly pod: Pod; readonly sinceMs: number }>();
  #turn = 0;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(scheduler);
    const source = { component: 'default-scheduler', manager: scheduler };
    this.#recordEvent = host.events.from(source);
    this.#queue = host.queue('scheduler', (key) => this.#reconcile(key), keyString);
    host.watch(Pod, ({ type, object }) => {
      if (type === 'DELETED') this.#unscheduled.delete(keyString(keyOf(object)));
      else if (isUnscheduled(object)) this.#queue.add(keyOf(object));
    });
    host.watch(Node, () => this.#retry(() => true));
    host.watch(PersistentVolumeClaim, ({ object }) => this.#retry((pod) => mounts(pod, object)));
  }

  #retry(concerns: (pod: Pod) => boolean): void {
    for (const { pod } of this.#unscheduled.values()) {
      if (concerns(pod)) this.#queue.add(keyOf(pod));
    }
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const pod = this.#host.get(Pod, key);
    const id = keyString(key);
    if (pod === undefined || !isUnscheduled(pod)) {
      this.#unscheduled.delete(id);
      return;
    }
    const placement = this.#place(pod);
    if ('node' in placement) {
      this.#unscheduled.delete(id);
      await this.#bind(pod, placement.node);
      return;
    }
    const { obstacle, fleeting } = placement;
    const nowMs = this.#host.clock.monotonicMs();
    const sinceMs = this.#unscheduled.get(id)?.sinceMs ?? nowMs;
    this.#unscheduled.set(id, { pod, sinceMs });
    const leftMs = sinceMs + claimPatienceMs - nowMs;
    if (fleeting && leftMs > 0) this.#queue.addSoon(key, leftMs);
    else await this.#refuse(pod, obstacle, 'Unschedulable');
  }

  #place(pod: Pod): Placement {
    const nodes = this.#host.list(Node);
    const none = `0/${nodes.length} nodes are available: `;
    const problem = this.#claimProblem(pod);
    if (problem !== undefined) return { obstacle: `${none}${problem}.`, fleeting: true };
    const fitting = nodes.filter((node) => podFitsNode(pod, node));
    const node = fitting[this.#turn % fitting.length];
    if (node !== undefined) return { node };
    return { obstacle: `${none}node(s) didn't match.`, fleeting: false };
  }

  async #bind(pod: Pod, node: Node): Promise<void> {
    this.#turn++;
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name ?? '' };
    const metadata = { name, namespace, uid };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata, target };
    try {
      await this.#writer.create(binding, 'binding');
    } catch (error) {
      await this.#refuse(pod, errorMessage(error), 'SchedulerError');
      throw error;
    }
    const message = `Successfully assigned ${namespace}/${name} to ${target.name}`;
    this.#recordEvent({ about: pod, reason: 'Scheduled', action: 'Binding', message });
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

  async #refuse(
    pod: Pod,
    message: string,
    reason: 'Unschedulable' | 'SchedulerError',
  ): Promise<void> {
    const type = 'PodScheduled';
    const before = podCondition(pod, type);
    const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== type);
    const lastTransitionTime = before?.lastTransitionTime ?? formatTime(this.#host.now());
    const lastProbeTime = null as unknown as string;
    const said = { status: 'False', reason, message, lastProbeTime };
    const event = { reason: 'FailedScheduling', action: 'Scheduling', message };
    this.#recordEvent({ about: pod, type: 'Warning', ...event });
    const conditions = [...others, { type, ...said, lastTransitionTime }];
    await this.#writer.updateStatus(pod, { ...pod.status, conditions });
  }
}

/** Ignores namespaces: a claim of the same name elsewhere causes another attempt, which changes nothing. */
function mounts(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return (pod.spec?.volumes ?? []).some(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata.name,
  );
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

/** Returns true if a pod may run on a node, by node selector, required affinity and taints. Resources are ignored. */
export function podFitsNode(pod: Pod, node: Node): boolean {
  return (
    selectsNode(pod, node) &&
    taintsOf(node).every((taint) => tolerates(pod, taint)) &&
    (node.spec?.unschedulable !== true || tolerates(pod, unschedulable))
  );
}

/**
 * Returns true if a pod that runs on a node may stay. Of the taints, only those with the effect `NoExecute` evict it.
 */
export function podMayStayOn(pod: Pod, node: Node): boolean {
  const evicting = taintsOf(node).filter(({ effect }) => effect === 'NoExecute');
  return selectsNode(pod, node) && evicting.every((taint) => tolerates(pod, taint));
}

function selectsNode(pod: Pod, node: Node): boolean {
  return nodeSelectorFits(pod, node) && affinityFits(pod, node);
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

/**
 * Returns the taints that keep pods away. A node without the condition `Ready` was created by a user. No kubelet will
 * ever report that node as ready, so the not-ready taint of new nodes does not count.
 */
function taintsOf(node: Node): readonly Taint[] {
  const { taints = [] } = node.spec ?? {};
  if (readinessOf(node) !== undefined) return taints;
  return taints.filter((taint) => !isSameTaint(taint, notReadyTaint));
}

const unschedulable: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function nodeSelectorFits(pod: Pod, node: Node): boolean {
  const wanted = Object.entries(pod.spec?.nodeSelector ?? {});
  return wanted.every(([key, value]) => node.metadata.labels?.[key] === value);
}

function affinityFits(pod: Pod, node: Node): boolean {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  const fields = { 'metadata.name': node.metadata.name ?? '' };
  return required.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    // A term without requirements matches nothing.
    if (matchExpressions.length + matchFields.length === 0) return false;
    return allHold(matchExpressions, node.metadata.labels ?? {}) && allHold(matchFields, fields);
  });
}

function allHold(
  expressions: readonly LabelSelectorExpression[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return expressions.every((expression) => {
    const { key, operator, values = [] } = expression;
    // Node affinity has two more operators than label selectors.
    if (operator === 'Gt' || operator === 'Lt') {
      return matchesLabels([{ key, operator, values }], labels);
    }
    return matchesLabels({ matchExpressions: [expression] }, labels);
  });
}

function tolerates(pod: Pod, taint: Taint): boolean {
  if (taint.effect === 'PreferNoSchedule') return true;
  return (pod.spec?.tolerations ?? []).some(({ key = '', operator, value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (operator === 'Exists') return key === '' || key === taint.key;
    return key === taint.key && value === (taint.value ?? '');
  });
}
