import { expect } from 'chai';
import { podBehaviorOf } from '../../../../lib/apiserver/controllers/pod-behavior.js';
import { PodRules } from '../../../../lib/apiserver/controllers/pod-rules.js';
import type { PodRule } from '../../../../lib/apiserver/controllers/pod-rules.js';
import { Pod } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { pod } from '../workload-objects.js';

function withImage(image: string) {
  return pod('p', { containers: [{ name: 'main', image }] });
}

describe('podBehaviorOf', () => {
  const images: readonly [image: string, behavior: string][] = [
    ['registry/app:1', 'ready'],
    ['registry/app', 'ready'],
    ['registry/app:broken', 'imagePullError'],
    ['registry:5000/app:1.2-broken', 'imagePullError'],
    ['registry/app:broken@sha256:0123', 'imagePullError'],
    ['registry/broken', 'ready'],
    ['registry/app:unbroken', 'ready'],
    ['app:crashing', 'crashLoop'],
    ['app:2-never-ready', 'neverReady'],
    ['app:failing', 'fail'],
  ];
  for (const [image, behavior] of images) {
    it(`returns ${behavior} for the image ${image}`, () => {
      expect(podBehaviorOf(withImage(image))).to.equal(behavior);
    });
  }

  it("prefers the annotation over the image, and the caller's function over both", () => {
    const annotations = { 'operator-builder.io/pod-behavior': 'crashLoop' };
    const broken = { ...withImage('app:broken'), metadata: { name: 'p', annotations } };
    expect(podBehaviorOf(broken)).to.equal('crashLoop');
    expect(podBehaviorOf(broken, () => 'neverReady')).to.equal('neverReady');
    expect(podBehaviorOf(broken, () => undefined)).to.equal('crashLoop');
  });

  it('returns succeed for pods of Jobs', () => {
    const controller = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'j',
      uid: 'u',
      controller: true,
    };
    expect(podBehaviorOf(pod('p', {}, { ownerReferences: [controller] }))).to.equal('succeed');
  });
});

describe('PodRules', () => {
  afterEach(stopSimulatedClusters);

  it('change the behavior of running pods, and the last matching rule decides', async () => {
    const rules = new PodRules();
    const { client, clock, get } = await simulatedCluster({ pods: { rules } });
    const reasonOf = async (name: string): Promise<string | undefined> => {
      const { containerStatuses = [] } = (await get(Pod, name)).status ?? {};
      return containerStatuses[0]?.state?.waiting?.reason;
    };
    await client.create(pod('a', {}, { labels: { app: 'web' } }));
    await client.create(pod('b'));
    await clock.advance(20);
    rules.add({ behavior: 'imagePullError' });
    const crash = rules.add({ match: { labels: { app: 'web' } }, behavior: 'crashLoop' });
    await clock.advance(20);
    expect([await reasonOf('a'), await reasonOf('b')]).to.deep.equal([
      'CrashLoopBackOff',
      'ImagePullBackOff',
    ]);
    crash.remove();
    await clock.advance(20);
    expect(await reasonOf('a')).to.equal('ImagePullBackOff');
    rules.clear();
    await clock.advance(20);
    expect([await reasonOf('a'), await reasonOf('b')]).to.deep.equal([undefined, undefined]);
    expect(rules.active).to.deep.equal([]);
  });

  for (const [rule, problem] of [
    [{ behavior: 'explode' }, 'want behavior to be one of ready, neverReady, crashLoop'],
    [{}, 'want behavior to be one of ready'],
    [{ exec: [{ command: 'ls' }] }, 'want command to be a list of strings'],
    [{ exec: [{ command: ['ls'], exitCode: 256 }] }, 'want exitCode to be 0 to 255, got 256'],
    [{ exec: [{ command: [], output: '' }] }, 'pod rule: exec: unknown option "output"'],
    [{ behavior: 'ready', match: { app: 'web' } }, 'pod rule: match: unknown option "app"'],
    [{ behavior: 'ready', match: { labels: { app: 1 } } }, 'labels of strings, got {"labels"'],
  ] as const) {
    it(`refuse ${JSON.stringify(rule)}`, () => {
      const add = (): unknown => new PodRules().add(rule as unknown as PodRule);
      expect(add).to.throw(problem).with.property('code', 'InvalidOption');
    });
  }
});
