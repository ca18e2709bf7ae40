import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap, Namespace, ServiceAccount } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { crashPoints } from '../../lib/testing/index.js';
import type { CrashCluster, CrashScenario } from '../../lib/testing/index.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { lifecycleScenario } from '../lifecycle/suite/crash-scenario.js';
import { lifecycleSuite } from '../lifecycle/suite/lifecycle-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('LifecycleReconciler on a real API server', () => {
  lifecycleSuite(clusterTarget);
});

// A run mostly waits here: a sample of the points is tried, all at once. The embedded server gets all.
const options = { sample: { count: 12, seed: 5 }, concurrency: 12 };

describe('A lifecycle operator on a real API server, killed at some of its requests', function () {
  this.timeout(300_000);
  let target: BuilderTarget;
  let operator: Client;

  before(async () => {
    target = await clusterTarget();
    operator = (await target.operator()).client;
  });
  after(() => target.close());

  /** A namespace of its own for each run, deleted after it. */
  async function newNamespace(): Promise<CrashCluster> {
    const namespace = await target.namespace();
    // It is among what is compared, and comes by itself.
    await target.eventually(() =>
      target.admin.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }),
    );
    await target.eventually(() => target.admin.get(ServiceAccount, { namespace, name: 'default' }));
    return {
      ...{ clock: target.clock, namespace },
      client: ({ user } = {}) => (user === 'operator' ? operator : target.admin),
      stop: async () => {
        await target.admin.delete(Namespace, { name: namespace });
      },
    };
  }

  for (const isLive of [false, true]) {
    const scenario = lifecycleScenario<CrashCluster>(isLive);
    it(`comes to the same end: ${scenario.name}`, async () => {
      const onCluster: CrashScenario<CrashCluster> = {
        ...scenario,
        ...{ comparable, steadyMs: 1_000, timeoutMs: 90_000, cluster: newNamespace },
      };
      const { results } = await crashPoints(onCluster, options);
      expect(results).to.have.length(options.sample.count);
      // On a real cluster the requests of two runs are not quite the same.
      const reached = results.filter(({ request }) => request !== undefined);
      expect(reached).to.have.length.above(options.sample.count / 2);
    });
  }
});

/** How often a workload's controller wrote is its own affair. */
function comparable(object: UnstructuredObject): UnstructuredObject {
  const { managedFields = [] } = object.metadata;
  const ours = managedFields.filter(({ manager }) => manager !== 'kube-controller-manager');
  return { ...object, metadata: { ...object.metadata, managedFields: ours } };
}
