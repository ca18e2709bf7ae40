import { expect } from 'chai';
import cloneDeepWith from 'lodash/cloneDeepWith.js';
import omit from 'lodash/omit.js';
import { ensureCrd } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { Namespace } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashCluster } from '../../lib/testing/crash-points/crash-scenario.js';
import { ParseableTenant } from '../../samples/parseable/tenant.js';
import { rollout, shopScenario } from '../builder/suite/crash-scenarios.js';
import { usedKinds } from '../builder/suite/scene.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { tenantScenario } from '../samples/parseable/suite/crash-scenario.js';
import { clusterTarget } from './cluster-target.js';
import { crashNamespace } from './crash-namespace.js';
import { expectSameEnd } from './expect-same-end.js';

const sample = { count: 10, seed: 4 };

/**
 * Normalizes the hash of a Secret, that of applied objects, and names of revisions, which depend on
 * the owner's UID, as well as the number of writes by workload controllers.
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

describe('operators on a real API server, killed at some of their requests', function () {
  this.timeout(240_000);
  const namespaces: string[] = [];
  let target: BuilderTarget;
  let operator: Client;

  before(async () => {
    target = await clusterTarget();
    operator = (await target.operator()).client;
    await ensureCrd(target.admin, ParseableTenant.crd);
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

  async function newNamespace(): Promise<CrashCluster> {
    const cluster = await crashNamespace(target, operator);
    namespaces.push(cluster.namespace ?? '');
    return cluster;
  }

  // The tenants come last, because the garbage collector takes half a minute to discover their kind.
  const scenarios = [shopScenario<CrashCluster>(rollout), tenantScenario<CrashCluster>()];
  for (const scenario of scenarios) {
    it(`converge to the state that they reach without a kill: ${scenario.name}`, async () => {
      const onCluster: CrashScenario<CrashCluster> = {
        ...scenario,
        ...{ comparable, timeoutMs: 60_000, cluster: newNamespace },
        // The kinds are given, so that the uninterrupted run need not discover them.
        kinds: [...usedKinds, ParseableTenant],
      };
      await expectSameEnd(onCluster, sample);
    });
  }
});
