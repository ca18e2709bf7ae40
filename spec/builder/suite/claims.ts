import { expect } from 'chai';
import type { ObjectResult } from '../../../lib/apply/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { PersistentVolumeClaim, Pod, StatefulSet } from '../../../lib/object/kinds.js';
import { newOwner, podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';
import type { PersistentVolume, StorageClass } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';

const growing = 'growing';
const fixed = 'fixed';

function claimSpec(
  storage: string,
  storageClassName: string,
): NonNullable<PersistentVolumeClaim['spec']> {
  const accessModes = ['ReadWriteOnce'];
  return { accessModes, storageClassName, resources: { requests: { storage } } };
}

async function sizeOf(scene: Scene, name: string): Promise<string | undefined> {
  const claim = await scene.get(PersistentVolumeClaim, name);
  return claim.spec?.resources?.requests?.['storage'];
}

/** Applies two StorageClasses, of which only one allows expansion. */
async function ensureClasses(scene: Scene): Promise<void> {
  for (const [name, allowVolumeExpansion] of [[growing, true] as const, [fixed, false] as const]) {
    const storageClass: StorageClass = {
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
      ...{ provisioner: 'kwok.x-k8s.io/volume', allowVolumeExpansion },
    };
    await scene.admin.apply(storageClass, { fieldManager: 'suite', force: true });
  }
}

/** Binds a claim like a provisioner. */
async function bind(scene: Scene, name: string): Promise<void> {
  const claim = await scene.get(PersistentVolumeClaim, name);
  if (claim.status?.phase === 'Bound') return;
  if (scene.target.real) await provision(scene, claim);
  else await bindByHand(scene, claim);
  await scene.target.eventually(async () => {
    expect((await scene.get(PersistentVolumeClaim, name)).status?.phase).to.equal('Bound');
  });
}

async function provision(scene: Scene, { metadata, spec }: PersistentVolumeClaim): Promise<void> {
  const { namespace, name, uid } = metadata;
  const volume: PersistentVolume = {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `volume-${uid ?? ''}` } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: spec?.resources?.requests?.['storage'] ?? '' },
      claimRef: {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
        ...(namespace !== undefined && { namespace }),
        ...(name !== undefined && { name }),
        ...(uid !== undefined && { uid }),
      },
      hostPath: { path: '/tmp/nowhere' },
      ...(spec?.storageClassName !== undefined && { storageClassName: spec.storageClassName }),
    },
  };
  await scene.admin.apply(volume, { fieldManager: 'provisioner', force: true });
}

async function bindByHand(scene: Scene, { metadata, spec }: PersistentVolumeClaim): Promise<void> {
  const { namespace, name = '' } = metadata;
  const capacity = { storage: spec?.resources?.requests?.['storage'] };
  const body = { status: { phase: 'Bound', capacity, accessModes: ['ReadWriteOnce'] } };
  const options = { subresource: 'status', fieldManager: 'provisioner' };
  const patch = { type: 'merge', body } as const;
  await scene.admin.patch(PersistentVolumeClaim, { namespace, name }, patch, options);
}

interface SetOptions {
  readonly storageClass?: string;
  readonly serviceName?: string;
  readonly container?: string;
  readonly onImmutable?: 'recreate';
  readonly client?: Client;
}

/** A StatefulSet of one pod with a claim. */
function setOf(scene: Scene, storage: string, options: SetOptions = {}): Builder {
  const { storageClass = growing, serviceName = 'one', container = 'web' } = options;
  const { onImmutable = 'fail', client = scene.operator.client } = options;
  return scene.builder({ onImmutable, client }).statefulSet({
    name: 'store',
    podSpec: { containers: [{ name: container, image: 'registry.example/web:1' }] },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec(storage, storageClass) }],
    spec: { serviceName },
  });
}

