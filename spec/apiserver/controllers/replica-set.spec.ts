import { expect } from 'chai';
import { Pod, ReplicaSet } from '../../../lib/object/kinds.js';
import { podsInRemovalOrder } from '../../../lib/apiserver/controllers/replica-set-controller.js';
import { simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import { pod, podTemplate } from './workload-objects.js';

function replicaSet(name: string, spec: object = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name), ...spec },
  };
}

describe('a ReplicaSet in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('replaces a deleted pod', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(replicaSet('rs', { replicas: 2 }));
    const [first, second] = await cluster.names(Pod);
    await cluster.delete(Pod, first!);
    const after = await cluster.names(Pod);
    expect(after).to.have.length(2).and.to.include(second).and.not.to.include(first);
  });

  it('adopts a pod that matches its selector, and releases one that no longer matches', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(pod('stray', {}, { labels: { app: 'rs' } }));
    await cluster.create(replicaSet('rs', { replicas: 1 }));
    const { uid } = (await cluster.get(ReplicaSet, 'rs')).metadata;
    expect(await cluster.names(Pod)).to.deep.equal(['stray']);
    expect((await cluster.get(Pod, 'stray')).metadata.ownerReferences?.[0]?.uid).to.equal(uid);
    await cluster.patch(Pod, 'stray', { metadata: { labels: { app: 'other' } } });
    expect((await cluster.get(Pod, 'stray')).metadata).not.to.have.property('ownerReferences');
    expect(await cluster.names(Pod)).to.have.length(2);
  });

  it('counts the pods that have all labels of its template', async () => {
    const cluster = await simulatedCluster();
    const template = { ...podTemplate('rs'), metadata: { labels: { app: 'rs', tier: 'web' } } };
    await cluster.create(replicaSet('rs', { replicas: 2, template }));
    const labeled = async (): Promise<unknown> =>
      (await cluster.get(ReplicaSet, 'rs')).status?.fullyLabeledReplicas;
    expect(await labeled()).to.equal(2);
    const [name] = await cluster.names(Pod);
    await cluster.patch(Pod, name!, { metadata: { labels: { tier: 'other' } } });
    expect(await labeled()).to.equal(1);
  });

  it('replaces a pod that has lost its owner reference and labels', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(replicaSet('rs', { replicas: 1 }));
    const [name] = await cluster.names(Pod);
    const metadata = { ownerReferences: null, labels: { app: 'other' } };
    await cluster.patch(Pod, name!, { metadata });
    expect(await cluster.names(Pod))
      .to.have.length(2)
      .and.to.include(name);
  });

  it('adopts a pod that is created later, and deletes a surplus pod', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(replicaSet('rs', { replicas: 1 }));
    const before = await cluster.names(Pod);
    await cluster.create(pod('late', {}, { labels: { app: 'rs' } }));
    expect(await cluster.names(Pod)).to.deep.equal(before);
  });

  it('reports why pods cannot be created, and retries', async () => {
    const { create, get, cluster } = await simulatedCluster();
    const loopback = cluster.server.loopback;
    await create(replicaSet('rs', { replicas: 0 }));
    const live = await get(ReplicaSet, 'rs');
    expect(live.status).to.deep.include({ replicas: 0, observedGeneration: 1 });
    // With an invalid pod template the server refuses the pods, not the ReplicaSet.
    const spec = { ...live.spec!, replicas: 1 };
    const template = {
      ...live.spec!.template!,
      metadata: { labels: { app: 'rs' }, annotations: {} },
    };
    const priorityClassName = 'no-such-class';
    const broken = { ...template, spec: { ...template.spec!, priorityClassName } };
    const object = { ...live, spec: { ...spec, template: broken } };
    await loopback.update(object, { manager: 'spec' });
    await cluster.settled();
    const [condition] = (await get(ReplicaSet, 'rs')).status!.conditions!;
    expect(condition).to.deep.include({ type: 'ReplicaFailure', status: 'True' });
    expect(condition).to.have.property('reason', 'FailedCreate');
    expect(condition!.message).to.contain('no-such-class');
    await stopSimulatedClusters(/no-such-class/);
  });

  it('reports why pods cannot be deleted, and retries', async () => {
    const { create, patch, get, client, list, settled } = await simulatedCluster();
    await create(replicaSet('rs', { replicas: 1 }));
    const [blocked] = await list(Pod);
    await client.create({
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' },
      metadata: { name: 'keep' },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] },
          ],
        },
        validations: [{ expression: 'false', message: 'pods stay' }],
      },
    });
    await client.create({
      ...{
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
      },
      metadata: { name: 'keep' },
      spec: { policyName: 'keep', validationActions: ['Deny'] },
    });
    await patch(ReplicaSet, 'rs', { spec: { replicas: 0 } });
    await settled();
    const [condition] = (await get(ReplicaSet, 'rs')).status!.conditions!;
    expect(condition).to.include({ type: 'ReplicaFailure', reason: 'FailedDelete' });
    expect((await list(Pod)).map(({ metadata }) => metadata.uid)).to.include(blocked!.metadata.uid);
    await stopSimulatedClusters(/pods stay/);
  });
});

describe('podsInRemovalOrder', () => {
  const ready = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }];
  const older = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const running = { phase: 'Running', conditions: ready };
  const cost = { 'controller.kubernetes.io/pod-deletion-cost': '-1' };
  const on = { nodeName: 'node-0' };

  it('puts pods without a node first, then pending, unready, cheaper and recently ready pods', () => {
    const pods: Pod[] = [
      { ...pod('longest-ready', on), status: { phase: 'Running', conditions: older } },
      { ...pod('ready', on), status: running },
      { ...pod('cheap', on, { annotations: cost }), status: running },
      { ...pod('not-ready', on), status: { phase: 'Running' } },
      { ...pod('pending', on), status: { phase: 'Pending' } },
      { ...pod('no-node'), status: { phase: 'Pending' } },
    ];
    const names = podsInRemovalOrder(pods).map(({ metadata }) => metadata.name);
    expect(names).to.deep.equal(pods.map(({ metadata }) => metadata.name).reverse());
  });
});
