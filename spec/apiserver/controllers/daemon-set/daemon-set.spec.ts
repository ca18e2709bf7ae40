import { expect } from 'chai';
import { ControllerRevision, DaemonSet, Node, Pod } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { daemonSet, imagePatch } from '../workload-objects.js';

describe('a DaemonSet in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

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

  it('labels pods with its revision', async () => {
    const { create, list } = await simulatedCluster();
    await create(daemonSet('ds'));
    const [revision] = await list(ControllerRevision);
    const [pod] = await list(Pod);
    const hash = pod!.metadata.labels!['controller-revision-hash'];
    expect(revision!.metadata.name).to.equal(`ds-${hash}`);
    expect(revision!.metadata.labels).to.include({ 'controller-revision-hash': hash });
    expect(pod!.metadata.labels).to.include({ 'pod-template-generation': '1' });
  });

  it('adopts a pod that is bound to a node, in the place of its own', async () => {
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

  it('deletes later pods of its revision on a node that has one', async () => {
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

  it('removes its pod from a node that no longer fits', async () => {
    const { create, names, client, settled } = await simulatedCluster();
    await create(daemonSet('ds'));
    const node = await client.get(Node, { name: 'node-0' });
    const taints = [{ key: 'dedicated', effect: 'NoSchedule' }];
    await client.update({ ...node, spec: { ...node.spec, taints } });
    await settled();
    expect(await names(Pod)).to.deep.equal([]);
  });

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