/** Specs about keeping, adopting and growing claims. */
export function claimsSuite(open: OpenScene): void {
  const claim = (scene: Scene, storage: string, storageClass = growing): Builder =>
    scene
      .builder()
      .persistentVolumeClaim({ name: 'data', spec: claimSpec(storage, storageClass) })
      .configMap({ name: 'env', data: { storage } });

  it('the builder grows a bound claim', async () => {
    const scene = await open();
    await ensureClasses(scene);
    await claim(scene, '1Gi').reconcile();
    await bind(scene, 'data');
    const [result] = await claim(scene, '2Gi').reconcile();
    expect(result?.operation).to.equal('configured');
    expect(result?.changes).to.deep.include({
      ...{ path: 'spec.resources.requests.storage', from: '1Gi', to: '2Gi' },
    });
    expect(await sizeOf(scene, 'data')).to.equal('2Gi');
  });

  it('the builder accepts a number as a quantity, and grows a claim to it', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const chain = (storage: number): Builder =>
      scene.builder().persistentVolumeClaim({
        name: 'data',
        spec: { ...claimSpec('', growing), resources: { requests: { storage } } },
      });
    await chain(1_000_000_000).reconcile();
    await bind(scene, 'data');
    expect(summary(await chain(1_000_000_000).reconcile())).to.deep.equal([
      'unchanged PersistentVolumeClaim/data',
    ]);
    expect(summary(await chain(2_000_000_000).reconcile())).to.deep.equal([
      'configured PersistentVolumeClaim/data',
    ]);
    expect(await sizeOf(scene, 'data')).to.equal('2G');
  });

  it('the builder reports an event and applies the rest if the StorageClass forbids expansion', async () => {
    const scene = await open();
    await ensureClasses(scene);
    await claim(scene, '1Gi', fixed).reconcile();
    await bind(scene, 'data');
    const [planned] = (await claim(scene, '2Gi', fixed).plan()).objects;
    expect(planned).to.deep.include({ action: 'wait', approximate: false });
    expect(planned?.reason).to.include("can't grow to 2Gi");
    const results = await claim(scene, '2Gi', fixed).reconcile();
    expect(summary(results)).to.deep.equal([
      'pending PersistentVolumeClaim/data',
      'configured ConfigMap/env',
    ]);
    const why = `can't grow to 2Gi: its StorageClass ${fixed} does not allow it; set allowVolumeExpansion`;
    expect(results[0]?.reason).to.include(why);
    const refusal = scene.events.find(({ reason }) => reason === 'ResizeRefused');
    expect(refusal?.note).to.include(`PersistentVolumeClaim ${scene.namespace}/data ${why}`);
    expect(await sizeOf(scene, 'data')).to.equal('1Gi');
  });

  it('the builder waits for an unbound claim without blocking the rest', async () => {
    const scene = await open();
    const chain = (storage: string): Builder =>
      claim(scene, storage, 'nobody-provisions').deployment({
        name: 'web',
        podSpec: {
          ...podSpec,
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        },
      });
    await chain('1Gi').reconcile();
    const results = await chain('2Gi').reconcile();
    expect(results[0]).to.deep.include({ operation: 'pending', requeueAfterMs: 30_000 });
    expect(results[0]?.reason).to.include('once it is bound');
    expect(summary(results)).to.include('unchanged Deployment/web');
  });

  it('the builder refuses to shrink a claim, even with onImmutable: recreate', async () => {
    const scene = await open();
    await ensureClasses(scene);
    await claim(scene, '2Gi').reconcile();
    await bind(scene, 'data');
    const smaller = scene
      .builder({ onImmutable: 'recreate' })
      .persistentVolumeClaim({ name: 'data', spec: claimSpec('1Gi', growing) });
    const [error] = await errorsOf(smaller);
    expect(error?.code).to.equal('ImmutableField');
    expect(error?.message).to.include('spec.resources.requests.storage ("2Gi" to "1Gi")');
    expect(error?.message).to.match(/take the change back: claims can only grow$/);
    expect(await sizeOf(scene, 'data')).to.equal('2Gi');
  });

  it('the builder grows the claims of a volumeClaimTemplate and keeps the pods', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const chain = (storage: string): Builder =>
      scene.builder().statefulSet({
        name: 'store',
        podSpec,
        replicas: 2,
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec(storage, growing) }],
      });
    await chain('1Gi').reconcile();
    await scene.target.eventually(async () => {
      for (const ordinal of [0, 1]) await bind(scene, `data-store-${ordinal}`);
      expect((await scene.get(StatefulSet, 'store')).status?.readyReplicas).to.equal(2);
    });
    const pod = (await scene.get(Pod, 'store-0')).metadata.uid;
    const set = (await scene.get(StatefulSet, 'store')).metadata.uid;
    const [planned] = (await chain('2Gi').plan()).objects;
    expect(planned).to.deep.include({
      ...{ action: 'recreate', reason: 'recreated to grow its claims; its pods stay' },
      immutable: ['spec.volumeClaimTemplates[0].spec.resources.requests.storage'],
    });
    expect(await sizeOf(scene, 'data-store-0')).to.equal('1Gi');
    await scene.reconcileUntilDone(() => chain('2Gi'));
    expect(await sizeOf(scene, 'data-store-0')).to.equal('2Gi');
    expect(await sizeOf(scene, 'data-store-1')).to.equal('2Gi');
    const { metadata, spec } = await scene.get(StatefulSet, 'store');
    expect(metadata.uid).not.to.equal(set);
    const [template] = spec?.volumeClaimTemplates ?? [];
    expect(template?.spec?.resources?.requests?.['storage']).to.equal('2Gi');
    expect((await scene.get(Pod, 'store-0')).metadata.uid).to.equal(pod);
    expect(scene.events.filter(({ type }) => type === 'Warning')).to.deep.equal([]);
    expect(summary(await chain('2Gi').reconcile())).to.deep.equal(['unchanged StatefulSet/store']);
  });

  it('the builder does not recreate a StatefulSet if its deletion would delete its claims', async () => {
    const scene = await open();
    const chain = (serviceName: string, onImmutable: 'recreate' | 'recreateOrphan'): Builder =>
      scene.builder().statefulSet({
        ...{ name: 'store', podSpec, onImmutable, spec: { serviceName } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec('1Gi', fixed) }],
      });
    await chain('one', 'recreate').reconcile();
    const uidOfClaim = async (): Promise<unknown> =>
      (await scene.get(PersistentVolumeClaim, 'data-store-0')).metadata.uid;
    const uid = await scene.target.eventually(uidOfClaim);
    const [planned] = (await chain('two', 'recreate').plan()).objects;
    expect(planned?.action).to.equal('violate');
    const [error] = await errorsOf(chain('two', 'recreate'));
    expect(error?.code).to.equal('ImmutableField');
    expect(error?.message).to.include('its claims would be deleted with their data');
    await scene.target.eventually(async () => {
      await chain('two', 'recreateOrphan').reconcile();
      expect((await scene.get(StatefulSet, 'store')).spec?.serviceName).to.equal('two');
    });
    expect(await uidOfClaim()).to.equal(uid);
  });

  it('the builder waits until the claim of a template is bound, and keeps the StatefulSet', async () => {
    const scene = await open();
    const chain = (storage: string): Builder => setOf(scene, storage, { storageClass: 'nobodys' });
    await chain('1Gi').reconcile();
    await scene.target.eventually(() => scene.get(PersistentVolumeClaim, 'data-store-0'));
    const { uid } = (await scene.get(StatefulSet, 'store')).metadata;
    const [planned] = (await chain('2Gi').plan()).objects;
    expect(planned).to.deep.include({ action: 'wait', approximate: false });
    const [result] = await chain('2Gi').reconcile();
    expect(result).to.deep.include({ operation: 'pending', requeueAfterMs: 30_000 });
    expect(result?.reason).to.match(/once they are bound: .*data-store-0/);
    expect(planned?.reason).to.equal(result?.reason);
    expect((await scene.get(StatefulSet, 'store')).metadata.uid).to.equal(uid);
  });

  it('the builder grows the claims of a template that changes together with another immutable field', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const chain = (storage: string, serviceName: string): Builder =>
      setOf(scene, storage, { serviceName, onImmutable: 'recreate' });
    await chain('1Gi', 'one').reconcile();
    await scene.target.eventually(() => bind(scene, 'data-store-0'));
    await scene.reconcileUntilDone(() => chain('2Gi', 'two'));
    expect(await sizeOf(scene, 'data-store-0')).to.equal('2Gi');
    expect((await scene.get(StatefulSet, 'store')).spec?.serviceName).to.equal('two');
  });

  it('the builder does not grow the claims of a template if the new StatefulSet would be invalid', async () => {
    const scene = await open();
    await ensureClasses(scene);
    await setOf(scene, '1Gi').reconcile();
    await scene.target.eventually(() => bind(scene, 'data-store-0'));
    const [error] = await errorsOf(setOf(scene, '2Gi', { container: 'Not_A_Name' }));
    expect(error?.code).to.equal('Terminal');
    expect(error?.message).to.include('nothing was deleted');
    expect(await sizeOf(scene, 'data-store-0')).to.equal('1Gi');
  });

  it('the builder reports ResizeRefused only if the StorageClass refuses the growth, not if a quota is exceeded', async () => {
    const scene = await open();
    await ensureClasses(scene);
    await claim(scene, '1Gi').reconcile();
    await setOf(scene, '1Gi').reconcile();
    await scene.target.eventually(async () => {
      for (const name of ['data', 'data-store-0']) await bind(scene, name);
    });
    const message = 'exceeded quota: storage';
    const fault = { type: 'error', status: 403, reason: 'Forbidden', message } as const;
    const rules = [{ fault, verbs: ['apply' as const], kinds: ['PersistentVolumeClaim'] }];
    const client = faulty(scene.operator.client, { rules });
    const chain = setOf(scene, '2Gi', { client }).persistentVolumeClaim({
      ...{ name: 'data', spec: claimSpec('2Gi', growing) },
    });
    const errors = await errorsOf(chain);
    expect(errors.map(({ code }) => code)).to.deep.equal(['ApiError', 'ApiError']);
    expect(scene.events.map(({ reason }) => reason)).not.to.include('ResizeRefused');
  });

  it('the builder applies the other changes of a StatefulSet if the StorageClass forbids its claims to grow', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const chain = (storage: string, container: string): Builder =>
      setOf(scene, storage, { storageClass: fixed, container }).configMap({ name: 'env' });
    await chain('1Gi', 'web').reconcile();
    await scene.target.eventually(() => bind(scene, 'data-store-0'));
    const { uid } = (await scene.get(StatefulSet, 'store')).metadata;
    const plannedSet = async (): Promise<unknown> =>
      (await chain('2Gi', 'other').plan()).objects.find(({ ref }) => ref.kind === 'StatefulSet');
    const planned = await plannedSet();
    expect(planned).to.deep.include({ action: 'configure', approximate: false });
    expect(planned).to.have.property('reason').that.includes("can't grow to 2Gi");
    const results = await chain('2Gi', 'other').reconcile();
    expect(summary(results)).to.deep.equal([
      ...['unchanged ConfigMap/env', 'pending StatefulSet/store'],
    ]);
    const remedy = 'set allowVolumeExpansion: true in the class, or keep the size';
    const claim = `PersistentVolumeClaim ${scene.namespace}/data-store-0`;
    const why = `${claim} can't grow to 2Gi: its StorageClass ${fixed} does not allow it; ${remedy}`;
    expect(results[1]?.reason).to.equal(`waits because ${why}`);
    const warnings = scene.events.filter(({ type }) => type === 'Warning');
    expect(warnings.map(({ reason }) => reason)).to.deep.equal(['ResizeRefused']);
    expect(warnings[0]?.note).to.include(why);
    const { metadata, spec } = await scene.get(StatefulSet, 'store');
    expect(metadata.uid).to.equal(uid);
    expect(spec?.template.spec?.containers.map(({ name }) => name)).to.deep.equal(['other']);
    expect(spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.['storage']).to.equal('1Gi');
    expect(await sizeOf(scene, 'data-store-0')).to.equal('1Gi');
    expect(summary(await chain('2Gi', 'other').reconcile())).to.include(
      'pending StatefulSet/store',
    );
    // The StatefulSet controller may write the status meanwhile, which does not change the generation.
    expect((await scene.get(StatefulSet, 'store')).metadata.generation).to.equal(
      metadata.generation,
    );
    expect(await plannedSet()).to.deep.include({ action: 'wait', approximate: false });
  });

  it('the builder delays the rollout of later workloads while a claim of a template cannot grow, as the plan shows', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const chain = (storage: string, hostname: string, replicas: number): Builder =>
      scene
        .builder()
        .statefulSet({
          ...{ name: 'store', podSpec, replicas },
          volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec(storage, fixed) }],
        })
        .deployment({ name: 'web', podSpec: { ...podSpec, hostname } });
    await chain('1Gi', 'one', 1).reconcile();
    await scene.target.eventually(async () => {
      await bind(scene, 'data-store-0');
      expect((await scene.get(StatefulSet, 'store')).status?.readyReplicas).to.equal(1);
    });
    const { objects, rollouts } = await chain('2Gi', 'two', 2).plan();
    expect(objects.map(({ action }) => action)).to.deep.equal(['configure', 'configure']);
    expect(rollouts.map(({ after }) => after?.name)).to.deep.equal(['store']);
    const results = await chain('2Gi', 'two', 2).reconcile();
    expect(summary(results)).to.deep.equal(['pending StatefulSet/store', 'pending Deployment/web']);
    expect((await scene.get(StatefulSet, 'store')).spec?.replicas).to.equal(2);
  });

  it('the builder fails to grow a claim template that changes together with another immutable field if its StorageClass forbids it', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const chain = (storage: string, serviceName: string): Builder =>
      setOf(scene, storage, { storageClass: fixed, serviceName, onImmutable: 'recreate' });
    await chain('1Gi', 'one').reconcile();
    await scene.target.eventually(() => bind(scene, 'data-store-0'));
    const [error] = await errorsOf(chain('2Gi', 'two'));
    expect(error?.code).to.equal('Terminal');
    expect(error?.message).to.include('allowVolumeExpansion');
  });

  it('the builder keeps a claim by default when its owner is deleted, and reuses it for a new owner of the same name', async () => {
    const scene = await open();
    await ensureClasses(scene);
    await claim(scene, '1Gi').reconcile();
    const { metadata } = await scene.get(PersistentVolumeClaim, 'data');
    expect(metadata.ownerReferences).to.equal(undefined);
    expect(metadata.labels?.['operator-builder.io/owner-uid']).to.equal(scene.owner.metadata.uid);
    expect(metadata.annotations).to.include({
      'operator-builder.io/owner-kind': 'ConfigMap',
      'operator-builder.io/owner-name': 'shop',
    });
    await deleteOwner(scene);
    scene.owner = await newOwner(scene.admin, scene.namespace, 'shop');
    const results = await takenOver(scene, () => claim(scene, '1Gi'));
    expect(summary(results)).to.include('configured PersistentVolumeClaim/data');
    const after = (await scene.get(PersistentVolumeClaim, 'data')).metadata;
    expect(after.uid).to.equal(metadata.uid);
    expect(after.labels?.['operator-builder.io/owner-uid']).to.equal(scene.owner.metadata.uid);
  });

  it('the builder deletes a claim with its owner with whenOwnerDeleted: delete', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const chain = scene.builder().persistentVolumeClaim({
      ...{ name: 'data', spec: claimSpec('1Gi', growing), whenOwnerDeleted: 'delete' },
    });
    await chain.reconcile();
    const { ownerReferences } = (await scene.get(PersistentVolumeClaim, 'data')).metadata;
    expect(ownerReferences?.[0]?.uid).to.equal(scene.owner.metadata.uid);
    await deleteOwner(scene);
    await scene.target.eventually(async () => {
      expect(await scene.find(PersistentVolumeClaim, 'data')).to.equal(undefined);
    });
  });

  it('the builder prunes a claim only with the option prune: true', async () => {
    const scene = await open();
    await ensureClasses(scene);
    const spec = claimSpec('1Gi', growing);
    await scene
      .builder()
      .persistentVolumeClaim({ name: 'kept', spec })
      .persistentVolumeClaim({ name: 'pruned', spec, prune: true })
      .persistentVolumeClaim({ name: 'owned', spec, prune: true, whenOwnerDeleted: 'delete' })
      .reconcile();
    const results = await scene.builder().reconcile();
    expect(summary(results).sort()).to.deep.equal([
      'deleted PersistentVolumeClaim/owned',
      'deleted PersistentVolumeClaim/pruned',
    ]);
    expect(await scene.find(PersistentVolumeClaim, 'kept')).not.to.equal(undefined);
  });
}

async function deleteOwner(scene: Scene): Promise<void> {
  const { apiVersion, kind, metadata } = scene.owner;
  const { namespace, name = '' } = metadata;
  await scene.admin.delete({ apiVersion, kind }, { namespace, name });
}

/** Returns the results of the first reconcile in which nothing waits for garbage collection. */
function takenOver(scene: Scene, chain: () => Builder): Promise<readonly ObjectResult[]> {
  return scene.target.eventually(async () => {
    const builder = chain();
    const plan = await builder.plan();
    expect(plan.objects.filter(({ action }) => action === 'wait')).to.deep.equal([]);
    return builder.reconcile();
  });
}
