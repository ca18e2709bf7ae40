import { expect } from 'chai';
import {
  ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import type { SimulatedCluster } from '../simulated-cluster.js';
import { claimTemplates, imagePatch, pod, statefulSet } from '../workload-objects.js';

const revisionLabel = 'controller-revision-hash';

async function images(cluster: SimulatedCluster): Promise<string[]> {
  const pods = await cluster.list(Pod);
  return pods.map((pod) => pod.spec!.containers[0]!.image!.replace('registry/app:', ''));
}

describe('a StatefulSet in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('creates its pods in order, each after the previous one is ready', async () => {
    const { create, changes, get, list } = await simulatedCluster();
    const seen = changes(Pod);
    await create(statefulSet('db', { replicas: 3 }));
    const order = seen.flatMap(({ type, object }) => {
      const ready = object.status?.conditions?.find((condition) => condition.type === 'Ready');
      const name = object.metadata.name ?? '';
      if (type === 'ADDED') return [`+${name}`];
      return ready?.status === 'True' ? [`${name} ready`] : [];
    });
    expect(order).to.deep.equal([
      ...['+db-0', 'db-0 ready', '+db-1', 'db-1 ready', '+db-2', 'db-2 ready'],
    ]);
    const { status } = await get(StatefulSet, 'db');
    const revision = status!.updateRevision!;
    expect(status).to.deep.equal({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      currentRevision: revision,
      updateRevision: revision,
      collisionCount: 0,
    });
    const [first] = await list(Pod);
    expect(first!.metadata.labels).to.deep.equal({
      app: 'db',
      'apps.kubernetes.io/pod-index': '0',
      [revisionLabel]: revision,
      'statefulset.kubernetes.io/pod-name': 'db-0',
    });
    expect(first!.spec).to.include({ hostname: 'db-0', subdomain: 'db' });
  });

  it('restores the label statefulset.kubernetes.io/pod-name of a pod', async () => {
    const { create, patch, get } = await simulatedCluster();
    await create(statefulSet('db', { replicas: 2 }));
    const label = 'statefulset.kubernetes.io/pod-name';
    await patch(Pod, 'db-1', { metadata: { labels: { [label]: 'other' } } });
    expect((await get(Pod, 'db-1')).metadata.labels).to.include({ [label]: 'db-1' });
  });

  it('creates all pods at once with podManagementPolicy Parallel', async () => {
    const { client, cluster, names, get } = await simulatedCluster();
    await client.create(statefulSet('db', { replicas: 3, podManagementPolicy: 'Parallel' }));
    await cluster.settled({ advanceClock: false });
    expect(await names(Pod)).to.deep.equal(['db-0', 'db-1', 'db-2']);
    expect((await get(StatefulSet, 'db')).status).not.to.have.property('readyReplicas');
  });

  it('keeps a ControllerRevision per template, up to revisionHistoryLimit', async () => {
    const { create, patch, list } = await simulatedCluster();
    await create(statefulSet('db', { replicas: 1, revisionHistoryLimit: 1 }));
    for (const tag of ['2', '3', '4'])
      await patch(StatefulSet, 'db', imagePatch(`registry/app:${tag}`));
    const revisions = await list(ControllerRevision);
    expect(revisions.map(({ revision }) => revision).sort()).to.deep.equal([3, 4]);
    const [one] = revisions;
    const hash = one!.metadata.labels!['controller.kubernetes.io/hash'];
    expect(one!.metadata.name).to.equal(`db-${hash}`);
  });

  it('gives an old revision a new number when its template returns', async () => {
    const { create, patch, list, get } = await simulatedCluster();
    await create(statefulSet('db', { replicas: 1 }));
    const first = (await get(StatefulSet, 'db')).status!.currentRevision;
    await patch(StatefulSet, 'db', imagePatch('registry/app:2'));
    await patch(StatefulSet, 'db', imagePatch('registry/app:1'));
    expect((await get(StatefulSet, 'db')).status!.currentRevision).to.equal(first);
    const revisions = await list(ControllerRevision);
    expect(revisions.map(({ revision }) => revision).sort()).to.deep.equal([2, 3]);
  });

  it('updates from the highest ordinal, one pod at a time', async () => {
    const { create, patch, changes, get, list } = await simulatedCluster();
    await create(statefulSet('db', { replicas: 3 }));
    const seen = changes(Pod);
    await patch(StatefulSet, 'db', imagePatch('registry/app:2'));
    const order = seen.flatMap(({ type, object }) => {
      return type === 'MODIFIED' ? [] : [`${type === 'ADDED' ? '+' : '-'}${object.metadata.name}`];
    });
    expect(order.join(' ')).to.equal('-db-2 +db-2 -db-1 +db-1 -db-0 +db-0');
    const { status } = await get(StatefulSet, 'db');
    expect(status).to.deep.include({ updatedReplicas: 3, currentReplicas: 3, readyReplicas: 3 });
    expect(status!.currentRevision).to.equal(status!.updateRevision);
    const labels = (await list(Pod)).map(({ metadata }) => metadata.labels![revisionLabel]);
    expect(new Set(labels)).to.deep.equal(new Set([status!.updateRevision]));
  });

  it('keeps pods below the partition at their revision, including recreated ones', async () => {
    const cluster = await simulatedCluster();
    const updateStrategy = { rollingUpdate: { partition: 2 } };
    await cluster.create(statefulSet('db', { replicas: 3, updateStrategy }));
    await cluster.patch(StatefulSet, 'db', imagePatch('registry/app:2'));
    expect(await images(cluster)).to.deep.equal(['1', '1', '2']);
    await cluster.delete(Pod, 'db-0');
    expect(await images(cluster)).to.deep.equal(['1', '1', '2']);
    const { status } = await cluster.get(StatefulSet, 'db');
    expect(status).to.deep.include({ updatedReplicas: 1, currentReplicas: 2 });
    expect(status!.currentRevision).not.to.equal(status!.updateRevision);
    await cluster.patch(StatefulSet, 'db', {
      spec: { updateStrategy: { rollingUpdate: { partition: 0 } } },
    });
    expect(await images(cluster)).to.deep.equal(['2', '2', '2']);
  });

  it('waits for manual deletions with the strategy OnDelete', async () => {
    const cluster = await simulatedCluster();
    const updateStrategy = { type: 'OnDelete' };
    await cluster.create(statefulSet('db', { replicas: 2, updateStrategy }));
    await cluster.patch(StatefulSet, 'db', imagePatch('registry/app:2'));
    expect(await images(cluster)).to.deep.equal(['1', '1']);
    await cluster.delete(Pod, 'db-0');
    expect(await images(cluster)).to.deep.equal(['2', '1']);
  });

  it('is blocked by a broken revision after a repair until the pod is deleted', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(statefulSet('db', { replicas: 3 }));
    await cluster.patch(StatefulSet, 'db', imagePatch('registry/app:broken'));
    expect(await images(cluster)).to.deep.equal(['1', '1', 'broken']);
    await cluster.patch(StatefulSet, 'db', imagePatch('registry/app:3'));
    expect(await images(cluster)).to.deep.equal(['1', '1', 'broken']);
    await cluster.delete(Pod, 'db-2');
    expect(await images(cluster)).to.deep.equal(['3', '3', '3']);
  });

  it('is not blocked by a broken revision with podManagementPolicy Parallel', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(statefulSet('db', { replicas: 2, podManagementPolicy: 'Parallel' }));
    await cluster.patch(StatefulSet, 'db', imagePatch('registry/app:broken'));
    expect(await images(cluster)).to.deep.equal(['1', 'broken']);
    await cluster.patch(StatefulSet, 'db', imagePatch('registry/app:3'));
    expect(await images(cluster)).to.deep.equal(['3', '3']);
  });

  it('creates the next pod minReadySeconds after the previous one is ready', async () => {
    const { client, clock, names, get } = await simulatedCluster();
    await client.create(statefulSet('db', { replicas: 2, minReadySeconds: 10 }));
    await clock.advance(5_000);
    expect(await names(Pod)).to.deep.equal(['db-0']);
    expect((await get(StatefulSet, 'db')).status).to.include({
      readyReplicas: 1,
      availableReplicas: 0,
    });
    await clock.advance(6_000);
    expect(await names(Pod)).to.deep.equal(['db-0', 'db-1']);
  });

  it('gives each pod a bound claim, and keeps the claim when the pod is scaled down', async () => {
    const { create, patch, names, list, changes } = await simulatedCluster();
    const seen = changes(Pod);
    await create(statefulSet('db', { replicas: 2, volumeClaimTemplates: claimTemplates() }));
    // Pods are not reported as unschedulable while their claims are not yet bound.
    const refused = seen.filter(({ object }) =>
      object.status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
    );
    expect(refused).to.have.length(0);
    const claims = await list(PersistentVolumeClaim);
    expect(claims.map((claim) => [claim.metadata.name, claim.status!.phase])).to.deep.equal([
      ['data-db-0', 'Bound'],
      ['data-db-1', 'Bound'],
    ]);
    const [first] = await list(Pod);
    expect(first!.spec!.volumes![0]).to.deep.equal({
      name: 'data',
      persistentVolumeClaim: { claimName: 'data-db-0' },
    });
    await patch(StatefulSet, 'db', { spec: { replicas: 1 } });
    expect(await names(Pod)).to.deep.equal(['db-0']);
    expect(await names(PersistentVolumeClaim)).to.deep.equal(['data-db-0', 'data-db-1']);
  });

  it('deletes claims by the retention policy when scaled down or deleted', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(
      statefulSet('db', {
        replicas: 3,
        volumeClaimTemplates: claimTemplates(),
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
      }),
    );
    await cluster.patch(StatefulSet, 'db', { spec: { replicas: 1 } });
    expect(await cluster.names(PersistentVolumeClaim)).to.deep.equal(['data-db-0']);
    await cluster.patch(StatefulSet, 'db', { spec: { replicas: 2 } });
    expect(await cluster.names(Pod)).to.deep.equal(['db-0', 'db-1']);
    await cluster.delete(StatefulSet, 'db');
    expect(await cluster.names(Pod)).to.deep.equal([]);
    expect(await cluster.names(PersistentVolumeClaim)).to.deep.equal([]);
  });

  it('scales down from the highest ordinal', async () => {
    const { create, patch, changes } = await simulatedCluster();
    await create(statefulSet('db', { replicas: 3 }));
    const seen = changes(Pod);
    await patch(StatefulSet, 'db', { spec: { replicas: 0 } });
    const gone = seen.filter(({ type }) => type === 'DELETED');
    expect(gone.map(({ object }) => object.metadata.name)).to.deep.equal(['db-2', 'db-1', 'db-0']);
  });

  it('recreates a deleted or failed pod under the same name', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(statefulSet('db', { replicas: 2 }));
    const uid = (await cluster.get(Pod, 'db-0')).metadata.uid;
    await cluster.delete(Pod, 'db-0');
    const next = await cluster.get(Pod, 'db-0');
    expect(next.metadata.uid).not.to.equal(uid);
    await cluster.client.update(
      { ...next, status: { ...next.status!, phase: 'Failed' } },
      { subresource: 'status' },
    );
    await cluster.settled();
    expect((await cluster.get(Pod, 'db-0')).metadata.uid).not.to.equal(next.metadata.uid);
  });

  it('adopts the pods and revisions of an orphaned set of the same name', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(statefulSet('db', { replicas: 2 }));
    const uids = (await cluster.list(Pod)).map(({ metadata }) => metadata.uid);
    await cluster.delete(StatefulSet, 'db', { propagationPolicy: 'Orphan' });
    expect(await cluster.names(Pod)).to.deep.equal(['db-0', 'db-1']);
    await cluster.create(statefulSet('db', { replicas: 2 }));
    const pods = await cluster.list(Pod);
    const { uid } = (await cluster.get(StatefulSet, 'db')).metadata;
    expect(pods.map(({ metadata }) => metadata.uid)).to.deep.equal(uids);
    expect(pods.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).to.deep.equal([
      uid,
      uid,
    ]);
    expect(await cluster.list(ControllerRevision)).to.have.length(1);
  });

  it('ignores a pod that matches its selector but not its name', async () => {
    const { create, names, get } = await simulatedCluster();
    await create(pod('stray-0', {}, { labels: { app: 'db' } }), statefulSet('db'));
    expect(await names(Pod)).to.deep.equal(['db-0', 'stray-0']);
    expect((await get(Pod, 'stray-0')).metadata).not.to.have.property('ownerReferences');
  });

  it('recreates a pod only after its old claim is deleted', async () => {
    const { create, patch, names } = await simulatedCluster();
    const whenScaled = { whenScaled: 'Delete', whenDeleted: 'Retain' };
    const spec = { persistentVolumeClaimRetentionPolicy: whenScaled };
    const volumeClaimTemplates = claimTemplates();
    await create(statefulSet('db', { replicas: 2, volumeClaimTemplates, ...spec }));
    const finalizers = ['example.com/hold'];
    await patch(PersistentVolumeClaim, 'data-db-1', { metadata: { finalizers } });
    await patch(StatefulSet, 'db', { spec: { replicas: 1 } });
    await patch(StatefulSet, 'db', { spec: { replicas: 2 } });
    expect(await names(Pod)).to.deep.equal(['db-0']);
    await patch(PersistentVolumeClaim, 'data-db-1', { metadata: { finalizers: null } });
    expect(await names(Pod)).to.deep.equal(['db-0', 'db-1']);
    expect(await names(PersistentVolumeClaim)).to.deep.equal(['data-db-0', 'data-db-1']);
  });

  it('counts ordinals from ordinals.start', async () => {
    const { create, names } = await simulatedCluster();
    await create(statefulSet('db', { replicas: 2, ordinals: { start: 3 } }));
    expect(await names(Pod)).to.deep.equal(['db-3', 'db-4']);
  });
});
