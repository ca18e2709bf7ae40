import { expect } from 'chai';
import omit from 'lodash/omit.js';
import type { Client } from '../../lib/client/index.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { crashPoints } from '../../lib/testing/index.js';
import type { CrashCluster, CrashScenario } from '../../lib/testing/index.js';
import { tenantScenario } from '../samples/parseable/suite/crash-scenario.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { clusterTarget } from './cluster-target.js';

// Each run takes seconds of the machine's time here, so it is a sample; the embedded server gets all.
const sample = { count: 6, seed: 4 };

/** A namespace of a real control plane, for one run. */
async function namespaceOf(target: BuilderTarget): Promise<CrashCluster> {
  const [namespace, operator] = await Promise.all([target.namespace(), target.operator()]);
  const clients: Readonly<Record<string, Client>> = { operator: operator.client };
  return {
    ...{ clock: target.clock, namespace },
    client: ({ user = '' } = {}) => clients[user] ?? target.admin,
    stop: () => Promise.resolve(),
  };
}

/**
 * UIDs go into the hash of what was applied. How often a workload's controller has written is its own
 * affair.
 */
function comparable(object: UnstructuredObject): UnstructuredObject {
  const { annotations, managedFields = [] } = object.metadata;
  const metadata = {
    ...omit(object.metadata, 'namespace'),
    annotations: omit(annotations, 'operator-builder.io/applied-hash') as Record<string, string>,
    managedFields: managedFields.filter(({ operation }) => operation === 'Apply'),
  };
  return { ...object, metadata };
}

describe('The Parseable operator on a real API server, killed at some requests', function () {
  this.timeout(300_000);
  let target: BuilderTarget;
  before(async () => {
    target = await clusterTarget();
  });
  after(() => target.close());

  it('comes to the same end', async () => {
    const scenario: CrashScenario<CrashCluster> = {
      ...tenantScenario<CrashCluster>(),
      ...{ comparable, steadyMs: 1_000, timeoutMs: 60_000 },
      cluster: () => namespaceOf(target),
    };
    const { results } = await crashPoints(scenario, { sample });
    expect(results).to.have.length(sample.count);
  });
});
