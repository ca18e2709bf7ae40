import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { Deployment, StatefulSet } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

/** Specs about `spec.replicas` of a workload that an autoscaler scales. */
export function replicasSuite(open: OpenScene): void {
  async function scale(scene: Scene, name: string, replicas: number): Promise<void> {
    const key = { namespace: scene.namespace, name };
    const patch = { type: 'merge', body: { spec: { replicas } } } as const;
    const options = { subresource: 'scale', fieldManager: 'horizontal-pod-autoscaler' };
    await scene.admin.patch(Deployment, key, patch, options);
  }

  async function replicasOf(scene: Scene, name: string): Promise<number | undefined> {
    return (await scene.get(Deployment, name)).spec?.replicas;
  }

  const chainOf = (scene: Scene, replicas: number | 'external', image = '1'): Builder =>
    scene.builder().deployment({
      name: 'web',
      replicas,
      podSpec: { containers: [{ name: 'web', image: `registry.example/web:${image}` }] },
    });

  it('replicas of a workload with an autoscaler are set only when the workload is created', async () => {
    const scene = await open();
    const chain = (image: string): Builder =>
      scene
        .builder()
        .deployment({
          name: 'web',
          replicas: 3,
          podSpec: { containers: [{ name: 'web', image: `registry.example/web:${image}` }] },
        })
        .horizontalPodAutoscaler({
          name: 'web',
          spec: {
            minReplicas: 2,
            maxReplicas: 9,
            scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          },
        });
    await chain('1').reconcile();
    expect(await replicasOf(scene, 'web')).to.equal(3);
    await scale(scene, 'web', 5);
    await scene.writes();
    expect(summary(await chain('1').reconcile())).to.deep.equal([
      'unchanged Deployment/web',
      'unchanged HorizontalPodAutoscaler/web',
    ]);
    await chain('2').reconcile();
    expect(await replicasOf(scene, 'web')).to.equal(5);
    expect(await scene.writes()).to.deep.equal(['patch deployments/web']);
  });

  it('replicas that an autoscaler changed are repaired with an Event that names the autoscaler and the remedy', async () => {
    const scene = await open();
    await chainOf(scene, 3).reconcile();
    await scale(scene, 'web', 5);
    scene.events.length = 0;
    await chainOf(scene, 3).reconcile();
    const note = `Configured Deployment ${scene.namespace}/web: spec.replicas (drift by horizontal-pod-autoscaler; if an autoscaler sets it: set replicas: 'external' in a builder, and leave replicas out elsewhere)`;
    expect(scene.events.map((event) => event.note)).to.deep.equal([note]);
  });

  it('replicas are kept when the chain sets them to external, whether an autoscaler has changed them or not', async () => {
    const scene = await open();
    await chainOf(scene, 4).reconcile();
    await chainOf(scene, 'external').reconcile();
    expect(await replicasOf(scene, 'web')).to.equal(4);
    await chainOf(scene, 'external', '2').reconcile();
    expect(await replicasOf(scene, 'web')).to.equal(4);
    await scale(scene, 'web', 2);
    expect(summary(await chainOf(scene, 'external', '2').reconcile())).to.deep.equal([
      'unchanged Deployment/web',
    ]);
    expect(await replicasOf(scene, 'web')).to.equal(2);
  });

  it('replicas are not a planned change when the chain sets them to external', async () => {
    const scene = await open();
    await chainOf(scene, 4).reconcile();
    const [same] = (await chainOf(scene, 'external').plan()).objects;
    expect(same?.changes).to.deep.equal([]);
    const [newer] = (await chainOf(scene, 'external', '2').plan()).objects;
    expect(newer?.changes.map(({ path }) => path)).to.deep.equal([
      'spec.template.spec.containers[name=web].image',
    ]);
  });

  it('replicas are set again when the chain changes from external to a number', async () => {
    const scene = await open();
    await chainOf(scene, 'external').reconcile();
    await scale(scene, 'web', 6);
    await chainOf(scene, 3).reconcile();
    expect(await replicasOf(scene, 'web')).to.equal(3);
  });

  it('replicas are kept when the workload is recreated', async () => {
    const scene = await open();
    const chain = (selector: Record<string, string>): Builder =>
      scene
        .builder({ onImmutable: 'recreate' })
        .deployment({ name: 'web', replicas: 'external', podSpec, selector });
    await chain({ a: '1' }).reconcile();
    await scale(scene, 'web', 7);
    // While pods start, each status update is a conflict that a controller would answer with a
    // requeue.
    await scene.target.eventually(async () => {
      const results = summary(await chain({ a: '2' }).reconcile());
      expect(results).to.deep.equal(['recreated Deployment/web']);
    });
    expect(await replicasOf(scene, 'web')).to.equal(7);
  });

  it('replicas return to the default of the server when the chain no longer sets them', async () => {
    const scene = await open();
    await scene.builder().statefulSet({ name: 'web', replicas: 3, podSpec }).reconcile();
    await scene.builder().statefulSet({ name: 'web', podSpec }).reconcile();
    expect((await scene.get(StatefulSet, 'web')).spec?.replicas).to.equal(1);
  });

  it('replicas have the desired number in a workload that is recreated without an autoscaler', async () => {
    const scene = await open();
    const chain = (serviceName: string, replicas: number): Builder =>
      scene
        .builder({ onImmutable: 'recreate' })
        .statefulSet({ name: 'set', podSpec, replicas, spec: { serviceName } });
    await chain('one', 1).reconcile();
    expect(summary(await chain('two', 0).reconcile())).to.deep.equal(['recreated StatefulSet/set']);
    expect((await scene.get(StatefulSet, 'set')).spec?.replicas).to.equal(0);
  });
}
