import type { Client } from '../../lib/client/index.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashCluster } from '../../lib/testing/crash-points/crash-scenario.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { lifecycleScenario } from '../lifecycle/suite/crash-scenario.js';
import { lifecycleSuite } from '../lifecycle/suite/lifecycle-suite.js';
import { clusterTarget } from './cluster-target.js';
import { crashNamespace } from './crash-namespace.js';
import { expectSameEnd } from './expect-same-end.js';

describe('LifecycleReconciler on a real API server', () => {
  lifecycleSuite(clusterTarget);
});

const sample = { count: 12, seed: 5 };

describe('a lifecycle operator on a real API server, killed at some of its requests', function () {
  this.timeout(300_000);
  let target: BuilderTarget;
  let operator: Client;

  before(async () => {
    target = await clusterTarget();
    operator = (await target.operator()).client;
  });
  after(() => target.close());

  for (const isLive of [false, true]) {
    const scenario = lifecycleScenario<CrashCluster>(isLive);
    it(`converges to the state that it reaches without a kill: ${scenario.name}`, async () => {
      const onCluster: CrashScenario<CrashCluster> = {
        ...scenario,
        ...{ comparable, timeoutMs: 90_000, cluster: () => crashNamespace(target, operator) },
      };
      await expectSameEnd(onCluster, sample);
    });
  }
});

/** Ignores the number of writes by workload controllers. */
function comparable(object: UnstructuredObject): UnstructuredObject {
  const { managedFields = [] } = object.metadata;
  const ours = managedFields.filter(({ manager }) => manager !== 'kube-controller-manager');
  return { ...object, metadata: { ...object.metadata, managedFields: ours } };
}
