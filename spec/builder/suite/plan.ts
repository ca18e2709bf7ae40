import { expect } from 'chai';
import type { Builder, Plan } from '../../../lib/builder/index.js';
import { renderPlan } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec } from './scene.js';
import type { Scene } from './scene.js';

function actions(plan: Plan): string[] {
  return plan.objects.map(({ action, ref }) => `${action} ${ref.kind}/${ref.name}`);
}

/** Specs about plans, which compute the changes of a reconcile without writing. */
export function planSuite(open: OpenScene): void {
  const chainOf = (scene: Scene, value: string, serviceName = 'one'): Builder =>
    scene
      .builder()
      .configMap({ name: 'env', data: { A: value } })
      .secret({ name: 'token', stringData: { t: value } })
      .deployment({ name: 'web', podSpec, rolloutOn: ['env'] })
      .statefulSet({ name: 'store', podSpec, rolloutOn: ['env', 'token'], spec: { serviceName } });

  it('a plan predicts the operations of the next reconcile and writes nothing', async () => {
    const scene = await open();
    const created = await chainOf(scene, '1').plan();
    expect(actions(created)).to.deep.equal([
      'create ConfigMap/env',
      'create Secret/token',
      'create Deployment/web',
      'create StatefulSet/store',
    ]);
    expect(await scene.find(ConfigMap, 'env')).to.equal(undefined);
    await scene.reconcileUntilDone(() => chainOf(scene, '1'));
    const unchanged = await chainOf(scene, '1').plan();
    expect(unchanged.changed).to.equal(false);
    expect(unchanged.rollouts).to.deep.equal([]);
    const before = await scene.get(ConfigMap, 'env');
    const changed = await chainOf(scene, '2').plan();
    expect(actions(changed)).to.deep.equal([
      'configure ConfigMap/env',
      'configure Secret/token',
      'configure Deployment/web',
      'configure StatefulSet/store',
    ]);
    expect(changed.objects[0]?.changes).to.deep.equal([{ path: 'data.A', from: '1', to: '2' }]);
    expect(changed.objects.map(({ approximate }) => approximate)).to.deep.equal([
      ...[false, false, false, false],
    ]);
    expect(await scene.get(ConfigMap, 'env')).to.deep.equal(before);
  });

  it('a plan names the workloads whose pods would restart, in order and with their causes', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => chainOf(scene, '1'));
    const { rollouts } = await chainOf(scene, '2').plan();
    expect(rollouts.map(({ ref }) => ref.name)).to.deep.equal(['web', 'store']);
    expect(rollouts.map(({ causes }) => causes.map(({ name }) => name))).to.deep.equal([
      ['env'],
      ['env', 'token'],
    ]);
    expect(rollouts.map(({ after }) => after?.name)).to.deep.equal([undefined, 'web']);
    const scaled = scene.builder().deployment({ name: 'web', podSpec, replicas: 2 });
    expect((await scaled.plan()).rollouts).to.have.length(1);
  });

  it('a plan reports immutable fields as a violation or a recreation, by policy', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => chainOf(scene, '1'));
    const refused = (await chainOf(scene, '1', 'two').plan()).objects[3];
    expect(refused).to.deep.include({ action: 'violate', immutable: ['spec.serviceName'] });
    const recreating = scene
      .builder({ onImmutable: 'recreate' })
      .statefulSet({ name: 'store', podSpec, spec: { serviceName: 'two' } });
    expect((await recreating.plan()).objects[0]).to.deep.include({ action: 'recreate' });
  });

  it('a plan lists the objects to prune, and does not prune while an object fails', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => chainOf(scene, '1'));
    const less = scene.builder().deployment({ name: 'web', podSpec });
    expect(actions(await less.plan()).sort()).to.deep.equal([
      'configure Deployment/web',
      'prune ConfigMap/env',
      'prune Secret/token',
      'prune StatefulSet/store',
    ]);
    const broken = less.configMap({ name: 'Bad_Name' });
    expect(actions(await broken.plan()).sort()).to.deep.equal([
      'configure Deployment/web',
      'fail ConfigMap/Bad_Name',
      'wait ConfigMap/env',
      'wait Secret/token',
      'wait StatefulSet/store',
    ]);
  });

  it('a plan shows that an object is pruned at once if no workload will refer to it', async () => {
    const scene = await open();
    const chain = (env: string): Builder =>
      scene
        .builder()
        .configMap({ name: env })
        .deployment({ name: 'web', podSpec, envFromConfigMap: [env] });
    await scene.reconcileUntilDone(() => chain('old'));
    expect(actions(await chain('new').plan())).to.deep.equal([
      'create ConfigMap/new',
      'configure Deployment/web',
      'prune ConfigMap/old',
    ]);
  });

  it('a plan shows that objects fail which depend on a failed object or cannot be recreated', async () => {
    const scene = await open();
    const needing = scene
      .builder()
      .configMap({ name: 'env', data: { A: 'x'.repeat(1_048_577) } })
      .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });
    const plan = await needing.plan();
    expect(actions(plan)).to.deep.equal(['fail ConfigMap/env', 'fail Deployment/web']);
    expect(plan.objects[1]?.error?.code).to.equal('DependencyFailed');
    const set = (serviceName: string, image: string): Builder =>
      scene.builder({ onImmutable: 'recreate' }).statefulSet({
        ...{ name: 'store', spec: { serviceName } },
        podSpec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] },
      });
    await set('one', 'registry.example/web:1').reconcile();
    const invalid = await set('two', '').plan();
    expect(actions(invalid)).to.include('fail StatefulSet/store');
    expect(invalid.objects.find(({ ref }) => ref.name === 'store')?.error?.code).to.equal(
      'Terminal',
    );
  });

  it('a plan lists no rollout if the pods do not change', async () => {
    const scene = await open();
    const chain = (image: string, serviceName: string): Builder =>
      scene
        .builder({ onImmutable: 'recreateOrphan' })
        .daemonSet({
          ...{ name: 'agent', updateStrategy: { type: 'OnDelete' } },
          podSpec: { containers: [{ name: 'web', image }] },
        })
        .statefulSet({ name: 'store', podSpec, spec: { serviceName } });
    await scene.reconcileUntilDone(() => chain('registry.example/web:1', 'one'));
    const plan = await chain('registry.example/web:2', 'two').plan();
    expect(actions(plan)).to.deep.equal([
      'configure DaemonSet/agent',
      'recreate StatefulSet/store',
    ]);
    expect(plan.rollouts).to.deep.equal([]);
  });

  it('a plan lists no rollout of a Deployment that a user has paused, unless the chain sets paused: false', async () => {
    const scene = await open();
    const chain = (image: string, spec: { readonly paused?: boolean } = {}): Builder =>
      scene.builder().deployment({
        ...{ name: 'web', spec },
        podSpec: { containers: [{ name: 'web', image }] },
      });
    await scene.reconcileUntilDone(() => chain('registry.example/web:1'));
    await scene.edit(Deployment, 'web', { body: { spec: { paused: true } } });
    const plans = [{}, { paused: true }, { paused: false }].map((spec) =>
      chain('registry.example/web:2', spec).plan(),
    );
    const rollouts = (await Promise.all(plans)).map((plan) => plan.rollouts.length);
    expect(rollouts).to.deep.equal([0, 0, 1]);
  });

  it('a plan shows drift with the manager that caused it', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => chainOf(scene, '1'));
    await scene.edit(ConfigMap, 'env', { body: { data: { A: 'edited' } } });
    const plan = await chainOf(scene, '1').plan();
    expect(plan.objects[0]?.changes).to.deep.equal([
      { path: 'data.A', from: 'edited', to: '1', manager: 'kubectl-edit' },
    ]);
  });

  it('a plan computes an approximate change if a dry run is forbidden', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => chainOf(scene, '1'));
    const fault = { type: 'error', status: 403, reason: 'Forbidden' } as const;
    const client = faulty(scene.operator.client, { rules: [{ fault, verbs: ['apply'] }] });
    const plan = await scene
      .builder({ client })
      .configMap({ name: 'env', data: { A: '2' } })
      .service({ name: 'web', spec: { selector: {}, ports: [{ port: 80 }] } })
      .plan();
    const [configured, created] = plan.objects;
    expect(configured).to.deep.include({ action: 'configure', approximate: true });
    expect(configured?.changes).to.deep.equal([{ path: 'data.A', from: '1', to: '2' }]);
    expect(created).to.deep.include({ action: 'create', approximate: true });
    expect(created?.reason).to.include('no dry run');
  });

  it('a plan lists the fields that the builder would remove when it takes over the fields of another manager', async () => {
    const scene = await open();
    const { namespace } = scene;
    const { apiVersion, kind, metadata } = scene.owner;
    const { name = '', uid = '' } = metadata;
    const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
    const made: ConfigMap = {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { A: '0', OLD: 'x' } },
      metadata: { namespace, name: 'env', ownerReferences },
    };
    await scene.admin.create(made, { fieldManager: 'manager' });
    const data = { A: '1' };
    await scene.builder().configMap({ name: 'env', data }).reconcile();
    const chain = scene.builder({ adoptManagers: ['manager'] }).configMap({ name: 'env', data });
    const [planned] = (await chain.plan()).objects;
    expect(planned?.changes).to.deep.include({ path: 'data.OLD', from: 'x', to: undefined });
    expect(planned?.reason).to.include('takes over the fields of manager');
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1', OLD: 'x' });
  });

  it('a plan accepts an owner, a namespace and a kind that do not exist yet', async () => {
    const scene = await open();
    const owner = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'later', namespace: `${scene.namespace}-later` },
    };
    const plan = await scene
      .builder({ owner })
      .configMap({ name: 'env', data: { A: '1' } })
      .object({ apiVersion: 'example.com/v1', kind: 'Later', metadata: { name: 'one' } })
      .plan();
    const seen = plan.objects.map(({ action, approximate, ref }) => [
      action,
      approximate,
      ref.kind,
    ]);
    expect(seen).to.have.deep.members([
      ['create', true, 'ConfigMap'],
      ['create', true, 'Later'],
    ]);
  });

  it('a plan prints no values of a Secret', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => chainOf(scene, 'first-value'));
    const text = renderPlan(await chainOf(scene, 'second-value').plan(), { color: false });
    expect(text).to.include('~ ConfigMap');
    expect(text).to.include('~ data.A: "first-value" → "second-value"');
    const encoded = ['first-value', 'second-value'].map((value) =>
      Buffer.from(value).toString('base64'),
    );
    for (const value of encoded) expect(text).not.to.include(value);
    expect(text).to.match(/its pods are replaced, for ConfigMap .*env changed/);
  });
}
