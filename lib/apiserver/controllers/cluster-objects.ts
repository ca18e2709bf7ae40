import {
  describeObject,
  formatTime,
  isAlreadyExists,
  Namespace,
  Node,
  ServiceAccount,
} from '../../object/index.js';
import type {
  EndpointSlice,
  KubernetesObject,
  ObjectKey,
  Service,
  StorageClass,
} from '../../object/index.js';
import { isNotReadyTaint } from '../rules/cluster.js';
import { kubelet, manager } from './controller-host.js';
import type { ControllerHost } from './controller-host.js';
import { defaultClassAnnotation } from './volume-controller.js';

/** Keeps the ServiceAccount `default` in each namespace. */
export function startServiceAccountController(host: ControllerHost): void {
  const writer = host.writer(manager);
  const reconcile = async ({ name: namespace }: ObjectKey): Promise<void> => {
    const live = host.get(Namespace, { name: namespace });
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) return;
    if (host.get(ServiceAccount, { namespace, name: 'default' }) !== undefined) return;
    const metadata = { name: 'default', namespace };
    try {
      await writer.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  const queue = host.objectQueue(Namespace, 'service-accounts', reconcile);
  host.watch(ServiceAccount, ({ type, object }) => {
    const { namespace: name = '' } = object.metadata;
    if (type === 'DELETED') queue.add({ name });
  });
}

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

/**
 * Removes the taint of new nodes that are ready. A node without the condition `Ready` is ready too: no kubelet
 * reports on the nodes that users create.
 */
export function startNodeReadiness(host: ControllerHost): void {
  const writer = host.writer(manager);
  host.objectQueue(Node, 'node-readiness', async (key) => {
    const node = host.get(Node, key);
    const { taints = [] } = node?.spec ?? {};
    const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
    if (node === undefined || (ready?.status ?? 'True') !== 'True') return;
    const others = taints.filter((taint) => !isNotReadyTaint(taint));
    if (others.length === taints.length) return;
    await writer.update({ ...node, spec: { ...node.spec, taints: others } });
  });
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

const standard: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { [defaultClassAnnotation]: 'true' } },
  provisioner: 'operator-builder.io/simulated',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
};

/** Creates the default StorageClass, `standard`, unless it exists. */
export function startDefaultStorageClass(host: ControllerHost): void {
  createOnce(host, [standard]);
}

const apiServer = { name: 'kubernetes', namespace: 'default' };
/** An address of the block for documentation: simulated pods reach no server. */
const apiServerAddress = '192.0.2.1';
const apiServerPort = { name: 'https', port: 6443, protocol: 'TCP' };

const apiServerService: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { ...apiServer, labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
  },
};

const apiServerEndpoints: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  addressType: 'IPv4',
  metadata: { ...apiServer, labels: { 'kubernetes.io/service-name': apiServer.name } },
  endpoints: [{ addresses: [apiServerAddress], conditions: { ready: true } }],
  ports: [apiServerPort],
};

/** Creates the Service `kubernetes` of the API server and its endpoints, unless they exist. */
export function startKubernetesService(host: ControllerHost): void {
  createOnce(host, [apiServerService, apiServerEndpoints]);
}

/** Creates objects at the start, unless they exist. */
function createOnce(host: ControllerHost, objects: readonly KubernetesObject[]): void {
  const writer = host.writer(manager);
  const create = async (object: KubernetesObject): Promise<void> => {
    try {
      await writer.create(object);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  const queue = host.queue('cluster-objects', create, describeObject);
  for (const object of objects) queue.add(object);
}
