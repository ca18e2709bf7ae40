import { expect } from 'chai';
import { ConfigMap, Node, PersistentVolumeClaim, Pod } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { claim, configMap, deployment, pod, podTemplate } from '../workload-objects.js';

const behaves = (behavior: string) => ({
  annotations: { 'operator-builder.io/pod-behavior': behavior },
});

function conditionsOf({ status }: Pod): Record<string, string> {
  return Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, one.status]));
}

function stateOf({ status }: Pod): string {
  const { state = {} } = status?.containerStatuses?.[0] ?? {};
  const { waiting, terminated } = state;
  return waiting?.reason ?? terminated?.reason ?? Object.keys(state).join();
}

describe('a pod in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('changes from Pending to Running to ready at the configured times', async () => {
    const pods = { runningAfterMs: 1_000, readyAfterMs: 3_000 };
    const { client, clock, get } = await simulatedCluster({ pods });
    await client.create(pod('p'));
    await clock.advance(10);
    const pending = await get(Pod, 'p');
    expect([pending.status!.phase, stateOf(pending)]).to.deep.equal([
      'Pending',
      'ContainerCreating',
    ]);
    expect(pending.spec!.nodeName).to.equal('node-0');
    await clock.advance(1_000);
    const running = await get(Pod, 'p');
    expect([running.status!.phase, conditionsOf(running)['Ready']]).to.deep.equal([
      'Running',
      'False',
    ]);
    await clock.advance(2_000);
    const ready = await get(Pod, 'p');
    expect(conditionsOf(ready)).to.deep.equal({
      Initialized: 'True',
      Ready: 'True',
      ContainersReady: 'True',
      PodScheduled: 'True',
    });
    expect(ready.status!.podIP).to.match(/^10\.244\./);
    expect(ready.status!.startTime).to.equal('2026-01-01T00:00:00Z');
    const [container] = ready.status!.containerStatuses!;
    expect(container).to.deep.include({
      name: 'main',
      ready: true,
      restartCount: 0,
      started: true,
    });
    expect(container!.state).to.deep.equal({ running: { startedAt: '2026-01-01T00:00:01Z' } });
  });

  it('has the resources of its spec, even after a resize', async () => {
    const { client, clock, get } = await simulatedCluster();
    const memory = '1Gi';
    const resources = { requests: { cpu: '100m', memory }, limits: { memory } };
    const created = pod('p');
    const [main] = created.spec!.containers;
    await client.create({
      ...created,
      spec: { ...created.spec, containers: [{ ...main!, resources }] },
    });
    await clock.advance(60_000);
    const shown = async () => (await get(Pod, 'p')).status!.containerStatuses![0];
    expect(await shown()).to.deep.include({ resources, allocatedResources: resources.requests });
    const path = '/spec/containers/0/resources/requests/cpu';
    const operations = [{ op: 'replace', path, value: '200m' }] as const;
    const key = { namespace: 'default', name: 'p' };
    await client.patch(Pod, key, { type: 'json', operations }, { subresource: 'resize' });
    await clock.advance(1_000);
    const requests = { cpu: '200m', memory };
    expect(await shown()).to.deep.include({
      resources: { ...resources, requests },
      allocatedResources: requests,
    });
  });

  it('has a unique address', async () => {
    const { create, list } = await simulatedCluster();
    await create(pod('a'), pod('b'));
    const addresses = (await list(Pod)).map(({ status }) => status!.podIP);
    expect(new Set(addresses)).to.have.property('size', 2);
  });

  it('never becomes ready with the behavior neverReady', async () => {
    const { create, get } = await simulatedCluster();
    await create(pod('p', {}, behaves('neverReady')));
    const live = await get(Pod, 'p');
    expect([live.status!.phase, stateOf(live)]).to.deep.equal(['Running', 'running']);
    expect(conditionsOf(live)).to.include({ Ready: 'False', ContainersReady: 'False' });
  });

  it('remains Pending when its image cannot be pulled', async () => {
    const { create, get } = await simulatedCluster();
    await create(pod('p', { containers: [{ name: 'main', image: 'app:broken' }] }));
    const live = await get(Pod, 'p');
    expect([live.status!.phase, stateOf(live)]).to.deep.equal(['Pending', 'ImagePullBackOff']);
  });

  it('restarts with increasing back-off when it crashes', async () => {
    const { create, get, clock } = await simulatedCluster();
    await create(pod('p', {}, behaves('crashLoop')));
    const restarts: number[] = [];
    for (const seconds of [0, 11, 21, 41]) {
      await clock.advance(seconds * 1_000);
      const live = await get(Pod, 'p');
      expect([live.status!.phase, stateOf(live)]).to.deep.equal(['Running', 'CrashLoopBackOff']);
      expect(live.status!.containerStatuses![0]!.lastState!.terminated!.exitCode).to.equal(1);
      restarts.push(live.status!.containerStatuses![0]!.restartCount);
    }
    expect(restarts).to.deep.equal([0, 1, 2, 3]);
  });

  it('finishes with the behavior succeed or fail, unless its restart policy restarts it', async () => {
    const { create, get } = await simulatedCluster();
    const never = { restartPolicy: 'Never' };
    await create(pod('good', never, behaves('succeed')), pod('bad', never, behaves('fail')));
    await create(pod('again', { restartPolicy: 'OnFailure' }, behaves('fail')));
    const [good, bad] = [await get(Pod, 'good'), await get(Pod, 'bad')];
    expect([good.status!.phase, stateOf(good)]).to.deep.equal(['Succeeded', 'Completed']);
    expect([bad.status!.phase, stateOf(bad)]).to.deep.equal(['Failed', 'Error']);
    expect(stateOf(await get(Pod, 'again'))).to.equal('CrashLoopBackOff');
  });

  it('recovers when its annotation or image is repaired', async () => {
    const { create, get, patch } = await simulatedCluster();
    await create(pod('told', {}, behaves('crashLoop')));
    await patch(Pod, 'told', { metadata: { annotations: null } });
    const told = await get(Pod, 'told');
    expect(conditionsOf(told)['Ready']).to.equal('True');
    expect(told.status!.containerStatuses![0]!.restartCount).to.equal(1);
    await create(pod('image', { containers: [{ name: 'main', image: 'app:broken' }] }));
    const live = await get(Pod, 'image');
    const containers = [{ ...live.spec!.containers[0]!, image: 'app:1' }];
    await patch(Pod, 'image', { spec: { containers } });
    const repaired = await get(Pod, 'image');
    expect(conditionsOf(repaired)['Ready']).to.equal('True');
    expect(repaired.status!.containerStatuses![0]!.restartCount).to.equal(0);
  });

  it('has the behavior that the behavior function of the cluster returns', async () => {
    const behavior = ({ metadata }: Pod) => (metadata.name === 'bad' ? 'neverReady' : undefined);
    const { create, list } = await simulatedCluster({ pods: { behavior } });
    await create(pod('bad'), pod('good'));
    const ready = (await list(Pod)).map((live) => conditionsOf(live)['Ready']);
    expect(ready).to.deep.equal(['False', 'True']);
  });

  it('keeps a condition that another client changed in its status', async () => {
    const { create, get, client, settled } = await simulatedCluster();
    await create(pod('p'));
    const live = await get(Pod, 'p');
    const conditions = live.status!.conditions!.map((one) =>
      one.type === 'Ready' ? { ...one, status: 'False' } : one,
    );
    const status = { ...live.status!, conditions };
    await client.update({ ...live, status }, { subresource: 'status' });
    await settled();
    expect(conditionsOf(await get(Pod, 'p'))['Ready']).to.equal('False');
  });

  it('is ready only when its readiness gates are true', async () => {
    const { create, get, client, settled } = await simulatedCluster();
    await create(pod('p', { readinessGates: [{ conditionType: 'example.com/gate' }] }));
    const closed = await get(Pod, 'p');
    expect(conditionsOf(closed)).to.include({ Ready: 'False', ContainersReady: 'True' });
    const gate = { type: 'example.com/gate', status: 'True' };
    const status = { ...closed.status!, conditions: [...closed.status!.conditions!, gate] };
    await client.update({ ...closed, status }, { subresource: 'status' });
    await settled();
    expect(conditionsOf(await get(Pod, 'p'))['Ready']).to.equal('True');
  });

  it('reports init containers as completed and sidecars as running', async () => {
    const { create, get } = await simulatedCluster();
    const initContainers = [
      { name: 'setup', image: 'setup:1' },
      { name: 'sidecar', image: 'sidecar:1', restartPolicy: 'Always' },
    ];
    await create(pod('p', { initContainers }));
    const statuses = (await get(Pod, 'p')).status!.initContainerStatuses!;
    expect(statuses.map(({ name, state }) => [name, Object.keys(state!).join()])).to.deep.equal([
      ['setup', 'terminated'],
      ['sidecar', 'running'],
    ]);
  });

  it('is removed after its termination delay', async () => {
    const pods = { terminatedAfterMs: 500 };
    const { create, client, clock, names, get } = await simulatedCluster({ pods });
    await create(pod('p'));
    await client.delete(Pod, { namespace: 'default', name: 'p' });
    await clock.advance(400);
    expect((await get(Pod, 'p')).metadata.deletionTimestamp).to.be.a('string');
    await clock.advance(200);
    expect(await names(Pod)).to.deep.equal([]);
  });

  it('reports its final phase while a finalizer keeps it', async () => {
    const { create, patch, names, get, ...cluster } = await simulatedCluster();
    await create(pod('p', {}, { finalizers: ['example.com/hold'] }));
    await cluster.delete(Pod, 'p');
    const { phase, containerStatuses } = (await get(Pod, 'p')).status!;
    expect(phase).to.equal('Failed');
    expect(containerStatuses![0]!.state!.terminated).to.include({ exitCode: 143, reason: 'Error' });
    await patch(Pod, 'p', { metadata: { finalizers: null } });
    expect(await names(Pod)).to.deep.equal([]);
  });
});

