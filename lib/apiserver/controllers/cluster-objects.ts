import { describeObject, Namespace, ServiceAccount } from '../../object/index.js';
import type {
  EndpointSlice,
  KubernetesObject,
  ObjectKey,
  Service,
  StorageClass,
} from '../../object/index.js';
import { manager } from './controller-host.js';
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
    await writer.createIfAbsent({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  };
  const queue = host.objectQueue(Namespace, 'service-accounts', reconcile);
  host.watch(ServiceAccount, ({ type, object }) => {
    const { namespace: name = '' } = object.metadata;
    if (type === 'DELETED') queue.add({ name });
  });
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
/**
 * An address that is reserved for documentation (RFC 5737). No server listens there, and none is needed: simulated pods
 * send no requests.
 */
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
  const create = (object: KubernetesObject): Promise<void> => writer.createIfAbsent(object);
  const queue = host.queue('cluster-objects', create, describeObject);
  for (const object of objects) queue.add(object);
}
