import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import {
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
} from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { podSpec } from './scene.js';
import type { Scene } from './scene.js';

const ports = [{ port: 80 }];
const scale = { minReplicas: 1, maxReplicas: 3 };
const apiPods = { matchLabels: { 'operator-builder.io/workload': 'deployment.api' } };

/** Specs about objects that name a workload of the chain. */
export function workloadSelectionSuite(open: OpenScene): void {
  it('objects with the option workload select the pods of the workload, whether the workload is chained before or after', async () => {
    const scene = await open();
    await scene
      .builder()
      .service({ name: 'front', workload: 'api', spec: { ports } })
      .podDisruptionBudget({ name: 'budget', workload: 'api', spec: { minAvailable: 1 } })
      .deployment({ name: 'api', replicas: 2, podSpec })
      .networkPolicy({ name: 'policy', workload: 'api', spec: { policyTypes: ['Ingress'] } })
      .horizontalPodAutoscaler({ name: 'scaler', workload: 'api', spec: scale })
      .reconcile();
    expect((await scene.get(Service, 'front')).spec?.selector).to.deep.equal(apiPods.matchLabels);
    expect((await scene.get(PodDisruptionBudget, 'budget')).spec?.selector).to.deep.equal(apiPods);
    expect((await scene.get(NetworkPolicy, 'policy')).spec?.podSelector).to.deep.equal(apiPods);
    const { spec } = await scene.get(HorizontalPodAutoscaler, 'scaler');
    expect(spec?.scaleTargetRef).to.deep.equal({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' },
    });
  });

  it('objects without the option workload select the pods of the workload with the same name', async () => {
    const scene = await open();
    await scene
      .builder()
      .deployment({ name: 'api', podSpec })
      .podDisruptionBudget({ name: 'api', spec: { minAvailable: 1 } })
      .reconcile();
    expect((await scene.get(PodDisruptionBudget, 'api')).spec?.selector).to.deep.equal(apiPods);
  });

  it('a Service with an empty selector is accepted', async () => {
    const scene = await open();
    await scene
      .builder()
      .service({ name: 'manual', spec: { ports, selector: {} } })
      .service({ name: 'other', spec: { type: 'ExternalName', externalName: 'db.example' } })
      .reconcile();
    expect((await scene.get(Service, 'manual')).spec?.selector ?? {}).to.deep.equal({});
  });

  describe('objects that would select nothing are rejected before any write', () => {
    const oneOff = /did you mean apis\?/;
    const cases: readonly [string, (chain: Builder) => Builder, string, RegExp][] = [
      [
        'a Service without a workload of its name',
        (chain) => chain.service({ name: 'api', spec: { ports } }),
        ...(['UnknownReference', oneOff] as const),
      ],
      [
        'a PodDisruptionBudget with a mistyped workload',
        (chain) => chain.podDisruptionBudget({ name: 'b', workload: 'apsi', spec: {} }),
        ...(['UnknownReference', oneOff] as const),
      ],
      [
        'a NetworkPolicy with a mistyped workload',
        (chain) => chain.networkPolicy({ name: 'p', workload: 'api', spec: {} }),
        ...(['UnknownReference', oneOff] as const),
      ],
      [
        'an autoscaler with a mistyped workload',
        (chain) => chain.horizontalPodAutoscaler({ name: 'a', workload: 'api', spec: scale }),
        ...(['UnknownReference', /the chain has Deployment apis; did you mean apis\?/] as const),
      ],
      [
        "a selector of the builder's label with a value that no workload has",
        (chain) => chain.podDisruptionBudget({ name: 'b', spec: { selector: apiPods } }),
        ...(['UnknownReference', /did you mean deployment\.apis\?/] as const),
      ],
      [
        'both a workload and a selector',
        (chain) => chain.service({ name: 's', workload: 'apis', spec: { ports, selector: {} } }),
        ...(['InvalidOption', /set only one/] as const),
      ],
    ];
    for (const [title, add, code, message] of cases) {
      it(title, async () => {
        const scene = await open();
        const chain = add(scene.builder().deployment({ name: 'apis', podSpec }));
        const error = await chain.reconcile().catch((caught: unknown) => caught);
        expect(error).to.be.instanceOf(Error).with.property('code', code);
        expect(error).to.have.property('message').that.matches(message);
        expect(await scene.writes()).to.deep.equal([]);
      });
    }
  });

  const scaledBy = (scene: Scene, name: string): Builder =>
    scene
      .builder()
      .deployment({ name: 'api', podSpec, replicas: 2 })
      .horizontalPodAutoscaler({
        name: 'scaler',
        spec: { ...scale, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } },
      });

  it('an autoscaler is rejected if its target is neither in the chain nor in the cluster', async () => {
    const scene = await open();
    const errors = await errorsOf(scaledBy(scene, 'apo'));
    expect(errors.map(({ code }) => code)).to.deep.equal(['TargetMissing']);
    expect(errors[0]?.message).to.match(/names Deployment apo, .* did you mean api\?/);
    const plan = await scaledBy(scene, 'apo').plan();
    expect(plan.objects[1]).to.deep.include({ action: 'fail' });
  });

  it('an autoscaler that names itself is rejected', async () => {
    const scene = await open();
    const own = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'scaler' };
    const spec = { ...scale, scaleTargetRef: own };
    const chain = scene.builder().horizontalPodAutoscaler({ name: 'scaler', spec });
    expect((await errorsOf(chain)).map(({ code }) => code)).to.deep.equal(['TargetMissing']);
  });

  it('an autoscaler is accepted if its target is only in the cluster, and the target is read once', async () => {
    const scene = await open();
    const metadata = { namespace: scene.namespace, name: 'legacy' };
    const labels = { app: 'legacy' };
    const template = { metadata: { labels }, spec: podSpec };
    const spec = { selector: { matchLabels: labels }, template };
    await scene.admin.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    await scaledBy(scene, 'legacy').reconcile();
    await scene.operator.requests();
    await scaledBy(scene, 'legacy').reconcile();
    const read = (await scene.operator.requests()).filter(({ name }) => name === 'legacy');
    expect(read).to.deep.equal([]);
  });
}
