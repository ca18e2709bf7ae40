import { expect } from 'chai';
import { ControllerRevision, DaemonSet, Node, Pod } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import type { SimulatedCluster } from '../simulated-cluster.js';
import { daemonSet, imagePatch, ownedBy, podTemplate } from '../workload-objects.js';

describe('a DaemonSet in the embedded cluster', () => {
  // In one spec, a quota refuses the pods of a DaemonSet.
  afterEach(() => stopSimulatedClusters(/exceeded quota/));

  it('runs one ready pod on each node, including nodes added later', async () => {
    const { create, list, get } = await simulatedCluster({ nodes: 2 });
    await create(daemonSet('ds'));
    await create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'late' } });
    const nodes = (await list(Pod)).map(({ spec }) => spec!.nodeName);
    expect(nodes.sort()).to.deep.equal(['late', 'node-0', 'node-1']);
    expect((await get(DaemonSet, 'ds')).status).to.deep.equal({
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      observedGeneration: 1,
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    });
  });

  it('creates one pod per node even if the scheduler of the pods does not run, and no more pods after a change', async () => {
    const { create, list, patch } = await simulatedCluster({ nodes: 2 });
    const set = daemonSet('ds');
    const { template } = set.spec!;
    const spec = { ...template.spec!, schedulerName: 'custom' };
    const foreign: DaemonSet = { ...set, spec: { ...set.spec!, template: { ...template, spec } } };
    await create(foreign);
    await patch(DaemonSet, 'ds', { metadata: { labels: { changed: 'yes' } } });
    const pods = await list(Pod);
    expect(pods.map(({ spec: { nodeName } = {} }) => nodeName)).to.deep.equal([
      ...[undefined, undefined],
    ]);
  });

  it('labels pods with its revision', async () => {
    const { create, get, list } = await simulatedCluster();
    await create(daemonSet('ds'));
    const [revision] = await list(ControllerRevision);
    const [pod] = await list(Pod);
    const hash = pod!.metadata.labels!['controller-revision-hash'];
    expect(revision!.metadata.name).to.equal(`ds-${hash}`);
    expect(revision!.metadata.labels).to.deep.equal({
      ...{ app: 'ds', 'controller-revision-hash': hash },
    });
    const { template } = (await get(DaemonSet, 'ds')).spec!;
    expect(revision).to.deep.include({
      data: { spec: { template: { $patch: 'replace', ...template } } },
      revision: 1,
    });
    expect(revision!.metadata.ownerReferences).to.deep.equal([
      ownedBy(await get(DaemonSet, 'ds'), { controller: true, blockOwnerDeletion: true }),
    ]);
    expect(pod!.metadata.labels).to.include({ 'pod-template-generation': '1' });
  });

  it('adopts a pod that is bound to a node instead of creating one', async () => {
    const { create, list } = await simulatedCluster();
    const set = daemonSet('ds');
    const { metadata, spec } = set.spec!.template;
    const pod: Pod = {
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name: 'bare', namespace: 'default', labels: metadata?.labels ?? {} },
      spec: { ...spec!, nodeName: 'node-0' },
    };
    const onDelete: DaemonSet = {
      ...set,
      spec: { ...set.spec!, updateStrategy: { type: 'OnDelete' } },
    };
    await create(pod, onDelete);
    const pods = await list(Pod);
    expect(pods.map(({ metadata: { name } }) => name)).to.deep.equal(['bare']);
    expect(pods[0]!.metadata.ownerReferences?.[0]).to.include({ kind: 'DaemonSet', name: 'ds' });
  });

  it('keeps only the oldest of several pods of its revision on a node', async () => {
    const { create, list, names, settled } = await simulatedCluster();
    await create(daemonSet('ds'));
    const [first] = await list(Pod);
    for (const name of ['late', 'later']) {
      await create({
        ...{ apiVersion: 'v1', kind: 'Pod' },
        metadata: { name, namespace: 'default', labels: first!.metadata.labels ?? {} },
        spec: first!.spec!,
      } as Pod);
    }
    await settled();
    expect(await names(Pod)).to.deep.equal([first!.metadata.name]);
  });

  /** Starts a DaemonSet on one node, and then gives the node a taint. */
  async function withTaint(effect: string, spec: object = {}): Promise<SimulatedCluster> {
    const cluster = await simulatedCluster();
    await cluster.create(daemonSet('ds', spec));
    const node = await cluster.get(Node, 'node-0');
    const taints = [{ key: 'dedicated', effect }];
    await cluster.client.update({ ...node, spec: { ...node.spec, taints } });
    await cluster.settled();
    return cluster;
  }

  it('removes its pod from a node with the taint NoExecute', async () => {
    const { names } = await withTaint('NoExecute');
    expect(await names(Pod)).to.deep.equal([]);
  });

  it('keeps its pod on a node that gets the taint NoSchedule, but creates no new pod on such a node', async () => {
    const { names, get, ...cluster } = await withTaint('NoSchedule');
    const [name = ''] = await names(Pod);
    expect((await get(DaemonSet, 'ds')).status).to.include({
      ...{ desiredNumberScheduled: 0, currentNumberScheduled: 0, numberMisscheduled: 1 },
    });
    await cluster.delete(Pod, name);
    expect(await names(Pod)).to.deep.equal([]);
  });

  const surge = { maxSurge: 1, maxUnavailable: 0 };

  for (const rollingUpdate of [undefined, surge]) {
    const what = rollingUpdate === undefined ? 'maxUnavailable' : 'maxSurge';
    it(`removes its old pod from a node with the taint NoSchedule, with ${what}`, async () => {
      const { names, patch } = await withTaint('NoSchedule', { updateStrategy: { rollingUpdate } });
      expect(await names(Pod)).to.have.length(1);
      await patch(DaemonSet, 'ds', imagePatch('registry/app:2'));
      expect(await names(Pod)).to.deep.equal([]);
    });
  }

  it('keeps its pod on a cordoned node', async () => {
    const { create, names, client, settled } = await simulatedCluster();
    await create(daemonSet('ds'));
    const node = await client.get(Node, { name: 'node-0' });
    await client.update({ ...node, spec: { ...node.spec, unschedulable: true } });
    await settled();
    expect(await names(Pod)).to.have.length(1);
  });

  it('updates node by node within maxUnavailable', async () => {
    const { create, patch, changes, list, get } = await simulatedCluster({ nodes: 3 });
    await create(daemonSet('ds'));
    const seen = changes(DaemonSet);
    await patch(DaemonSet, 'ds', imagePatch('registry/app:2'));
    const unavailable = seen.map(({ object }) => object.status?.numberUnavailable ?? 0);
    expect(Math.max(...unavailable)).to.equal(1);
    const images = (await list(Pod)).map(({ spec }) => spec!.containers[0]!.image);
    expect(images).to.deep.equal(Array<string>(3).fill('registry/app:2'));
    expect((await get(DaemonSet, 'ds')).status).to.include({ updatedNumberScheduled: 3 });
  });

  it('creates the new pod first with maxSurge', async () => {
    const { create, patch, changes, list } = await simulatedCluster();
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    await create(daemonSet('ds', { updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    const seen = changes(Pod);
    await patch(DaemonSet, 'ds', imagePatch('registry/app:2'));
    const order = seen.map(({ type }) => type).filter((type) => type !== 'MODIFIED');
    expect(order).to.deep.equal(['ADDED', 'DELETED']);
    expect(await list(Pod)).to.have.length(1);
  });

  it('counts a node as updated with maxSurge only once the old pod is gone', async () => {
    const { create, patch, get } = await simulatedCluster();
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    await create(daemonSet('ds', { updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    await patch(DaemonSet, 'ds', imagePatch('registry/app:never-ready'));
    const { status } = await get(DaemonSet, 'ds');
    expect(status).to.include({ observedGeneration: 2, numberReady: 1, numberAvailable: 1 });
    expect(status).not.to.have.property('updatedNumberScheduled');
  });

  it('creates new pods while old ones are unavailable, regardless of maxSurge', async () => {
    const { create, patch, list } = await simulatedCluster({ nodes: 3 });
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    const template = podTemplate('ds', 'registry/app:never-ready');
    await create(daemonSet('ds', { updateStrategy, template }));
    await patch(DaemonSet, 'ds', imagePatch('registry/app:broken'));
    expect(await list(Pod)).to.have.length(6);
  });

  it('writes its status although a quota refuses its pods', async () => {
    const { create, client, get } = await simulatedCluster();
    await client.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none', namespace: 'default' },
      spec: { hard: { pods: '0' } },
    } as KubernetesObject);
    await create(daemonSet('ds'));
    expect((await get(DaemonSet, 'ds')).status).to.include({
      ...{ observedGeneration: 1, desiredNumberScheduled: 1, numberUnavailable: 1 },
    });
  });

  it('stops an update at a broken pod, and continues when the template is repaired', async () => {
    const { create, patch, list } = await simulatedCluster({ nodes: 2 });
    await create(daemonSet('ds'));
    await patch(DaemonSet, 'ds', imagePatch('registry/app:broken'));
    const images = async () =>
      (await list(Pod)).map(({ spec }) => spec!.containers[0]!.image).sort();
    expect(await images()).to.deep.equal(['registry/app:1', 'registry/app:broken']);
    await patch(DaemonSet, 'ds', imagePatch('registry/app:3'));
    expect(await images()).to.deep.equal(['registry/app:3', 'registry/app:3']);
  });

  it('keeps a collisionCount of 0 in its status, so that later updates of the status succeed', async () => {
    const { client, create, get, patch } = await simulatedCluster();
    await create(daemonSet('ds'));
    const body = { status: { collisionCount: 0 } };
    const key = { namespace: 'default', name: 'ds' };
    await client.patch(DaemonSet, key, { type: 'merge', body }, { subresource: 'status' });
    await patch(DaemonSet, 'ds', imagePatch('registry/app:2'));
    const { status } = await get(DaemonSet, 'ds');
    expect(status).to.include({ collisionCount: 0, observedGeneration: 2 });
  });

  it('waits for manual deletions with the strategy OnDelete', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(daemonSet('ds', { updateStrategy: { type: 'OnDelete' } }));
    await cluster.patch(DaemonSet, 'ds', imagePatch('registry/app:2'));
    const image = async () => (await cluster.list(Pod))[0]!.spec!.containers[0]!.image;
    expect(await image()).to.equal('registry/app:1');
    await cluster.delete(Pod, (await cluster.names(Pod))[0]!);
    expect(await image()).to.equal('registry/app:2');
  });
});
