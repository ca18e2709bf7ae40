import { deepEqual, formatTime, Node } from '../../object/index.js';
import { isSameTaint, notReadyTaint } from '../rules/cluster.js';
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
  const create = (name: string): Promise<void> =>
    writer.createIfAbsent({ ...nodeNamed(name), status: nodeStatus(host.now()) } as Node);
  const queue = host.queue('nodes', create, (name: string) => name);
  for (let n = 0; n < count; n++) queue.add(`node-${n}`);
}

/**
 * Gives each node the taint that its condition `Ready` calls for: none, not ready, or unreachable. A node without the
 * condition keeps its taints.
 */
export function startNodeTaints(host: ControllerHost): void {
  const writer = host.writer(manager);
  host.objectQueue(Node, 'node-taints', async (key) => {
    const node = host.get(Node, key);
    const ready = node && readinessOf(node);
    if (node === undefined || ready === undefined) return;
    const { taints = [] } = node.spec ?? {};
    const wanted = readinessTaints.find(({ readiness }) => readiness === ready)?.taint;
    const others = taints.filter((taint) => {
      const isForReadiness = readinessTaints.some((one) => isSameTaint(taint, one.taint));
      return !isForReadiness || (wanted !== undefined && isSameTaint(taint, wanted));
    });
    const isMissing = wanted !== undefined && !others.some((taint) => isSameTaint(taint, wanted));
    const next = isMissing ? [...others, wanted] : others;
    if (!deepEqual(next, taints))
      await writer.update({ ...node, spec: { ...node.spec, taints: next } });
  });
}

/** The taints of nodes whose condition `Ready` has another status than `True`. */
const readinessTaints = [
  { readiness: 'False', taint: notReadyTaint },
  { readiness: 'Unknown', taint: { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' } },
] as const;

/** Returns the status of the condition `Ready`; undefined if no kubelet has reported it. */
export function readinessOf({ status }: Node): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

function nodeNamed(name: string): Node {
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} };
}

/** The features of kubelets that resizes of pods need. The client's types lack the field. */
const features = {
  declaredFeatures: [
    'InPlacePodLevelResourcesVerticalScaling',
    'InPlacePodVerticalScalingInitContainers',
  ],
};

function nodeStatus(nowMs: number): NonNullable<Node['status']> {
  const now = formatTime(nowMs);
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  return {
    ...features,
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
