import { expect } from 'chai';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock, testCluster } from '../../lib/testing/index.js';
import type { EmbeddedCluster } from '../../lib/testing/index.js';
import type { TestHook } from '../../lib/testing/start-operator.js';

describe('testCluster', () => {
  const cluster = testCluster();
  const seen: EmbeddedCluster[] = [];
  const object: ConfigMap = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } },
  };

  for (const test of ['one', 'another']) {
    it(`gives ${test} test a cluster of its own with a virtual clock`, async () => {
      await cluster().client().create(object);
      expect(cluster().clock).to.be.instanceOf(VirtualClock);
      expect(seen).not.to.include(cluster());
      seen.push(cluster());
    });
  }

  it('stops the clusters of earlier tests', async () => {
    const requests = await Promise.allSettled(
      seen.map((each) => each.client().get(ConfigMap, { name: 'a', namespace: 'default' })),
    );
    expect(requests.map(({ status }) => status)).to.deep.equal(seen.map(() => 'rejected'));
  });

  it('starts and stops the cluster in the hooks that are passed', async () => {
    const [begin, end]: (() => Promise<void>)[][] = [[], []];
    const hook =
      (into: (() => Promise<void>)[] | undefined): TestHook =>
      (run) =>
        into?.push(run);
    const hooks = { before: hook(begin), after: hook(end) };
    const other = testCluster({ hooks });
    expect(other).to.throw('only during a test or a hook');
    await begin?.[0]?.();
    expect(other().requests.entries).to.deep.equal([]);
    await end?.[0]?.();
    expect(other).to.throw('only during a test or a hook');
  });
});
