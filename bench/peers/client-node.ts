// A typical operator on client-node alone: informers, a set as the queue, and create or replace for each
// object. `client-node.ts --namespace NS [--workers N]`.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import {
  ApiException,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  V1ObjectMeta,
  V1OwnerReference,
} from '@kubernetes/client-node';
import type { Informer, KubernetesObject, ObjectCache } from '@kubernetes/client-node';

interface Ship extends KubernetesObject {
  readonly spec: {
    readonly replicas: number;
    readonly settings: Readonly<Record<string, string>>;
  };
}

interface Owned extends KubernetesObject {
  readonly spec?: object;
  readonly data?: object;
}

const { values } = parseArgs({
  options: {
    namespace: { type: 'string', default: 'default' },
    workers: { type: 'string', default: '8' },
  },
});
const { namespace } = values;
const kubeConfig = new KubeConfig();
kubeConfig.loadFromDefault();
const api = KubernetesObjectApi.makeApiClient(kubeConfig);

type Followed<T extends KubernetesObject> = Informer<T> & ObjectCache<T>;

function informerOf<T extends KubernetesObject>(path: string, kind: string): Followed<T> {
  const [, root = '', ...rest] = path.split('/');
  const apiVersion = root === 'api' ? 'v1' : rest.slice(0, 2).join('/');
  const list = () => api.list<T>(apiVersion, kind, namespace);
  const [plural = ''] = rest.slice(-1);
  const base = root === 'api' ? '/api/v1' : `/apis/${apiVersion}`;
  return makeInformer<T>(kubeConfig, `${base}/namespaces/${namespace}/${plural}`, list);
}

const ships = informerOf<Ship>('/apis/bench.example.com/v1/ships', 'Ship');
const owned: Readonly<Record<string, Followed<Owned>>> = {
  ConfigMap: informerOf('/api/v1/configmaps', 'ConfigMap'),
  Service: informerOf('/api/v1/services', 'Service'),
  PersistentVolumeClaim: informerOf('/api/v1/persistentvolumeclaims', 'PersistentVolumeClaim'),
  StatefulSet: informerOf('/apis/apps/v1/statefulsets', 'StatefulSet'),
};

const waiting = new Set<string>();
const running = new Set<string>();

function enqueue(name: string | undefined): void {
  if (name === undefined) return;
  waiting.add(name);
  work();
}

function work(): void {
  for (const name of waiting) {
    if (running.size >= Number(values.workers)) return;
    if (running.has(name)) continue;
    waiting.delete(name);
    running.add(name);
    void reconcile(name)
      .catch((error: unknown) => {
        // A conflict, or an object that the informer does not show yet: requeue after a moment.
        const isExpected = error instanceof ApiException && [404, 409].includes(error.code);
        if (!isExpected) console.error(name, error instanceof Error ? error.message : error);
        setTimeout(() => enqueue(name), 100);
      })
      .finally(() => {
        running.delete(name);
        work();
      });
  }
}

async function reconcile(name: string): Promise<void> {
  const ship = ships.get(name, namespace);
  if (ship === undefined || ship.metadata?.deletionTimestamp !== undefined) return;
  for (const [kind, isSame] of [
    ['ConfigMap', sameData],
    ['Service', always],
    ['PersistentVolumeClaim', always],
    ['StatefulSet', sameHash],
  ] as const) {
    const desired = desiredOf(kind, name, ship);
    const live = owned[kind]?.get(desired.metadata?.name ?? '', namespace);
    if (live === undefined) await api.create(desired);
    else if (!isSame(live, desired)) {
      const metadata = new V1ObjectMeta();
      Object.assign(metadata, desired.metadata);
      metadata.resourceVersion = live.metadata?.resourceVersion ?? '';
      await api.replace({ ...desired, metadata });
    }
  }
}

const always = (): boolean => true;
const sameData = (one: Owned, other: Owned): boolean =>
  isDeepStrictEqual({ ...one.data }, { ...other.data });
const sameHash = (one: Owned, other: Owned): boolean => hashIn(one) === hashIn(other);

function hashIn({ spec = {} }: Owned): string | undefined {
  const { template } = spec as {
    readonly template?: {
      readonly spec?: {
        readonly containers: readonly { readonly env?: readonly { readonly value?: string }[] }[];
      };
    };
  };
  return template?.spec?.containers[0]?.env?.[0]?.value;
}

function desiredOf(kind: string, name: string, ship: Ship): Owned {
  const labels = { custom_resource: name };
  const apiVersion = kind === 'StatefulSet' ? 'apps/v1' : 'v1';
  const own = kind === 'PersistentVolumeClaim' ? `${name}-data` : name;
  const object = { apiVersion, kind, metadata: metadataOf(own, ship) };
  switch (kind) {
    case 'ConfigMap':
      return { ...object, data: ship.spec.settings };
    case 'Service': {
      const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
      return { ...object, spec: { ports, selector: labels } };
    }
    case 'PersistentVolumeClaim': {
      const resources = { requests: { storage: '1Gi' } };
      return { ...object, spec: { accessModes: ['ReadWriteOnce'], resources } };
    }
    default: {
      const template = { metadata: { labels }, spec: podSpecOf(name, ship) };
      const selector = { matchLabels: labels };
      const { replicas } = ship.spec;
      return { ...object, spec: { replicas, serviceName: name, selector, template } };
    }
  }
}

function podSpecOf(name: string, { spec: { settings } }: Ship): object {
  const value = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
  return {
    containers: [
      {
        name: 'app',
        image: 'nginx:1.27',
        ports: [{ name: 'http', containerPort: 8080 }],
        envFrom: [{ configMapRef: { name } }],
        env: [{ name: 'CONFIGMAP_HASH', value }],
        resources: { requests: { cpu: '10m', memory: '16Mi' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `${name}-data` } }],
  };
}

function metadataOf(name: string, ship: Ship): V1ObjectMeta {
  const owner = ship.metadata?.name ?? '';
  const uid = ship.metadata?.uid ?? '';
  const reference = new V1OwnerReference();
  Object.assign(reference, { apiVersion: 'bench.example.com/v1', kind: 'Ship', name: owner, uid });
  reference.controller = true;
  const own = new V1ObjectMeta();
  own.name = name;
  own.namespace = namespace;
  own.labels = { custom_resource: owner };
  own.ownerReferences = [reference];
  return own;
}

async function follow<T extends KubernetesObject>(
  informer: Informer<T>,
  onChange: (object: T) => void,
): Promise<void> {
  // The informer stops on its first error; its documentation asks the caller to restart it.
  informer.on('error', () => setTimeout(() => void informer.start(), 1_000));
  for (const event of ['add', 'update', 'delete'] as const) informer.on(event, onChange);
  await informer.start();
}

for (const informer of Object.values(owned)) {
  await follow(informer, ({ metadata }) =>
    enqueue(metadata?.ownerReferences?.find(({ controller }) => controller)?.name),
  );
}
await follow(ships, ({ metadata }) => enqueue(metadata?.name));
process.on('SIGTERM', () => process.exit(0));
