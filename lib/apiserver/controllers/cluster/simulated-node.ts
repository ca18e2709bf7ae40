import { isAlreadyExists } from '../../../object/api-error.js';
import type { Node } from '../../../object/kinds.js';
import type { ControllerHost } from '../controller-host.js';
import { kubelet } from '../manager-name.js';
import { timestamp } from '../timestamp.js';

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
      const node = await writer.create(nodeNamed(name));
      await writer.updateStatus(node, nodeStatus(host.now()));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  const queue = host.queue('nodes', create, (name: string) => name);
  for (let n = 0; n < count; n++) queue.add(`node-${n}`);
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
  const now = timestamp(nowMs);
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
