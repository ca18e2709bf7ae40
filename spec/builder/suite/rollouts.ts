import { expect } from 'chai';
import type { ObjectResult } from '../../../lib/apply/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import { DaemonSet, Pod, StatefulSet } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

// No node has this label, so the pods stay pending.
const nowhere = { nodeSelector: { 'example.com/does-not': 'exist' } };

function containers(image: string): { name: string; image: string }[] {
  return [{ name: 'web', image: `registry.example/web:${image}` }];
}

/** Specs about rollouts of one workload after the other. */
export function rolloutsSuite(open: OpenScene): void {
  function ordered(scene: Scene, image: string, order?: readonly string[]): Builder {
    const spec = { containers: containers(image) };
    return scene
      .builder(order === undefined ? {} : { rolloutOrder: order })
      .statefulSet({ name: 'one', nodeType: 'data', podSpec: spec })
      .deployment({ name: 'two', nodeType: 'master', podSpec: spec })
      .statefulSet({ name: 'three', nodeType: 'query', podSpec: spec });
  }

  it('the builder creates all workloads at once, and updates them one after the other in the order of the chain', async () => {
    const scene = await open();
    expect(summary(await ordered(scene, '1').reconcile())).to.deep.equal([
      'created StatefulSet/one',
      'created Deployment/two',
      'created StatefulSet/three',
    ]);
    await scene.reconcileUntilDone(() => ordered(scene, '1'));
    const first = await ordered(scene, '2').reconcile();
    expect(summary(first)).to.deep.equal([
      'configured StatefulSet/one',
      'pending Deployment/two',
      'pending StatefulSet/three',
    ]);
    expect(first[1]?.reason).to.match(/waits for StatefulSet .*\/one, which is being rolled out/);
    const second = await untilConfigured(scene, () => ordered(scene, '2'));
    expect(summary(second)).to.deep.equal([
      'unchanged StatefulSet/one',
      'configured Deployment/two',
      'pending StatefulSet/three',
    ]);
    const third = await untilConfigured(scene, () => ordered(scene, '2'));
    expect(summary(third)).to.deep.equal([
      'unchanged StatefulSet/one',
      'unchanged Deployment/two',
      'configured StatefulSet/three',
    ]);
  });

  it('the builder follows rolloutOrder of the chain if both the chain and the builder set it', async () => {
    const scene = await open();
    const set = (name: string) => ({ name, nodeType: name, replicas: 0, podSpec });
    const chain = scene
      .builder({ rolloutOrder: ['master', 'data'] })
      .statefulSet(set('data'))
      .statefulSet(set('master'));
    const planned = async (builder: Builder): Promise<readonly string[]> =>
      (await builder.plan()).objects.map(({ ref }) => ref.name);
    expect(await planned(chain)).to.deep.equal(['master', 'data']);
    expect(await planned(chain.rolloutOrder(['data', 'master']))).to.deep.equal(['data', 'master']);
  });

  it('the builder follows rolloutOrder by node type, whatever the order of the chain', async () => {
    const scene = await open();
    const order = ['query', 'master', 'data'];
    await scene.reconcileUntilDone(() => ordered(scene, '1', order));
    expect(summary(await ordered(scene, '2', order).reconcile())).to.deep.equal([
      'configured StatefulSet/three',
      'pending Deployment/two',
      'pending StatefulSet/one',
    ]);
    const next = await untilConfigured(scene, () => ordered(scene, '2', order));
    expect(summary(next)).to.include('configured Deployment/two');
  });

  it('the builder delays later workloads while a rollout is broken, and reports the rollout as stuck after the deadline', async () => {
    const scene = await open();
    const chain = (image: string, broken = false): Builder =>
      scene
        .builder()
        .statefulSet({
          name: 'one',
          progressDeadlineSeconds: 1,
          podSpec: { containers: containers(image), ...(broken && nowhere) },
        })
        .deployment({ name: 'two', podSpec: { containers: containers(image) } });
    await scene.reconcileUntilDone(() => chain('1'));
    await chain('2', true).reconcile();
    const stuck = await scene.target.eventually(async () => {
      // The rollout is stuck after some time. A virtual clock has to be advanced until then.
      const { clock } = scene.target;
      if (clock instanceof VirtualClock) await clock.advance(1_000);
      const results = await chain('2', true).reconcile();
      expect(results[0]?.rollout?.state).to.equal('stuck');
      return results;
    });
    expect(summary(stuck)).to.deep.equal(['unchanged StatefulSet/one', 'pending Deployment/two']);
    expect(stuck[1]?.reason).to.match(/whose rollout is stuck/);
    expect(scene.events.map(({ reason }) => reason)).to.include('RolloutStuck');
  });

  it('the builder requeues at the progress deadline of a rollout in progress', async () => {
    const scene = await open();
    const chain = (image: string): Builder =>
      scene.builder().statefulSet({ name: 'one', podSpec: { containers: containers(image) } });
    const [result] = await chain('1').reconcile();
    expect(result?.rollout?.state).to.equal('progressing');
    expect(result?.requeueAfterMs).to.be.within(1, 602_000);
  });

  it('the builder names the pod of a broken revision that blocks a repaired StatefulSet, and deletes the pod with unblock', async () => {
    const scene = await open();
    const chain = (image: string, broken: boolean, unblock = false): Builder =>
      scene.builder().statefulSet({
        name: 'one',
        unblock,
        podSpec: { containers: containers(image), ...(broken && nowhere) },
      });
    await chain('1', true).reconcile();
    await scene.target.eventually(async () => {
      expect((await scene.get(Pod, 'one-0')).status?.phase).to.equal('Pending');
      const { status } = await scene.get(StatefulSet, 'one');
      expect(status?.replicas).to.equal(1);
    });
    await chain('2', false).reconcile();
    const blocked = await scene.target.eventually(async () => {
      const [result] = await chain('2', false).reconcile();
      expect(result?.rollout?.state).to.equal('stuck');
      return result;
    });
    expect(blocked?.rollout?.message).to.match(/Pod .*\/one-0 .* set unblock/);
    const { uid } = (await scene.get(Pod, 'one-0')).metadata;
    await chain('2', false, true).reconcile();
    await scene.reconcileUntilDone(() => chain('2', false, true));
    expect((await scene.get(Pod, 'one-0')).metadata.uid).not.to.equal(uid);
  });

  it('the builder does not wait for a DaemonSet with updateStrategy OnDelete', async () => {
    const scene = await open();
    const chain = (image: string): Builder =>
      scene
        .builder()
        .daemonSet({
          name: 'agent',
          updateStrategy: { type: 'OnDelete' },
          podSpec: { containers: containers(image) },
        })
        .deployment({ name: 'web', podSpec: { containers: containers(image) } });
    await scene.reconcileUntilDone(() => chain('1'));
    const results = await chain('2').reconcile();
    expect(summary(results)).to.deep.equal([
      'configured DaemonSet/agent',
      'configured Deployment/web',
    ]);
    expect(results[0]?.rollout?.state).to.equal('unwatched');
    expect(await scene.find(DaemonSet, 'agent')).not.to.equal(undefined);
  });

  it('the builder keeps a workload pending if an earlier workload has failed', async () => {
    const scene = await open();
    const chain = (image: string, selector?: Record<string, string>): Builder =>
      scene
        .builder()
        .deployment({ name: 'one', podSpec, ...(selector !== undefined && { selector }) })
        .deployment({ name: 'two', podSpec: { containers: containers(image) } });
    await scene.reconcileUntilDone(() => chain('1'));
    const failure = await chain('2', { another: 'selector' })
      .reconcile()
      .catch((error: unknown) => error as { results: ObjectResult[] });
    const { results } = failure as { results: ObjectResult[] };
    expect(summary(results)).to.deep.equal(['pending Deployment/two']);
    expect(results[0]?.reason).to.match(/waits for Deployment .*\/one, which failed/);
  });
}

/** Reconciles until an object is configured. */
function untilConfigured(scene: Scene, chain: () => Builder): Promise<readonly ObjectResult[]> {
  return scene.target.eventually(async () => {
    const results = await chain().reconcile();
    expect(results.map(({ operation }) => operation)).to.include('configured');
    return results;
  });
}
