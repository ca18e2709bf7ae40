import { expect } from 'chai';
import { ConfigMap, Deployment, Pod, ReplicaSet, Secret } from '../../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import type { SimulatedCluster } from '../simulated-cluster.js';
import { configMap, deployment, ownedBy, shop, shopDefinition } from '../workload-objects.js';

const block = { blockOwnerDeletion: true };
const Namespaced = { apiVersion: 'v1', kind: 'Namespace' };

/** Starts a cluster with garbage collection only. */
async function quietCluster(): Promise<SimulatedCluster> {
  return await simulatedCluster({ simulateWorkloads: false });
}

/** Creates an owner, and returns it as stored. */
async function created(cluster: SimulatedCluster, name: string): Promise<ConfigMap> {
  await cluster.create(configMap(name));
  return await cluster.get(ConfigMap, name);
}

describe('garbage collection in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('deletes dependents recursively in the background', async () => {
    const cluster = await quietCluster();
    const owner = await created(cluster, 'owner');
    await cluster.create(configMap('child', { ownerReferences: [ownedBy(owner)] }));
    const child = await cluster.get(ConfigMap, 'child');
    await cluster.create(configMap('grandchild', { ownerReferences: [ownedBy(child)] }));
    await cluster.delete(ConfigMap, 'owner');
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('deletes blocking dependents before the owner in the foreground', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 2 }));
    const order: string[] = [];
    cluster.cluster.server.loopback.subscribe(({ type, object }) => {
      if (type === 'DELETED') order.push(object.kind);
    });
    await cluster.delete(Deployment, 'web', { propagationPolicy: 'Foreground' });
    expect(order).to.deep.equal(['Pod', 'Pod', 'ReplicaSet', 'Deployment']);
  });

  it('does not wait for non-blocking dependents in the foreground', async () => {
    const cluster = await quietCluster();
    const owner = await created(cluster, 'owner');
    const free = { ownerReferences: [ownedBy(owner)], finalizers: ['example.com/hold'] };
    await cluster.create(configMap('free', free));
    await cluster.delete(ConfigMap, 'owner', { propagationPolicy: 'Foreground' });
    expect(await cluster.names(ConfigMap)).to.deep.equal(['free']);
  });

  it('deletes non-blocking dependents in the foreground while a blocking dependent still exists', async () => {
    const cluster = await quietCluster();
    const owner = await created(cluster, 'owner');
    const held = { ownerReferences: [ownedBy(owner, block)], finalizers: ['example.com/hold'] };
    await cluster.create(configMap('held', held));
    await cluster.create(configMap('free', { ownerReferences: [ownedBy(owner)] }));
    await cluster.delete(ConfigMap, 'owner', { propagationPolicy: 'Foreground' });
    expect(await cluster.names(ConfigMap)).to.deep.equal(['held', 'owner']);
  });

  it('waits for a blocking dependent in the foreground', async () => {
    const cluster = await quietCluster();
    const owner = await created(cluster, 'owner');
    const held = { ownerReferences: [ownedBy(owner, block)], finalizers: ['example.com/hold'] };
    await cluster.create(configMap('held', held));
    await cluster.delete(ConfigMap, 'owner', { propagationPolicy: 'Foreground' });
    expect(await cluster.names(ConfigMap)).to.deep.equal(['held', 'owner']);
    const waiting = await cluster.get(ConfigMap, 'owner');
    expect(waiting.metadata.finalizers).to.deep.equal(['foregroundDeletion']);
    await cluster.patch(ConfigMap, 'held', { metadata: { finalizers: null } });
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('removes the owner from orphaned dependents', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    await cluster.delete(Deployment, 'web', { propagationPolicy: 'Orphan' });
    const [set] = await cluster.list(ReplicaSet);
    expect(set!.metadata).not.to.have.property('ownerReferences');
    expect(await cluster.names(Deployment)).to.deep.equal([]);
    expect(await cluster.names(Pod)).to.have.length(1);
  });

  it('deletes an object whose owner never existed', async () => {
    const cluster = await quietCluster();
    const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'no-such-uid' };
    await cluster.create(configMap('child', { ownerReferences: [ghost] }));
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('treats an owner with the same name and another uid as absent', async () => {
    const cluster = await quietCluster();
    const owner = await created(cluster, 'owner');
    const earlier = { ...ownedBy(owner), uid: 'an-earlier-uid' };
    await cluster.create(configMap('child', { ownerReferences: [earlier] }));
    expect(await cluster.names(ConfigMap)).to.deep.equal(['owner']);
  });

  it('treats an owner in another namespace as absent, and emits an Event', async () => {
    const cluster = await quietCluster();
    const { client } = cluster;
    await cluster.create({ ...Namespaced, metadata: { name: 'elsewhere' } });
    const foreign = configMap('owner', { namespace: 'elsewhere' });
    const owner = await client.create(foreign);
    await cluster.create(configMap('child', { ownerReferences: [ownedBy(owner)] }));
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
    const events = await client.list<UnstructuredObject>(
      { apiVersion: 'v1', kind: 'Event' },
      { namespace: 'default' },
    );
    expect(events.items.map((event) => [event['type'], event['reason']])).to.deep.equal([
      ['Warning', 'OwnerRefInvalidNamespace'],
    ]);
  });

  it('does not wait for objects in other namespaces in the foreground', async () => {
    const cluster = await quietCluster();
    await cluster.create({ ...Namespaced, metadata: { name: 'elsewhere' } });
    const owner = await created(cluster, 'owner');
    const ownerReferences = [ownedBy(owner, block)];
    const metadata = { namespace: 'elsewhere', ownerReferences, finalizers: ['example.com/hold'] };
    await cluster.create(configMap('held', metadata));
    await cluster.delete(ConfigMap, 'owner', { propagationPolicy: 'Foreground' });
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('keeps an object until all its owners are deleted', async () => {
    const cluster = await quietCluster();
    const [one, other] = [await created(cluster, 'one'), await created(cluster, 'other')];
    const ownerReferences = [ownedBy(one), ownedBy(other)];
    await cluster.create(configMap('child', { ownerReferences }));
    await cluster.delete(ConfigMap, 'one');
    const child = await cluster.get(ConfigMap, 'child');
    expect(child.metadata.ownerReferences).to.deep.equal([ownedBy(other)]);
    await cluster.delete(ConfigMap, 'other');
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('collects an object whose owner reference was added later', async () => {
    const cluster = await quietCluster();
    const owner = await created(cluster, 'owner');
    await cluster.create(configMap('child'));
    const ownerReferences = [ownedBy(owner)];
    await cluster.patch(ConfigMap, 'child', { metadata: { ownerReferences } });
    await cluster.delete(ConfigMap, 'owner');
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('keeps an object whose owner is of an unserved kind', async () => {
    const cluster = await quietCluster();
    const unknown = { apiVersion: 'example.com/v1', kind: 'Unknown', name: 'x', uid: 'x' };
    const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'no-such-uid' };
    await cluster.create(configMap('child', { ownerReferences: [ghost, unknown] }));
    expect(await cluster.names(ConfigMap)).to.deep.equal(['child']);
    const { ownerReferences } = (await cluster.get(ConfigMap, 'child')).metadata;
    expect(ownerReferences).to.deep.equal([ghost, unknown]);
  });

  it('collects an object when the kind of its missing owner becomes served', async () => {
    const cluster = await quietCluster();
    const owner = { apiVersion: 'example.com/v1', kind: 'Shop', name: 'x', uid: 'x' };
    await cluster.create(configMap('child', { ownerReferences: [owner] }));
    await cluster.create(shopDefinition());
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('collects dependents of custom resources', async () => {
    const cluster = await simulatedCluster({ simulateWorkloads: false, crds: [shopDefinition()] });
    const owner = await cluster.client.create(shop('s'));
    await cluster.create(configMap('child', { ownerReferences: [ownedBy(owner)] }));
    expect(await cluster.names(ConfigMap)).to.deep.equal(['child']);
    await cluster.client.delete(shop('s'), { namespace: 'default', name: 's' });
    await cluster.settled();
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('keeps a cluster-scoped object whose owner is in a namespace', async () => {
    const cluster = await quietCluster();
    const owner = await created(cluster, 'owner');
    const ownerReferences = [ownedBy(owner)];
    await cluster.create({ ...Namespaced, metadata: { name: 'wide', ownerReferences } });
    await cluster.delete(ConfigMap, 'owner');
    const { items } = await cluster.client.list(Namespaced);
    expect(items.map(({ metadata }) => metadata.name)).to.include('wide');
  });

  it('deletes namespaced objects together with their cluster-scoped owner', async () => {
    const cluster = await quietCluster();
    await cluster.create({ ...Namespaced, metadata: { name: 'wide' } });
    const owner = await cluster.client.get(Namespaced, { name: 'wide' });
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'default', ownerReferences: [ownedBy(owner)] },
    };
    await cluster.create(secret);
    expect(await cluster.names(Secret)).to.deep.equal(['s']);
    await cluster.client.delete(Namespaced, { name: 'wide' });
    await cluster.settled();
    expect(await cluster.names(Secret)).to.deep.equal([]);
  });

  it('resolves a cycle of owners deleted in the foreground', async () => {
    const cluster = await quietCluster();
    const first = await created(cluster, 'first');
    await cluster.create(configMap('second', { ownerReferences: [ownedBy(first, block)] }));
    const second = await cluster.get(ConfigMap, 'second');
    const ownerReferences = [ownedBy(second, block)];
    await cluster.patch(ConfigMap, 'first', { metadata: { ownerReferences } });
    await cluster.delete(ConfigMap, 'first', { propagationPolicy: 'Foreground' });
    expect(await cluster.names(ConfigMap)).to.deep.equal([]);
  });

  it('can be disabled', async () => {
    const controllers = { garbageCollector: false };
    const cluster = await simulatedCluster({ simulateWorkloads: false, controllers });
    const owner = await created(cluster, 'owner');
    await cluster.create(configMap('child', { ownerReferences: [ownedBy(owner)] }));
    await cluster.delete(ConfigMap, 'owner');
    expect(await cluster.names(ConfigMap)).to.deep.equal(['child']);
  });
});
