import type { V1EndpointSlice } from '@kubernetes/client-node';
import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Client } from '../../lib/client/index.js';
import { getIfExists } from '../../lib/client/index.js';
import { isConditionTrue } from '../../lib/object/index.js';
import type { KubernetesObject, ResourceType, Wire } from '../../lib/object/index.js';
import {
  ConfigMap,
  Deployment,
  Job,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from '../../lib/object/kinds.js';
import {
  claimTemplates,
  deployment,
  job,
  statefulSet,
} from '../apiserver/controllers/workload-objects.js';
import { findControlPlane } from './control-plane/binaries.js';
import { fileNames, programKubeConfig, resolveCommands } from './control-plane/commands.js';
import { apiClients, userOfProgram } from './control-plane/credentials.js';
import { eventually } from './control-plane/eventually.js';
import { nodeName } from './control-plane/cluster-objects.js';
import { resolveControlPlaneOptions } from './control-plane/options.js';
import { Supervisor } from './control-plane/supervisor.js';

const namespace = 'shop';

type EndpointSlice = Wire<V1EndpointSlice> & KubernetesObject;

const endpointSlice: ResourceType<EndpointSlice> = {
  ...{ group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' },
  ...{ plural: 'endpointslices', namespaced: true },
};

describe('the real kube-controller-manager, kube-scheduler and kwok on the embedded server', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let supervisor: Supervisor;

  before(async () => {
    const users = Object.fromEntries(
      apiClients.map((name) => [
        `token-of-${name}`,
        { name: userOfProgram(name), groups: ['system:masters'] },
      ]),
    );
    cluster = await EmbeddedCluster.start({
      ...{ port: 0, rbac: true, users },
      // The embedded cluster runs no controllers: kube-controller-manager, kube-scheduler and kwok do all the work.
      controllers: { garbageCollector: false, namespaces: false },
    });
    client = cluster.client();
    supervisor = await startControllers(cluster);
    await createNode(client);
    await client.create(inShop(namespace, { apiVersion: 'v1', kind: 'Namespace' }));
  });

  after(async () => {
    await supervisor.stop();
    await cluster.stop();
  });

  it('run a Deployment with its ReplicaSet, pods on a node, endpoints and a rollout', async () => {
    await client.create(inShop('web', deployment('web')));
    const [selector, ports] = [{ app: 'web' }, [{ port: 80 }]];
    await client.create(
      inShop<Partial<Service>>('web', {
        apiVersion: 'v1',
        kind: 'Service',
        spec: { selector, ports },
      }),
    );
    const isComplete = async (): Promise<void> => {
      const { status, metadata } = await client.get(Deployment, key('web'));
      expect(status).to.deep.include({ readyReplicas: 1, updatedReplicas: 1, replicas: 1 });
      expect(status?.observedGeneration).to.equal(metadata.generation);
    };
    await eventually(isComplete);
    await eventually(async () => {
      const slices = await client.list<EndpointSlice>(endpointSlice, { namespace });
      const endpoints = slices.items.flatMap((slice) => slice.endpoints);
      expect(endpoints.map(({ conditions }) => conditions?.ready)).to.deep.equal([true]);
    });
    const body = { spec: { template: { metadata: { annotations: { roll: '1' } } } } };
    await client.patch(Deployment, key('web'), { type: 'merge', body });
    await eventually(isComplete);
    expect((await client.list(ReplicaSet, { namespace })).items).to.have.length(2);
    const { items: pods } = await client.list(Pod, { namespace, labelSelector: 'app=web' });
    expect(pods.map(({ spec }) => spec?.nodeName)).to.deep.equal([nodeName]);
    expect((await client.get(Service, key('web'))).spec?.clusterIP).to.match(/^10\./);
  });

  it('run a Job, and a StatefulSet with PersistentVolumeClaims', async () => {
    await client.create(
      inShop('db', statefulSet('db', { volumeClaimTemplates: claimTemplates() })),
    );
    await client.create(inShop('once', job('once')));
    await eventually(async () => {
      const { status } = await client.get(Job, key('once'));
      expect(isConditionTrue(status?.conditions, 'Complete')).to.equal(true);
    });
    await eventually(async () => {
      const { status } = await client.get(StatefulSet, key('db'));
      expect(status?.currentRevision).to.equal(status?.updateRevision);
      const claims = await client.list(PersistentVolumeClaim, { namespace });
      expect(claims.items.map(({ metadata }) => metadata.name)).to.deep.include('data-db-0');
    });
  });

  it('delete dependents in the background, and keep them when the policy is Orphan', async () => {
    const [owner, orphaned] = await Promise.all(
      ['owner', 'orphaned'].map((name) => client.create(inShop(name, configMap()))),
    );
    for (const [name, parent] of [
      ['owner', owner],
      ['orphaned', orphaned],
    ] as const) {
      const { apiVersion, kind, metadata } = parent ?? configMap();
      const reference = { apiVersion, kind, name, uid: metadata.uid ?? '' };
      const child = inShop(`${name}-child`, configMap());
      await client.create({
        ...child,
        metadata: { ...child.metadata, ownerReferences: [reference] },
      });
    }
    await client.delete(ConfigMap, key('orphaned'), { propagationPolicy: 'Orphan' });
    await client.delete(ConfigMap, key('owner'), { propagationPolicy: 'Foreground' });
    await eventually(async () => {
      const names = ['owner', 'owner-child', 'orphaned', 'orphaned-child'];
      const found = await Promise.all(
        names.map((name) => getIfExists(client, ConfigMap, key(name))),
      );
      const left = found.flatMap((object) => object?.metadata ?? []);
      expect(left.map(({ name }) => name)).to.deep.equal(['orphaned-child']);
      expect(left[0]).to.not.have.property('ownerReferences');
    });
  });

  it('get no error responses except NotFound and Conflict', () => {
    const refused = cluster.requests.entries.filter(({ code }) => code >= 400);
    const unexpected = refused.filter(({ code }) => ![404, 409].includes(code));
    expect(unexpected).to.deep.equal([]);
    for (const name of apiClients) supervisor.assertRunning(name);
  });

  it('delete a namespace with all that it contains', async () => {
    await client.delete(Namespace, { name: namespace });
    await eventually(async () => {
      expect(await getIfExists(client, Namespace, { name: namespace })).to.equal(undefined);
    }, 60_000);
    expect((await client.list(Pod, { namespace })).items).to.deep.equal([]);
  });
});

/** Starts kube-controller-manager, kube-scheduler and kwok as clients of `cluster`. */
async function startControllers(cluster: EmbeddedCluster): Promise<Supervisor> {
  const options = resolveControlPlaneOptions({});
  const files = await findControlPlane(options.progress);
  const folder = await mkdtemp(join(tmpdir(), 'real-controllers-'));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyText = privateKey.export({ type: 'sec1', format: 'pem' });
  await writeFile(join(folder, fileNames.serviceAccountPrivate), keyText);
  // No server is started here, so that no ports are needed.
  const ports = { etcdClient: 0, etcdPeer: 0, apiServer: 0, tokenReview: 0 };
  const commands = resolveCommands({ files, folder, ports, options });
  const supervisor = new Supervisor(folder, 0);
  for (const name of apiClients) {
    await cluster.writeKubeConfig(join(folder, programKubeConfig(name)), userOfProgram(name));
    await supervisor.start(name, commands[name]);
  }
  return supervisor;
}

async function createNode(client: Client): Promise<void> {
  const metadata = { name: nodeName, annotations: { 'kwok.x-k8s.io/node': 'fake' } };
  const plenty = { cpu: '1k', memory: '1Ti', pods: '1M' };
  const status = { allocatable: plenty, capacity: plenty };
  await client.create({ apiVersion: 'v1', kind: 'Node', metadata, status } as KubernetesObject);
}

const key = (name: string) => ({ namespace, name });

function inShop<T extends Partial<KubernetesObject>>(name: string, object: T) {
  const isNamespace = object.kind === 'Namespace';
  const place = isNamespace ? {} : { namespace };
  return { ...object, metadata: { ...object.metadata, name, ...place } } as T & KubernetesObject;
}

function configMap(): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} };
}
