import { deepEqual, formatTime, isAlreadyExists, Node } from '../../object/index.js';
import { isNotReadyTaint, notReadyTaint } from '../rules/cluster.js';
import { kubelet, manager } from './controller-host.js';
import type { ControllerHost } from './controller-host.js';

const plenty = { cpu: '1k', memory: '1Ti', pods: '1M' };

const statements: readonly (readonly [type: string, status: string, reason: string])[] = [
  ['Ready', 'True', 'KubeletReady'],
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID'],
  ['NetworkUnavailable', 'False', 'RouteCreated'],
];

/** Creates the Nodes of the simulated pods, `node-0` and so on, unless they exist. */
export function startSimulatedNodes(host: ControllerHost, count: number): void {
  const writer = host.writer(kubelet);
  const create = async (name: string): Promise<void> => {
    try {
      await writer.create({ ...nodeNamed(name), status: nodeStatus(host.now()) });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  const queue = host.queue('nodes', create, (name: string) => name);
  for (let n = 0; n < count; n++) queue.add(`node-${n}`);
}

/**
 * Keeps the taints of nodes that are not ready, and of unreachable ones. Nodes without the condition `Ready` keep
 * what they have: no kubelet has reported on them.
 */
export function startNodeTaints(host: ControllerHost): void {
  const writer = host.writer(manager);
  host.objectQueue(Node, 'node-taints', async (key) => {
    const node = host.get(Node, key);
    const ready = node === undefined ? undefined : readinessOf(node);
    if (node === undefined || ready === undefined) return;
    const { taints = [] } = node.spec ?? {};
    const wanted = ready === 'True' ? [] : [ready === 'False' ? notReadyTaint : unreachableTaint];
    const isKept = ({ key, effect }: Taint): boolean =>
      wanted.some((taint) => taint.key === key && taint.effect === effect);
    const others = taints.filter((taint) => isKept(taint) || !isOwnTaint(taint));
    const missing = others.some(isKept) ? [] : wanted;
    const next = [...others, ...missing];
    if (!deepEqual(next, taints))
      await writer.update({ ...node, spec: { ...node.spec, taints: next } });
  });
}

/** Returns the status of the condition `Ready`; undefined if no kubelet has reported it. */
export function readinessOf({ status }: Node): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

const unreachableTaint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' } as const;

function isOwnTaint(taint: Taint): boolean {
  const isUnreachable =
    taint.key === unreachableTaint.key && taint.effect === unreachableTaint.effect;
  return isUnreachable || isNotReadyTaint(taint);
}

function nodeNamed(name: string): Node {
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} };
}

function nodeStatus(nowMs: number): NonNullable<Node['status']> {
  const now = formatTime(nowMs);
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  return {
    allocatable: plenty,
    capacity: plenty,
    conditions: statements.map(([type, status, reason]) => ({
      type,
      status,
      reason,
      message: 'simulated',
      ...times,
    })),
  };
}
