import { expect } from 'chai';
import type { ObjectResult } from '../../../lib/apply/index.js';
import type { Builder, BuilderOptions } from '../../../lib/builder/index.js';
import { fieldElement, fieldManagersOf, keyElement } from '../../../lib/object/index.js';
import type { FieldPath } from '../../../lib/object/index.js';
import { Deployment, Pod, StatefulSet } from '../../../lib/object/kinds.js';
import { rolloutStatus } from '../../../lib/object/rollout-status.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, summary } from './scene.js';
import type { Scene } from './scene.js';

/** The state of a workload in these specs. */
interface Workload {
  readonly image?: string;
  /** Selects a node label that no node has. */
  readonly unschedulable?: boolean;
  readonly replicas?: number;
  readonly labels?: Record<string, string>;
  readonly spec?: { readonly paused?: boolean };
}

// The containers are not sorted by name: a template that is held back must keep the order of its lists.
function podSpecOf({ image = '1', unschedulable = false }: Workload): {
  containers: { name: string; image: string }[];
} {
  const containers = ['web', 'agent'].map((name) => ({
    ...{ name, image: `registry.example/${name}:${image}` },
    env: [
      { name: 'B', value: '1' },
      { name: 'A', value: '2' },
    ],
    ports: [{ containerPort: name === 'web' ? 80 : 81 }],
  }));
  const nowhere = { nodeSelector: { 'example.com/does-not': 'exist' } };
  return { containers, ...(unschedulable && nowhere) };
}

