import { expect } from 'chai';
import {
  podBehaviorOf,
  resolvePodOptions,
} from '../../../../lib/apiserver/controllers/pod-behavior.js';
import { PodRules } from '../../../../lib/apiserver/controllers/pod-rules.js';
import type { PodRule } from '../../../../lib/apiserver/controllers/pod-rules.js';
import { Pod } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { pod } from '../workload-objects.js';

function withImage(image: string) {
  return pod('p', { containers: [{ name: 'main', image }] });
}

describe('the times of simulated pods', () => {
  const times = (options: Parameters<typeof resolvePodOptions>[0]) => {
    const { runningAfterMs, readyAfterMs, completeAfterMs, ...rest } = resolvePodOptions(options);
    const { terminatedAfterMs, restartAfterMs } = rest;
    return [runningAfterMs, readyAfterMs, completeAfterMs, terminatedAfterMs, restartAfterMs];
  };

  it('have defaults that are never earlier than a given runningAfterMs', () => {
    expect(times({})).to.deep.equal([1, 5, 5, 2, 10_000]);
    expect(times({ runningAfterMs: 8 })).to.deep.equal([8, 8, 8, 2, 10_000]);
  });

  it('may be the smallest allowed values', () => {
    const least = { runningAfterMs: 0, readyAfterMs: 0, completeAfterMs: 0 };
    const given = { ...least, terminatedAfterMs: 0, restartAfterMs: 1 };
    expect(times(given)).to.deep.equal([0, 0, 0, 0, 1]);
  });

  for (const [options, message] of [
    [{ runningAfterMs: -1 }, 'pods.runningAfterMs: want at least 0, got -1'],
    [{ readyAfterMs: 0 }, 'pods.readyAfterMs: want at least 1, got 0'],
    [{ completeAfterMs: 0 }, 'pods.completeAfterMs: want at least 1, got 0'],
    [{ terminatedAfterMs: -1 }, 'pods.terminatedAfterMs: want at least 0, got -1'],
    [{ restartAfterMs: 0 }, 'pods.restartAfterMs: want at least 1, got 0'],
  ] as const) {
    it(`cannot be ${JSON.stringify(options)}`, () => {
      expect(() => resolvePodOptions(options))
        .to.throw(message)
        .with.property('code', 'InvalidOption');
    });
  }
});

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

  it('remember the last 1,000 commands, until they are cleared', () => {
    const rules = new PodRules();
    const ran = (n: number) => ({ namespace: 'default', pod: 'a', container: 'main', n });
    for (let n = 0; n <= 1_000; n++) rules.ran(ran(n) as never);
    expect(rules.commands).to.have.length(1_000);
    expect([rules.commands[0], rules.commands.at(-1)]).to.deep.equal([ran(1), ran(1_000)]);
    rules.clear();
    expect(rules.commands).to.deep.equal([]);
  });

  it('change the behavior of running pods, and the last rule that matches a pod applies', async () => {
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
