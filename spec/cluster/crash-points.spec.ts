import { expect } from 'chai';
import cloneDeepWith from 'lodash/cloneDeepWith.js';
import omit from 'lodash/omit.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap, Namespace } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { crashPoints } from '../../lib/testing/index.js';
import type { CrashCluster, CrashScenario } from '../../lib/testing/index.js';
import { installCrd } from '../../samples/parseable/operator.js';
import { ParseableTenant } from '../../samples/parseable/tenant.js';
import { rollout, shopScenario } from '../builder/suite/crash-scenarios.js';
import { usedKinds } from '../builder/suite/scene.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { tenantScenario } from '../samples/parseable/suite/crash-scenario.js';
import { clusterTarget } from './cluster-target.js';

// A run takes some ten seconds here, most of which it waits: so a sample of the points is tried, all at
// once. The embedded server gets all of them.
const options = { sample: { count: 10, seed: 4 }, concurrency: 10 };

/**
 * The hash of a Secret, and that of what was applied, depend on the UID of the owner, and so do the names
 * of revisions. How often a workload's controller wrote is its own affair.
 */
function comparable(object: UnstructuredObject): UnstructuredObject {
  const { annotations, managedFields = [] } = object.metadata;
  const metadata = {
    ...omit(object.metadata, 'namespace'),
    annotations: omit(annotations, 'operator-builder.io/applied-hash') as Record<string, string>,
    managedFields: managedFields.filter(({ operation }) => operation === 'Apply'),
  };
  return cloneDeepWith({ ...object, metadata }, (value: unknown, key) => {
    if (key === 'currentRevision' || key === 'updateRevision') return '(revision)';
    return isSecretHash(value) ? omit(value, 'value') : undefined;
  }) as UnstructuredObject;
}

function isSecretHash(value: unknown): value is { readonly name: string } {
  if (typeof value !== 'object' || value === null || !('name' in value)) return false;
  return typeof value.name === 'string' && value.name.startsWith('SECRET_HASH_');
}

describe('Operators on a real API server, killed at some of their requests', function () {
  this.timeout(240_000);
  const namespaces: string[] = [];
  let target: BuilderTarget;
  let operator: Client;

  before(async () => {
    target = await clusterTarget();
    operator = (await target.operator()).client;
    await installCrd(target.admin);
  });

  after(async () => {
    try {
      await target.eventually(async () => {
        const { items } = await target.admin.list(Namespace);
        const names = items.map(({ metadata }) => metadata.name ?? '');
        expect(names.filter((name) => namespaces.includes(name))).to.deep.equal([]);
      });
    } finally {
      await target.close();
    }
  });

  /** A namespace of its own for each run, deleted after it. */
  async function newNamespace(): Promise<CrashCluster> {
    const namespace = await target.namespace();
    namespaces.push(namespace);
    // It is among what is compared, and comes by itself.
    await target.eventually(() =>
      target.admin.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }),
    );
    return {
      ...{ clock: target.clock, namespace },
      client: ({ user } = {}) => (user === 'operator' ? operator : target.admin),
      stop: async () => {
        await target.admin.delete(Namespace, { name: namespace });
      },
    };
  }

  // In this order: the garbage collector takes half a minute to notice the tenants' kind.
  const scenarios = [shopScenario<CrashCluster>(rollout), tenantScenario<CrashCluster>()];
  for (const scenario of scenarios) {
    it(`come to the same end: ${scenario.name}`, async () => {
      const onCluster: CrashScenario<CrashCluster> = {
        ...scenario,
        ...{ comparable, steadyMs: 1_000, timeoutMs: 60_000, cluster: newNamespace },
        // Said before, so that the uninterrupted run need not find them out.
        kinds: [...usedKinds, ParseableTenant],
      };
      const { results } = await crashPoints(onCluster, options);
      expect(results).to.have.length(options.sample.count);
      // On a real cluster the requests of two runs are not quite the same.
      const reached = results.filter(({ request }) => request !== undefined);
      expect(reached).to.have.length.above(options.sample.count / 2);
    });
  }
});
