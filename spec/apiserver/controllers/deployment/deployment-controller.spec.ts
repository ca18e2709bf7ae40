import { expect } from 'chai';
import { Deployment, Pod, ReplicaSet } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { deployment, imagePatch } from '../workload-objects.js';

const revision = 'deployment.kubernetes.io/revision';

describe('a Deployment in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('creates a ReplicaSet with the template hash, and ready pods', async () => {
    const { create, get, list } = await simulatedCluster();
    await create(deployment('web', { replicas: 2 }));
    const [set] = await list(ReplicaSet);
    const hash = set!.metadata.labels!['pod-template-hash']!;
    expect(set!.metadata.name).to.equal(`web-${hash}`);
    expect(set!.spec!.selector.matchLabels).to.deep.equal({
      app: 'web',
      'pod-template-hash': hash,
    });
    const pods = await list(Pod);
    expect(pods.map((pod) => pod.metadata.labels)).to.deep.equal([
      { app: 'web', 'pod-template-hash': hash },
      { app: 'web', 'pod-template-hash': hash },
    ]);
    const { status, metadata } = await get(Deployment, 'web');
    expect(metadata.annotations).to.deep.equal({ [revision]: '1' });
    expect(status).to.deep.include({
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 0,
    });
    expect(status).not.to.have.property('unavailableReplicas');
    expect(conditionsOf(status)).to.deep.equal({
      Available: 'True MinimumReplicasAvailable',
      Progressing: 'True NewReplicaSetAvailable',
    });
  });

  it('copies its annotations to its ReplicaSet, and adds the annotations with the desired and the maximum replicas', async () => {
    const { create, list } = await simulatedCluster();
    const web = deployment('web', { replicas: 2 });
    await create({ ...web, metadata: { ...web.metadata, annotations: { team: 'a' } } });
    const [set] = await list(ReplicaSet);
    expect(set!.metadata.annotations).to.deep.equal({
      team: 'a',
      [revision]: '1',
      'deployment.kubernetes.io/desired-replicas': '2',
      'deployment.kubernetes.io/max-replicas': '3',
    });
  });

  it('replaces pods within maxSurge and maxUnavailable when the template changes', async () => {
    const { create, patch, get, list, changes } = await simulatedCluster();
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 };
    await create(deployment('web', { replicas: 4, strategy: { rollingUpdate } }));
    const seen = changes(Deployment);
    await patch(Deployment, 'web', imagePatch('registry/app:2'));
    const counts = seen.map(({ object }) => object.status!);
    expect(Math.max(...counts.map(({ replicas }) => replicas ?? 0))).to.be.at.most(5);
    expect(Math.min(...counts.map((status) => status.availableReplicas ?? 0))).to.be.at.least(3);
    const { status, metadata } = await get(Deployment, 'web');
    expect(metadata.annotations).to.deep.equal({ [revision]: '2' });
    expect(status).to.deep.include({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
    const sizes = (await list(ReplicaSet)).map((set) => set.spec!.replicas);
    expect(sizes.sort()).to.deep.equal([0, 4]);
  });

  it('keeps its pods when only replicas or annotations change', async () => {
    const { create, patch, names, list } = await simulatedCluster();
    await create(deployment('web', { replicas: 2 }));
    const before = await names(Pod);
    await patch(Deployment, 'web', { metadata: { annotations: { a: 'b' } } });
    await patch(Deployment, 'web', { spec: { replicas: 3 } });
    expect(await names(Pod))
      .to.include.members(before)
      .and.have.length(3);
    expect(await list(ReplicaSet)).to.have.length(1);
  });

  it('keeps old pods when new ones never get ready, and reports this after the deadline', async () => {
    const { create, patch, get, clock } = await simulatedCluster();
    await create(deployment('web', { replicas: 4, progressDeadlineSeconds: 60 }));
    await patch(Deployment, 'web', imagePatch('registry/app:2-never-ready'));
    const before = await get(Deployment, 'web');
    expect(before.status).to.deep.include({
      replicas: 5,
      updatedReplicas: 2,
      availableReplicas: 3,
    });
    expect(conditionsOf(before.status)['Progressing']).to.equal('True ReplicaSetUpdated');
    await clock.advance(62_000);
    const { status } = await get(Deployment, 'web');
    expect(conditionsOf(status)).to.deep.equal({
      Available: 'True MinimumReplicasAvailable',
      Progressing: 'False ProgressDeadlineExceeded',
    });
  });

  it('recovers from a broken rollout when the template is repaired', async () => {
    const { create, patch, get } = await simulatedCluster();
    await create(deployment('web', { replicas: 4 }));
    await patch(Deployment, 'web', imagePatch('registry/app:broken'));
    await patch(Deployment, 'web', imagePatch('registry/app:3'));
    const { status } = await get(Deployment, 'web');
    expect(status).to.deep.include({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
  });

  it('gives an old template a new revision number when the Deployment returns to it', async () => {
    const { create, patch, list } = await simulatedCluster();
    await create(deployment('web', { replicas: 1 }));
    await patch(Deployment, 'web', imagePatch('registry/app:2'));
    await patch(Deployment, 'web', imagePatch('registry/app:1'));
    const annotations = (await list(ReplicaSet)).map(({ metadata }) => metadata.annotations!);
    const first = annotations.find((set) => set[revision] === '3');
    expect(first).to.include({ 'deployment.kubernetes.io/revision-history': '1' });
    expect(annotations.map((set) => set[revision]).sort()).to.deep.equal(['2', '3']);
  });

  it('deletes all old pods before it creates new ones with the strategy Recreate', async () => {
    const { create, patch, changes, list } = await simulatedCluster();
    await create(deployment('web', { replicas: 2, strategy: { type: 'Recreate' } }));
    const seen = changes(Pod);
    await patch(Deployment, 'web', imagePatch('registry/app:2'));
    const events = seen.map(({ type }) => type).filter((type) => type !== 'MODIFIED');
    expect(events).to.deep.equal(['DELETED', 'DELETED', 'ADDED', 'ADDED']);
    expect((await list(Pod)).map((pod) => pod.spec!.containers[0]!.image)).to.deep.equal([
      'registry/app:2',
      'registry/app:2',
    ]);
  });

  it('scales but does not roll out while paused', async () => {
    const { create, patch, get, list } = await simulatedCluster();
    await create(deployment('web', { replicas: 1 }));
    await patch(Deployment, 'web', { spec: { paused: true } });
    await patch(Deployment, 'web', imagePatch('registry/app:2'));
    await patch(Deployment, 'web', { spec: { replicas: 3 } });
    expect((await list(Pod)).map((pod) => pod.spec!.containers[0]!.image)).to.deep.equal(
      Array<string>(3).fill('registry/app:1'),
    );
    const paused = await get(Deployment, 'web');
    expect(conditionsOf(paused.status)['Progressing']).to.equal('Unknown DeploymentPaused');
    await patch(Deployment, 'web', { spec: { paused: false } });
    const { status } = await get(Deployment, 'web');
    expect(status).to.deep.include({ updatedReplicas: 3, availableReplicas: 3 });
  });

  it('keeps old ReplicaSets up to revisionHistoryLimit', async () => {
    const { create, patch, list } = await simulatedCluster();
    await create(deployment('web', { replicas: 1, revisionHistoryLimit: 1 }));
    for (const tag of ['2', '3', '4']) {
      await patch(Deployment, 'web', imagePatch(`registry/app:${tag}`));
    }
    const images = (await list(ReplicaSet)).map(
      (set) => set.spec!.template!.spec!.containers[0]!.image,
    );
    expect(images.sort()).to.deep.equal(['registry/app:3', 'registry/app:4']);
  });

  it('keeps all old ReplicaSets during a rollout, whatever its revisionHistoryLimit', async () => {
    const { create, patch, list } = await simulatedCluster();
    await create(deployment('web', { replicas: 1, revisionHistoryLimit: 2 }));
    for (const tag of ['2', '3']) {
      await patch(Deployment, 'web', imagePatch(`registry/app:${tag}`));
    }
    const { spec } = imagePatch('registry/app:broken') as { readonly spec: object };
    await patch(Deployment, 'web', { spec: { ...spec, revisionHistoryLimit: 0 } });
    expect(await list(ReplicaSet)).to.have.length(4);
    await patch(Deployment, 'web', imagePatch('registry/app:5'));
    expect(await list(ReplicaSet)).to.have.length(1);
  });

  it('counts pods as available only after minReadySeconds', async () => {
    const { cluster, clock, client, get } = await simulatedCluster();
    await client.create(deployment('web', { replicas: 1, minReadySeconds: 10 }));
    await clock.advance(5_000);
    const early = await get(Deployment, 'web');
    expect(early.status).to.deep.include({ readyReplicas: 1, unavailableReplicas: 1 });
    expect(conditionsOf(early.status)['Available']).to.equal('False MinimumReplicasUnavailable');
    await cluster.settled();
    const { status } = await get(Deployment, 'web');
    expect(status).to.deep.include({ readyReplicas: 1, availableReplicas: 1 });
  });

  it('keeps the reason NewReplicaSetAvailable in Progressing when it is scaled', async () => {
    const { create, patch, changes } = await simulatedCluster();
    await create(deployment('web', { replicas: 1 }));
    const seen = changes(Deployment);
    await patch(Deployment, 'web', { spec: { replicas: 3 } });
    const reasons = seen.map(({ object }) => conditionsOf(object.status)['Progressing']);
    expect(new Set(reasons)).to.deep.equal(new Set(['True NewReplicaSetAvailable']));
  });

  it('still reports an exceeded deadline when it is paused afterwards', async () => {
    const { create, patch, get, clock } = await simulatedCluster();
    await create(deployment('web', { progressDeadlineSeconds: 60 }, 'registry/app:broken'));
    await clock.advance(62_000);
    await patch(Deployment, 'web', { spec: { paused: true } });
    const { status } = await get(Deployment, 'web');
    expect(conditionsOf(status)['Progressing']).to.equal('False ProgressDeadlineExceeded');
  });

  it('writes nothing after its rollout', async () => {
    const { create, cluster, clock } = await simulatedCluster();
    await create(deployment('web', { replicas: 3 }));
    const before = cluster.server.resourceVersion;
    await clock.advance(3_600_000);
    expect(cluster.server.resourceVersion).to.equal(before);
  });

  it('is deleted with its ReplicaSet and pods', async () => {
    const { create, names, ...cluster } = await simulatedCluster();
    await create(deployment('web', { replicas: 2 }));
    await cluster.delete(Deployment, 'web');
    expect(await names(ReplicaSet)).to.deep.equal([]);
    expect(await names(Pod)).to.deep.equal([]);
  });
});

function conditionsOf(status: Deployment['status']): Record<string, string> {
  const conditions = status?.conditions ?? [];
  return Object.fromEntries(
    conditions.map(({ type, status: value, reason = '' }) => [type, `${value} ${reason}`]),
  );
}
