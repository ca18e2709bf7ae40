import { expect } from 'chai';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { claim, pod } from '../workload-objects.js';

describe('volumes in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('are provisioned by the default class, which allows expansion', async () => {
    const { get } = await simulatedCluster();
    const standard = await get(StorageClass, 'standard');
    expect(standard).to.deep.include({ allowVolumeExpansion: true, reclaimPolicy: 'Delete' });
    expect(standard.metadata.annotations).to.include({
      'storageclass.kubernetes.io/is-default-class': 'true',
    });
  });

  it('are created for each claim and bound to it', async () => {
    const { create, get } = await simulatedCluster();
    await create(claim('data'));
    const bound = await get(PersistentVolumeClaim, 'data');
    const name = `pvc-${bound.metadata.uid}`;
    expect(bound.spec!.volumeName).to.equal(name);
    expect(bound.metadata.annotations).to.include({ 'pv.kubernetes.io/bind-completed': 'yes' });
    expect(bound.status).to.deep.equal({
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
    });
    const volume = await get(PersistentVolume, name);
    expect(volume.status!.phase).to.equal('Bound');
    expect(volume.spec!.claimRef).to.deep.include({ name: 'data', uid: bound.metadata.uid });
  });

  it('are created only once the class of a claim exists', async () => {
    const { create, get } = await simulatedCluster();
    await create(claim('data', { storageClassName: 'fast' }));
    expect((await get(PersistentVolumeClaim, 'data')).spec).not.to.have.property('volumeName');
    const fast: StorageClass = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'fast' },
      provisioner: 'example.com/fast',
    };
    await create(fast);
    expect((await get(PersistentVolumeClaim, 'data')).status!.phase).to.equal('Bound');
  });

  it('are created by the default class for a claim that is older than the class', async () => {
    const { create, get, ...cluster } = await simulatedCluster();
    await cluster.delete(StorageClass, 'standard');
    const { storageClassName, ...spec } = claim('data').spec!;
    await create({ ...claim('data'), spec } as PersistentVolumeClaim);
    const head = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };
    const provisioner = 'example.com/fast';
    await create({ ...head, metadata: { name: 'a-other' }, provisioner } as StorageClass);
    expect((await get(PersistentVolumeClaim, 'data')).status!.phase).to.equal('Pending');
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const name = storageClassName!;
    await create({ ...head, metadata: { name, annotations }, provisioner } as StorageClass);
    const bound = await get(PersistentVolumeClaim, 'data');
    expect(bound.status!.phase).to.equal('Bound');
    const volume = await get(PersistentVolume, bound.spec!.volumeName!);
    expect(volume.spec!.storageClassName).to.equal(name);
  });

  it('grow with their claim', async () => {
    const { create, get, patch } = await simulatedCluster();
    await create(claim('data'));
    const resources = { requests: { storage: '2Gi' } };
    await patch(PersistentVolumeClaim, 'data', { spec: { resources } });
    const grown = await get(PersistentVolumeClaim, 'data');
    expect(grown.status!.capacity).to.deep.equal({ storage: '2Gi' });
    const volume = await get(PersistentVolume, grown.spec!.volumeName!);
    expect(volume.spec!.capacity).to.deep.equal({ storage: '2Gi' });
  });

  it('are deleted with their claim, or kept with the policy Retain', async () => {
    const { create, names, list, ...cluster } = await simulatedCluster();
    const keep: StorageClass = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'keep' },
      provisioner: 'example.com/keep',
      reclaimPolicy: 'Retain',
    };
    await create(keep, claim('gone'), claim('kept', { storageClassName: 'keep' }));
    await cluster.delete(PersistentVolumeClaim, 'gone');
    await cluster.delete(PersistentVolumeClaim, 'kept');
    const volumes = await list(PersistentVolume);
    expect(volumes.map(({ status }) => status!.phase)).to.deep.equal(['Released']);
    expect(await names(PersistentVolumeClaim)).to.deep.equal([]);
  });

  it('are not bound to a new claim that has the name of their earlier claim', async () => {
    const { create, get } = await simulatedCluster();
    const claimRef = { namespace: 'default', name: 'data', uid: 'an-earlier-uid' };
    const volume: PersistentVolume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'old' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '5Gi' },
        hostPath: { path: '/data' },
        claimRef,
        persistentVolumeReclaimPolicy: 'Retain',
      },
    };
    await create(volume, claim('data', { volumeName: 'old', storageClassName: '' }));
    expect((await get(PersistentVolumeClaim, 'data')).status!.phase).to.equal('Pending');
    expect((await get(PersistentVolume, 'old')).status!.phase).to.equal('Released');
  });

  it('are kept while a pod uses their protected claim', async () => {
    const { create, names, ...cluster } = await simulatedCluster();
    const data = claim('data');
    const finalizers = ['kubernetes.io/pvc-protection'];
    await create({ ...data, metadata: { ...data.metadata, finalizers } });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    await create(pod('p', { volumes }));
    await cluster.delete(PersistentVolumeClaim, 'data');
    expect(await names(PersistentVolumeClaim)).to.deep.equal(['data']);
    await cluster.delete(Pod, 'p');
    expect(await names(PersistentVolumeClaim)).to.deep.equal([]);
    expect(await names(PersistentVolume)).to.deep.equal([]);
  });

  it('do not delay the deletion of a claim whose pod has no node yet', async () => {
    const { create, names, ...cluster } = await simulatedCluster({ nodes: 0 });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    await create(claim('data'), pod('p', { volumes }));
    await cluster.delete(PersistentVolumeClaim, 'data');
    expect(await names(PersistentVolumeClaim)).to.deep.equal([]);
  });

  it('are created with WaitForFirstConsumer only once a pod uses their claim', async () => {
    const { create, get } = await simulatedCluster();
    const local: StorageClass = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'local' },
      provisioner: 'example.com/local',
      volumeBindingMode: 'WaitForFirstConsumer',
    };
    await create(local, claim('data', { storageClassName: 'local' }));
    expect((await get(PersistentVolumeClaim, 'data')).status!.phase).to.equal('Pending');
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    await create(pod('p', { volumes }));
    expect((await get(PersistentVolumeClaim, 'data')).status!.phase).to.equal('Bound');
    expect((await get(Pod, 'p')).status!.phase).to.equal('Running');
  });

  /** A volume that was created by hand, with the class `manual`. */
  function manual(name: string, storage: string, spec: object = {}): PersistentVolume {
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name, labels: { disk: name } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage },
        hostPath: { path: '/data' },
        storageClassName: 'manual',
        persistentVolumeReclaimPolicy: 'Retain',
        ...spec,
      },
    };
  }

  const ofManual = { storageClassName: 'manual' };

  function classOf(name: string, provisioner: string): StorageClass {
    const apiVersion = 'storage.k8s.io/v1';
    return { apiVersion, kind: 'StorageClass', metadata: { name }, provisioner };
  }

  it('are bound to the claim that they fit best if a user created them', async () => {
    const { create, get } = await simulatedCluster();
    await create(
      manual('a-tiny', '100Mi'),
      manual('b-big', '10Gi'),
      manual('c-fitting', '1536Mi'),
      manual('d-block', '1Gi', { volumeMode: 'Block' }),
      manual('e-readonly', '1Gi', { accessModes: ['ReadOnlyMany'] }),
      manual('f-other', '1Gi', { storageClassName: 'other' }),
      claim('data', ofManual),
    );
    const bound = await get(PersistentVolumeClaim, 'data');
    expect(bound.spec!.volumeName).to.equal('c-fitting');
    expect(bound.status).to.deep.include({ phase: 'Bound', capacity: { storage: '1536Mi' } });
    await create(claim('selecting', { ...ofManual, selector: { matchLabels: { disk: 'b-big' } } }));
    expect((await get(PersistentVolumeClaim, 'selecting')).spec!.volumeName).to.equal('b-big');
    await create(claim('late', ofManual));
    expect((await get(PersistentVolumeClaim, 'late')).status!.phase).to.equal('Pending');
    await create(manual('g-late', '1Gi'));
    expect((await get(PersistentVolumeClaim, 'late')).spec!.volumeName).to.equal('g-late');
  });

  it('are not created for a class without provisioner', async () => {
    const { create, get, names } = await simulatedCluster();
    await create(classOf('manual', 'kubernetes.io/no-provisioner'), claim('data', ofManual));
    expect(await names(PersistentVolume)).to.deep.equal([]);
    await create(manual('mine', '1Gi'));
    expect((await get(PersistentVolumeClaim, 'data')).status!.phase).to.equal('Bound');
  });

  it('leave their claim Lost when they are deleted', async () => {
    const { create, get, client, settled } = await simulatedCluster();
    await create(claim('data'));
    const { volumeName: name = '' } = (await get(PersistentVolumeClaim, 'data')).spec!;
    await client.delete(PersistentVolume, { name });
    const body = { metadata: { finalizers: null } };
    await client.patch(PersistentVolume, { name }, { type: 'merge', body });
    await settled();
    expect((await get(PersistentVolumeClaim, 'data')).status).to.deep.equal({ phase: 'Lost' });
  });

  it('are searched once per claim, and only for claims that are not bound yet', async () => {
    const controllers = { pods: false };
    const { create, cluster } = await simulatedCluster({ controllers });
    const volumeBindingMode = 'WaitForFirstConsumer';
    const late = { ...classOf('late', 'example.com/disks'), volumeBindingMode };
    await create(manual('mine', '1Gi'), claim('bound', ofManual));
    await create(late, claim('waiting', { storageClassName: 'late' }));
    await create(claim('unfit', { storageClassName: 'none' }));
    const reads: string[] = [];
    const { loopback } = cluster.server;
    const [get, list] = [loopback.get.bind(loopback), loopback.list.bind(loopback)];
    loopback.get = (type, key) => {
      if (type.kind === 'PersistentVolumeClaim') reads.push(key.name);
      return get(type, key);
    };
    loopback.list = (type, namespace) => {
      if (['PersistentVolume', 'Pod'].includes(type.kind)) reads.push(type.kind);
      return list(type, namespace);
    };
    await create(manual('free', '1Gi'));
    const volumes = ['PersistentVolume', 'PersistentVolume'];
    expect(reads.sort()).to.deep.equal([...volumes, 'Pod', 'unfit', 'waiting']);
  });

  it('are not bound to a claim that is Lost, although their claimRef names it', async () => {
    const { create, get, client } = await simulatedCluster();
    await create(manual('gone', '1Gi'), claim('data', ofManual));
    await client.delete(PersistentVolume, { name: 'gone' });
    const body = { metadata: { finalizers: null } };
    await client.patch(PersistentVolume, { name: 'gone' }, { type: 'merge', body });
    const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' };
    await create(manual('other', '1Gi', { claimRef }));
    const lost = await get(PersistentVolumeClaim, 'data');
    expect(lost.status).to.deep.equal({ phase: 'Lost' });
    expect(lost.spec).to.include({ volumeName: 'gone' });
  });

  it('are bound to the claim that their claimRef names if a user created them', async () => {
    const { create, get } = await simulatedCluster();
    const volume: PersistentVolume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'mine' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '5Gi' },
        hostPath: { path: '/data' },
      },
    };
    await create(volume);
    expect((await get(PersistentVolume, 'mine')).status!.phase).to.equal('Available');
    await create(claim('data', { volumeName: 'mine', storageClassName: '' }));
    const bound = await get(PersistentVolumeClaim, 'data');
    expect(bound.status).to.deep.include({ phase: 'Bound', capacity: { storage: '5Gi' } });
    expect((await get(PersistentVolume, 'mine')).status!.phase).to.equal('Bound');
  });
});
