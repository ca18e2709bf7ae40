import { expect } from 'chai';
import type { Builder, ServiceAccountOptions } from '../../../lib/builder/index.js';
import {
  Deployment,
  Pod,
  Role,
  RoleBinding,
  Secret,
  ConfigMap,
  ServiceAccount,
} from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, summary, usedKinds } from './scene.js';

/** Specs about objects that are no longer chained, but that pods still use. */
export function pruningInUseSuite(open: OpenScene): void {
  const permissionsFor = (
    chain: Builder,
    name: string,
    account: Partial<ServiceAccountOptions> = {},
  ): Builder =>
    chain
      .serviceAccount({ name, ...account })
      .role({ name, rules: [] })
      .roleBinding({
        ...{ name, subjects: [{ kind: 'ServiceAccount', name }] },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      });

  it('the builder keeps a claim, a Secret and a ServiceAccount while a workload with a pending update needs them', async () => {
    const scene = await open();
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const using = (name: string): Builder =>
      scene
        .builder({ pruneClaims: true, owns: [...usedKinds, ServiceAccount] })
        .persistentVolumeClaim({ name, spec })
        .secret({ name, stringData: { a: 'b' } })
        .serviceAccount({ name })
        .deployment({
          name: 'web',
          spec: { minReadySeconds: 2 },
          podSpec: {
            ...podSpec,
            serviceAccountName: name,
            volumes: [
              { name: 'claim', persistentVolumeClaim: { claimName: name } },
              { name: 'secret', secret: { secretName: name } },
            ],
          },
        });
    await scene.reconcileUntilDone(() => using('old'));
    await scene.target.eventually(async () => {
      const { items } = await scene.admin.list(Pod, { namespace: scene.namespace });
      expect(items).to.have.lengthOf(1);
    });
    const results = await using('new').reconcile();
    const kept = results.filter(({ ref }) => ref.name === 'old');
    expect(summary(kept).sort()).to.deep.equal([
      'pending PersistentVolumeClaim/old',
      'pending Secret/old',
      'pending ServiceAccount/old',
    ]);
    for (const { reason } of kept) expect(reason).to.match(/Pod .*\/web-.* still refers to it/);
    await scene.reconcileUntilDone(() => using('new'));
    expect(await scene.find(Secret, 'old')).to.equal(undefined);
  });

  it('the builder keeps the permissions of old pods until a rollout has replaced them', async () => {
    const scene = await open();
    const owns = [...usedKinds, ServiceAccount, Role, RoleBinding];
    const chain = (name: string): Builder =>
      permissionsFor(scene.builder({ owns }), name).deployment({
        ...{ name: 'web', spec: { minReadySeconds: 2 } },
        podSpec: { ...podSpec, serviceAccountName: name },
      });
    await permissionsFor(chain('old'), 'unused').reconcile();
    await scene.target.eventually(async () => {
      const { items } = await scene.admin.list(Pod, { namespace: scene.namespace });
      expect(items).to.have.lengthOf(1);
    });
    const results = await chain('new').reconcile();
    const named = (name: string) => summary(results.filter(({ ref }) => ref.name === name)).sort();
    const kinds = ['Role', 'RoleBinding', 'ServiceAccount'];
    expect(named('old')).to.deep.equal(kinds.map((kind) => `pending ${kind}/old`));
    expect(named('unused')).to.deep.equal(kinds.map((kind) => `deleted ${kind}/unused`));
    await scene.reconcileUntilDone(() => chain('new'));
    expect(await scene.find(RoleBinding, 'old')).to.equal(undefined);
  });

  it('the builder keeps the objects that pods of a workload with prune: false need to restart', async () => {
    const scene = await open();
    const owns = [...usedKinds, ServiceAccount, Role, RoleBinding];
    const [container] = podSpec.containers;
    const web = {
      ...podSpec,
      serviceAccountName: 'web',
      containers: [{ ...container, name: 'web' }],
    };
    const imagePullSecrets = [{ name: 'registry' }];
    await permissionsFor(scene.builder({ owns }), 'web', { imagePullSecrets })
      .secret({ name: 'registry' })
      .configMap({ name: 'env' })
      .configMap({ name: 'other' })
      .secret({ name: 'token' })
      .deployment({
        ...{ name: 'web', prune: false, podSpec: web },
        ...{ envFromConfigMap: ['env'], envFromSecret: ['token'] },
      })
      .reconcile();
    expect(summary(await scene.builder({ owns }).reconcile())).to.deep.equal([
      'deleted ConfigMap/other',
    ]);
    const annotations = { 'operator-builder.io/prune': null };
    await scene.edit(Deployment, 'web', { body: { metadata: { annotations } } });
    expect(summary(await scene.builder({ owns }).reconcile()).sort()).to.deep.equal([
      'deleted ConfigMap/env',
      'deleted Deployment/web',
      'deleted Role/web',
      'deleted RoleBinding/web',
      'deleted Secret/registry',
      'deleted Secret/token',
      'deleted ServiceAccount/web',
    ]);
  });

  it('the builder keeps the objects that old pods of a workload with prune: false need until these pods are replaced', async () => {
    const scene = await open();
    const chain = (env: string): Builder =>
      scene
        .builder()
        .configMap({ name: env, data: {} })
        .deployment({
          ...{ name: 'web', prune: false, podSpec, envFromConfigMap: [env] },
          spec: { minReadySeconds: 2 },
        });
    await scene.reconcileUntilDone(() => chain('old'));
    await scene.target.eventually(async () => {
      const { items } = await scene.admin.list(Pod, { namespace: scene.namespace });
      expect(items).to.have.lengthOf(1);
    });
    await chain('new').reconcile();
    expect(await scene.builder().reconcile()).to.deep.equal([]);
    await scene.target.eventually(async () => {
      expect(summary(await scene.builder().reconcile())).to.deep.equal(['deleted ConfigMap/old']);
    });
    expect(await scene.find(ConfigMap, 'new')).not.to.equal(undefined);
  });

  it('the builder keeps a ConfigMap until the workload that still refers to it is updated', async () => {
    const scene = await open();
    const image = 'registry.example/web:1';
    const chain = (env: string, first: string): Builder =>
      scene
        .builder()
        .configMap({ name: env, data: {} })
        .deployment({ name: 'first', podSpec: { containers: [{ name: 'web', image: first }] } })
        .deployment({
          name: 'second',
          podSpec: {
            containers: [{ name: 'web', image, envFrom: [{ configMapRef: { name: env } }] }],
          },
        });
    await scene.reconcileUntilDone(() => chain('old', image));
    const results = await chain('new', 'registry.example/web:2').reconcile();
    expect(summary(results)).to.deep.equal([
      'created ConfigMap/new',
      'configured Deployment/first',
      'pending Deployment/second',
      'pending ConfigMap/old',
    ]);
    expect(results[3]?.reason).to.match(/Deployment .*\/second still refers to it/);
    await scene.reconcileUntilDone(() => chain('new', 'registry.example/web:2'));
    expect(await scene.find(ConfigMap, 'old')).to.equal(undefined);
  });

  it('the builder keeps a ConfigMap until every pod that needs it to restart is gone', async () => {
    const scene = await open();
    const chain = (env: string): Builder =>
      scene
        .builder()
        .configMap({ name: env, data: {} })
        // A new pod counts as available after two seconds, so the old pod stays that long.
        .deployment({
          name: 'web',
          podSpec,
          rolloutOn: [env],
          envFromConfigMap: [env],
          spec: { minReadySeconds: 2 },
        });
    await scene.reconcileUntilDone(() => chain('old'));
    // A Deployment without dependents counts as done before it has pods.
    await scene.target.eventually(async () => {
      const { items } = await scene.target.admin.list(Pod, { namespace: scene.namespace });
      expect(items).to.have.lengthOf(1);
    });
    const results = await chain('new').reconcile();
    expect(summary(results)).to.include.members([
      'configured Deployment/web',
      'pending ConfigMap/old',
    ]);
    const kept = results.find(({ ref }) => ref.name === 'old');
    expect(kept?.reason).to.match(/Pod .*\/web-.* still refers to it/);
    await scene.reconcileUntilDone(() => chain('new'));
    expect(await scene.find(ConfigMap, 'old')).to.equal(undefined);
  });

  it('the builder keeps old Secrets for images and volumes while a workload with a pending update uses them', async () => {
    const scene = await open();
    const chain = (secret: string, image: string): Builder => {
      const containers = [{ name: 'web', image: `registry.example/web:${image}` }];
      const csi = { driver: 'csi.example.com', nodePublishSecretRef: { name: `${secret}-volume` } };
      const using = { imagePullSecrets: [{ name: secret }], volumes: [{ name: 'data', csi }] };
      const pulling = { ...podSpec, ...using };
      return scene
        .builder()
        .secret({ name: secret })
        .secret({ name: `${secret}-volume` })
        .deployment({ name: 'first', podSpec: { containers } })
        .deployment({ name: 'second', podSpec: pulling });
    };
    await scene.reconcileUntilDone(() => chain('old', '1'));
    await chain('new', '2').reconcile();
    for (const name of ['old', 'old-volume']) {
      expect(await scene.find(Secret, name)).not.to.equal(undefined);
    }
    await scene.reconcileUntilDone(() => chain('new', '2'));
    for (const name of ['old', 'old-volume']) {
      expect(await scene.find(Secret, name)).to.equal(undefined);
    }
  });
}