describe('scheduling in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('keeps pods from a new node until its kubelet reports it ready', async () => {
    const { client, create, get, settled } = await simulatedCluster({ nodes: 0 });
    const conditions = (status: string) => [{ type: 'Ready', status, reason: 'x', message: 'x' }];
    const metadata = { name: 'slow' };
    const status = { conditions: conditions('False') };
    await create({ apiVersion: 'v1', kind: 'Node', metadata, status } as Node, pod('a'));
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const { spec } = await client.get(Node, { name: 'slow' });
    expect(spec?.taints).to.deep.equal([taint]);
    expect((await get(Pod, 'a')).spec?.nodeName).to.equal(undefined);
    const report = async (ready: string): Promise<Node> => {
      const patch = { type: 'merge', body: { status: { conditions: conditions(ready) } } } as const;
      await client.patch(Node, { name: 'slow' }, patch, { subresource: 'status' });
      await settled();
      return client.get(Node, { name: 'slow' });
    };
    expect((await report('True')).spec).to.deep.equal({});
    expect((await get(Pod, 'a')).spec?.nodeName).to.equal('slow');
    const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' };
    expect((await report('Unknown')).spec?.taints).to.deep.equal([unreachable]);
  });

  it('keeps a pod pending that fits on no node, until a node is added', async () => {
    const { create, get } = await simulatedCluster();
    await create(pod('p', { nodeSelector: { disk: 'fast' } }));
    const pending = await get(Pod, 'p');
    expect(pending.status!.phase).to.equal('Pending');
    expect(pending.status!.conditions![0]).to.deep.include({
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
    });
    const labels = { disk: 'fast' };
    await create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'fast-0', labels } });
    expect((await get(Pod, 'p')).spec!.nodeName).to.equal('fast-0');
    expect((await get(Pod, 'p')).status!.phase).to.equal('Running');
  });

  it('respects taints and tolerations', async () => {
    const { create, get, client } = await simulatedCluster();
    const node = await client.get(Node, { name: 'node-0' });
    const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };
    await client.update({ ...node, spec: { ...node.spec, taints: [taint] } });
    const tolerations = [{ key: 'dedicated', operator: 'Equal', value: 'db' }];
    await create(pod('plain'), pod('tolerant', { tolerations }));
    expect((await get(Pod, 'plain')).status!.phase).to.equal('Pending');
    expect((await get(Pod, 'tolerant')).status!.phase).to.equal('Running');
  });

  it('waits for the claims of a pod', async () => {
    const { create, get } = await simulatedCluster();
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    await create(pod('p', { volumes }));
    const [scheduled] = (await get(Pod, 'p')).status!.conditions!;
    expect(scheduled!.message).to.contain('persistentvolumeclaim "data" not found');
    await create(claim('data'));
    expect((await get(Pod, 'p')).status!.phase).to.equal('Running');
    expect((await get(PersistentVolumeClaim, 'data')).status!.phase).to.equal('Bound');
  });

  it('ignores pods of other schedulers and gated pods', async () => {
    const { create, list } = await simulatedCluster();
    await create(pod('other', { schedulerName: 'mine' }));
    await create(pod('gated', { schedulingGates: [{ name: 'example.com/wait' }] }));
    const nodes = (await list(Pod)).map(({ spec }) => spec!.nodeName);
    expect(nodes).to.deep.equal([undefined, undefined]);
  });

  it('runs pods without a service account that mount a projected token', async () => {
    const { create, list } = await simulatedCluster();
    const projected = { sources: [{ serviceAccountToken: { path: 'token' } }] };
    const { metadata, spec } = podTemplate('web');
    const template = { metadata, spec: { ...spec, volumes: [{ name: 'token', projected }] } };
    await create(deployment('web', { template }));
    const phases = (await list(Pod)).map(({ status }) => status!.phase);
    expect(phases).to.deep.equal(['Running']);
  });

  it('distributes pods over several nodes', async () => {
    const { create, list } = await simulatedCluster({ nodes: 2 });
    await create(pod('a'), pod('b'), configMap('unrelated'));
    const nodes = (await list(Pod)).map(({ spec }) => spec!.nodeName);
    expect(nodes.sort()).to.deep.equal(['node-0', 'node-1']);
    expect(await list(ConfigMap)).to.have.length(1);
  });
});