/** Specs about the changes that a rollout in progress holds back, and those that it does not. */
export function rolloutGateSuite(open: OpenScene): void {
  function chain(
    scene: Scene,
    [one, two]: readonly [Workload, Workload],
    options: Partial<BuilderOptions> = {},
  ): Builder {
    const { replicas = 1, labels = {} } = two;
    return scene
      .builder(options)
      .statefulSet({ name: 'one', replicas: one.replicas ?? 1, podSpec: podSpecOf(one) })
      .deployment({ name: 'two', replicas, labels, podSpec: podSpecOf(two) });
  }

  /** Rolls both workloads out, then starts a rollout of the first that never completes. */
  async function behindRollout(scene: Scene): Promise<void> {
    await scene.reconcileUntilDone(() => chain(scene, [{}, {}]));
    await chain(scene, [broken, {}]).reconcile();
    await scene.target.eventually(async () => {
      const { status } = await scene.get(StatefulSet, 'one');
      expect(status?.updatedReplicas).to.equal(1);
    });
  }

  const broken: Workload = { image: '2', unschedulable: true };

  async function imageOf(scene: Scene, name: string): Promise<string | undefined> {
    const { spec } = await scene.get(Deployment, name);
    return spec?.template.spec?.containers[0]?.image;
  }

  it('the builder does not wait for a workload with unready pods if no rollout of that workload is in progress', async () => {
    const scene = await open();
    const unready: Workload = { unschedulable: true };
    await chain(scene, [unready, {}]).reconcile();
    await scene.target.eventually(async () => {
      expect((await scene.get(StatefulSet, 'one')).status?.replicas).to.equal(1);
      const [, two] = await chain(scene, [unready, {}]).reconcile();
      expect(two?.rollout?.state).to.equal('complete');
    });
    const changed = chain(scene, [unready, { image: '2' }]);
    expect((await changed.plan()).rollouts.map(({ after }) => after)).to.deep.equal([undefined]);
    expect(summary(await changed.reconcile())).to.deep.equal([
      'unchanged StatefulSet/one',
      'configured Deployment/two',
    ]);
  });

  it('the builder delays only the pod template while another rollout is in progress, and applies it afterwards', async () => {
    const scene = await open();
    await behindRollout(scene);
    const before = await scene.get(Deployment, 'two');
    const changed: Workload = { image: '2', replicas: 2, labels: { tier: 'gold' } };
    const results = await chain(scene, [broken, changed]).reconcile();
    expect(summary(results)).to.deep.equal(['unchanged StatefulSet/one', 'pending Deployment/two']);
    expect(results[1]?.reason).to.match(/waits for StatefulSet .*\/one, which is being rolled out/);
    expect(results[1]?.changes.map(({ path }) => path)).to.have.members([
      'metadata.labels.tier',
      'spec.replicas',
    ]);
    const held = await scene.get(Deployment, 'two');
    expect(held.spec?.replicas).to.equal(2);
    expect(held.spec?.template).to.deep.equal(before.spec?.template);
    await scene.writes();
    expect(summary(await chain(scene, [broken, changed]).reconcile())).to.deep.equal([
      'unchanged StatefulSet/one',
      'pending Deployment/two',
    ]);
    expect(await scene.writes()).to.deep.equal([]);
    await rescue(scene, changed);
    expect(await imageOf(scene, 'two')).to.equal('registry.example/web:2');
    const after = await scene.get(Deployment, 'two');
    expect(after.spec?.template.spec?.containers.map(({ name }) => name)).to.deep.equal([
      ...['web', 'agent'],
    ]);
    await scene.writes();
    await chain(scene, [{ image: '3' }, changed]).reconcile();
    expect(await scene.writes()).to.deep.equal([]);
  });

  /** Repairs the first workload, whose pod of the broken revision must be deleted. */
  async function rescue(scene: Scene, two: Workload): Promise<void> {
    await chain(scene, [{ image: '3' }, two]).reconcile();
    await scene.admin.delete(Pod, { namespace: scene.namespace, name: 'one-0' });
    await scene.reconcileUntilDone(() => chain(scene, [{ image: '3' }, two]));
  }

  it('the builder applies the autoscaler of a workload whose pod template is delayed', async () => {
    const scene = await open();
    await behindRollout(scene);
    const builder = chain(scene, [
      broken,
      { image: '2', labels: { tier: 'gold' } },
    ]).horizontalPodAutoscaler({ name: 'scaler', workload: 'two', spec: { maxReplicas: 3 } });
    expect(summary(await builder.reconcileDeployOrSts())).to.include('pending Deployment/two');
    expect(summary(await builder.reconcileObjects())).to.deep.equal([
      'created HorizontalPodAutoscaler/scaler',
    ]);
  });

  it('the builder delays a pod template even if managedFields no longer show that the operator owns fields of it', async () => {
    const scene = await open();
    await behindRollout(scene);
    await scene.edit(Deployment, 'two', { body: { metadata: { managedFields: [{}] } } });
    const changed: Workload = { image: '2', replicas: 2 };
    const [, two] = await chain(scene, [broken, changed]).reconcile();
    expect(two?.operation).to.equal('pending');
    expect((await scene.get(Deployment, 'two')).spec?.replicas).to.equal(2);
    expect(await imageOf(scene, 'two')).to.equal('registry.example/web:1');
    await rescue(scene, changed);
    expect(await imageOf(scene, 'two')).to.equal('registry.example/web:2');
  });

  it('the builder keeps the fields of other managers in a delayed pod template', async () => {
    const scene = await open();
    await behindRollout(scene);
    const mesh = { name: 'mesh', image: 'registry.example/mesh:1' };
    const web = { name: 'web', env: [{ name: 'MESH', value: 'on' }] };
    const metadata = { annotations: { 'example.com/mesh': 'on' } };
    const body = { spec: { template: { metadata, spec: { containers: [mesh, web] } } } };
    const key = { namespace: scene.namespace, name: 'two' };
    const by = { fieldManager: 'mesh' };
    await scene.admin.patch(Deployment, key, { type: 'strategic', body }, by);
    const before = await scene.get(Deployment, 'two');
    await chain(scene, [broken, { image: '2', replicas: 2 }]).reconcile();
    const held = await scene.get(Deployment, 'two');
    expect(held.spec?.replicas).to.equal(2);
    expect(held.spec?.template).to.deep.equal(before.spec?.template);
    const template = ['spec', 'template'].map(fieldElement);
    const containers = [...template, ...['spec', 'containers'].map(fieldElement)];
    const webElement = [...containers, keyElement({ name: 'web' })];
    const ownersOf = (...path: FieldPath) => fieldManagersOf(held, path).map(({ name }) => name);
    expect({
      annotation: ownersOf(
        ...[...template, ...['metadata', 'annotations', 'example.com/mesh'].map(fieldElement)],
      ),
      container: ownersOf(...containers, keyElement({ name: 'mesh' }), fieldElement('image')),
      variable: ownersOf(...webElement, fieldElement('env'), keyElement({ name: 'MESH' })),
      image: ownersOf(...webElement, fieldElement('image')),
    }).to.deep.equal({
      annotation: ['mesh'],
      container: ['mesh'],
      variable: ['mesh'],
      image: [controllerName],
    });
  });

  it('the builder does not apply a delayed pod template after the chain returns to the old one', async () => {
    const scene = await open();
    await behindRollout(scene);
    const { spec } = await scene.get(Deployment, 'two');
    await chain(scene, [broken, { image: '2', replicas: 2 }]).reconcile();
    const results = await chain(scene, [broken, {}]).reconcile();
    expect(summary(results)[1]).to.equal('configured Deployment/two');
    expect((await scene.get(Deployment, 'two')).spec).to.deep.equal(spec);
    await scene.writes();
    await chain(scene, [broken, {}]).reconcile();
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('the builder repairs drift of a later workload during a rollout, also in its pod template', async () => {
    const scene = await open();
    await behindRollout(scene);
    await scene.edit(Deployment, 'two', { body: { spec: { replicas: 0 } } });
    const [, scaled] = await chain(scene, [broken, {}]).reconcile();
    expect(scaled).to.deep.include({ operation: 'configured' });
    const drifted = { containers: [{ name: 'web', image: 'registry.example/web:edited' }] };
    const body = { spec: { template: { spec: drifted } } };
    const key = { namespace: scene.namespace, name: 'two' };
    const by = { fieldManager: 'kubectl-edit' };
    await scene.admin.patch(Deployment, key, { type: 'strategic', body }, by);
    const [, repaired] = await chain(scene, [broken, {}]).reconcile();
    expect(repaired).to.deep.include({ operation: 'configured' });
    expect(repaired?.changes[0]).to.deep.include({ manager: 'kubectl-edit' });
    expect(await imageOf(scene, 'two')).to.equal('registry.example/web:1');
  });

  it('the builder applies the fix of a broken workload while the rollout of an earlier workload is stuck', async () => {
    const scene = await open();
    await behindRollout(scene);
    await chain(scene, [broken, broken], { rollout: 'parallel' }).reconcile();
    await scene.target.eventually(async () => {
      const pods = await scene.admin.list(Pod, { namespace: scene.namespace });
      const waiting = pods.items.filter(({ metadata: { name = '' }, status }) => {
        const reasons = (status?.conditions ?? []).map(({ reason }) => reason);
        return name.startsWith('two') && reasons.includes('Unschedulable');
      });
      expect(waiting).to.have.length(1);
    });
    const fixed = chain(scene, [broken, { image: '3' }]);
    expect((await fixed.plan()).rollouts.map(({ after }) => after)).to.deep.equal([undefined]);
    expect(summary(await fixed.reconcile())[1]).to.equal('configured Deployment/two');
    expect(await imageOf(scene, 'two')).to.equal('registry.example/web:3');
  });

  it('the builder does not wait for the rollout of a paused Deployment', async () => {
    const scene = await open();
    const paused = (image: string, spec: { paused: boolean }): Builder =>
      scene
        .builder()
        .deployment({ name: 'zero', spec, podSpec: podSpecOf({ image }) })
        .deployment({ name: 'two', podSpec: podSpecOf({ image }) });
    await scene.reconcileUntilDone(() => paused('1', { paused: false }));
    const results = await paused('2', { paused: true }).reconcile();
    expect(summary(results)).to.deep.equal([
      'configured Deployment/zero',
      'configured Deployment/two',
    ]);
    await scene.target.eventually(async () => {
      const [zero] = await paused('2', { paused: true }).reconcile();
      expect(zero?.rollout?.state).to.equal('unwatched');
    });
  });

  it('the builder does not wait for the rollout of an earlier workload with rollout: parallel', async () => {
    const scene = await open();
    await behindRollout(scene);
    const parallel = chain(scene, [broken, { image: '2' }], { rollout: 'parallel' });
    const plan = await parallel.plan();
    expect(plan.rollouts.map(({ ref, after }) => [ref.name, after])).to.deep.equal([
      ['two', undefined],
    ]);
    expect(summary(await parallel.reconcile())[1]).to.equal('configured Deployment/two');
  });

  it('the builder does not recreate a workload while the rollout of an earlier workload is in progress', async () => {
    const scene = await open();
    await behindRollout(scene);
    const recreated = (one: Workload): Builder =>
      scene
        .builder({ onImmutable: 'recreate' })
        .statefulSet({ name: 'one', replicas: 1, podSpec: podSpecOf(one) })
        .deployment({ name: 'two', replicas: 1, selector: { a: 'b' }, podSpec: podSpecOf({}) });
    const { uid } = (await scene.get(Deployment, 'two')).metadata;
    expect(summary(await recreated(broken).reconcile())[1]).to.equal('pending Deployment/two');
    expect((await scene.get(Deployment, 'two')).metadata.uid).to.equal(uid);
  });

  it('the builder creates workloads one after the other with orderCreation', async () => {
    const scene = await open();
    const ordered = (): Builder => chain(scene, [{}, {}], { orderCreation: true });
    const reasons = (await ordered().plan()).objects.map(({ reason }) => reason);
    expect(reasons).to.deep.equal([
      undefined,
      `once StatefulSet ${scene.namespace}/one is rolled out`,
    ]);
    const results = await ordered().reconcile();
    expect(summary(results)).to.deep.equal(['created StatefulSet/one', 'pending Deployment/two']);
    await scene.target.eventually(async () => {
      const [one, two] = await ordered().reconcile();
      expect([one?.rollout?.state, two?.operation]).to.deep.equal(['complete', 'created']);
    });
    expect(rolloutStatus(await scene.get(StatefulSet, 'one')).complete).to.equal(true);
  });

  it('the builder plans the other changes of a workload at once if only its pod template waits for a rollout', async () => {
    const scene = await open();
    await behindRollout(scene);
    const plan = await chain(scene, [broken, { image: '2', replicas: 2 }]).plan();
    const two = plan.objects[1];
    expect(two?.reason).to.equal(
      `its pod template once StatefulSet ${scene.namespace}/one is rolled out, the rest at once`,
    );
    expect(plan.rollouts[0]?.after?.name).to.equal('one');
    const results: readonly ObjectResult[] = await chain(scene, [
      broken,
      { replicas: 2 },
    ]).reconcile();
    expect(summary(results)[1]).to.equal('configured Deployment/two');
  });
}
