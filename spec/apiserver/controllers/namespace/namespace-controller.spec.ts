import { expect } from 'chai';
import { ConfigMap, Namespace, Pod, ServiceAccount } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import type { SimulatedCluster } from '../simulated-cluster.js';
import {
  configMap,
  deployment,
  pod,
  refusalOf,
  shop,
  shopDefinition,
} from '../workload-objects.js';

const namespace = 'shop';

async function clusterWithNamespace(): Promise<SimulatedCluster> {
  const cluster = await simulatedCluster();
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return cluster;
}

async function namespaces({ client }: SimulatedCluster): Promise<string[]> {
  return (await client.list(Namespace)).items.map(({ metadata }) => metadata.name ?? '');
}

describe('deleting a namespace in the embedded cluster', () => {
  afterEach(() => stopSimulatedClusters(/ configmaps.v1 kept: .* not now$/));

  it('reports in a condition the objects whose deletion a policy refuses', async () => {
    const cluster = await clusterWithNamespace();
    await cluster.create(configMap('kept', { namespace }));
    await cluster.create(...refusalOf('DELETE', { resource: 'configmaps' }));
    await cluster.delete(Namespace, namespace);
    const { status } = await cluster.client.get(Namespace, { name: namespace });
    const failure = status!.conditions!.find(
      ({ type }) => type === 'NamespaceDeletionContentFailure',
    );
    expect(failure).to.include({
      status: 'True',
      reason: 'ContentDeletionFailed',
      message: `Failed to delete all resource types, 1 remaining: configmaps.v1 kept: configmaps "kept" is forbidden: ValidatingAdmissionPolicy 'refusal' with binding 'refusal' denied request: not now`,
    });
  });

  it('deletes its objects, pods first, then the namespace', async () => {
    const cluster = await clusterWithNamespace();
    const web = deployment('web', { replicas: 1 });
    await cluster.create(
      { ...web, metadata: { ...web.metadata, namespace } },
      configMap('c', { namespace }),
    );
    const order: string[] = [];
    cluster.cluster.server.loopback.subscribe(({ type, object }) => {
      if (type === 'DELETED') order.push(object.kind);
    });
    await cluster.delete(Namespace, namespace);
    expect(await namespaces(cluster)).not.to.include(namespace);
    expect(order[0]).to.equal('Pod');
    expect(order.at(-1)).to.equal('Namespace');
    expect(order).to.include.members(['Deployment', 'ReplicaSet', 'ConfigMap', 'ServiceAccount']);
  });

  it('waits for finalizers and reports them in conditions', async () => {
    const cluster = await clusterWithNamespace();
    await cluster.create(configMap('held', { namespace, finalizers: ['example.com/hold'] }));
    await cluster.delete(Namespace, namespace);
    const { status } = await cluster.client.get(Namespace, { name: namespace });
    expect(status!.phase).to.equal('Terminating');
    const said = status!.conditions!.map(({ type, status: value, reason, message }) => {
      return [type, value, reason, message];
    });
    expect(said).to.deep.include.members([
      [
        'NamespaceContentRemaining',
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 1 resource instances',
      ],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
      ],
      [
        'NamespaceDeletionContentFailure',
        'False',
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ],
    ]);
    const held = { namespace, name: 'held' };
    const body = { metadata: { finalizers: null } };
    await cluster.client.patch(ConfigMap, held, { type: 'merge', body });
    await cluster.settled();
    expect(await namespaces(cluster)).not.to.include(namespace);
  });

  it('deletes other objects only after all pods', async () => {
    const cluster = await clusterWithNamespace();
    const metadata = { namespace, finalizers: ['example.com/hold'] };
    await cluster.create(pod('held', {}, metadata), configMap('c', { namespace }));
    await cluster.delete(Namespace, namespace);
    const { client } = cluster;
    expect((await client.list(ConfigMap, { namespace })).items).to.have.length(1);
    // The real controller counts what remains only once the pods are gone.
    const { status } = await client.get(Namespace, { name: namespace });
    expect(status!.conditions!.map((condition) => condition.status)).not.to.include('True');
    const body = { metadata: { finalizers: null } };
    await client.patch(Pod, { namespace, name: 'held' }, { type: 'merge', body });
    await cluster.settled();
    expect(await namespaces(cluster)).not.to.include(namespace);
  });

  it('deletes custom resources', async () => {
    const cluster = await clusterWithNamespace();
    await cluster.create(shopDefinition(), shop('s', { namespace }));
    await cluster.delete(Namespace, namespace);
    expect(await namespaces(cluster)).not.to.include(namespace);
    expect((await cluster.client.list(shop('s'))).items).to.deep.equal([]);
  });

  it('does not affect other namespaces', async () => {
    const cluster = await clusterWithNamespace();
    await cluster.create(configMap('c', { namespace }), configMap('c'));
    await cluster.delete(Namespace, namespace);
    expect(await cluster.names(ConfigMap)).to.deep.equal(['c']);
  });
});

describe('service accounts in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('exist with the name default in each namespace, and are created again after they are deleted', async () => {
    const cluster = await clusterWithNamespace();
    const key = { namespace, name: 'default' };
    expect((await cluster.client.get(ServiceAccount, key)).metadata.name).to.equal('default');
    await cluster.client.delete(ServiceAccount, key);
    await cluster.settled();
    expect((await cluster.client.get(ServiceAccount, key)).metadata.name).to.equal('default');
  });
});
