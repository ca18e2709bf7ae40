import cloneDeepWith from 'lodash/cloneDeepWith.js';
import omit from 'lodash/omit.js';
import { ensureCrd, forwarding, getIfExists } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap, Namespace } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { systemRandom } from '../../lib/system/random.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashCluster, CrashStep } from '../../lib/testing/crash-points/crash-scenario.js';
import { Site } from '../../samples/resource-chain/site.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { siteScenario } from '../samples/resource-chain/suite/crash-scenario.js';
import { resourceChainSuite } from '../samples/resource-chain/suite/resource-chain-suite.js';
import { clusterTarget } from './cluster-target.js';
import { expectSameEnd } from './expect-same-end.js';

describe('the site operator on a real API server', () => {
  resourceChainSuite(clusterTarget);
});

const sample = { count: 10, seed: 5 };

/** Replaces the name of a run's site and namespace in the compared state, since each run has its own. */
const sharedName = 'the-site';
const ownName = /spec-[0-9a-f]{8}/g;

/**
 * Normalizes the hash of applied objects, which depends on the owner's UID, and the token, which depends on the
 * owner's name.
 */
function comparable(object: UnstructuredObject): UnstructuredObject {
  const { annotations, managedFields = [] } = object.metadata;
  const metadata = {
    ...object.metadata,
    annotations: omit(annotations, 'operator-builder.io/applied-hash') as Record<string, string>,
    managedFields: managedFields.filter(({ operation }) => operation === 'Apply'),
  };
  const data = object.kind === 'Secret' ? {} : { data: object['data'] };
  return cloneDeepWith({ ...omit(object, 'data'), ...data, metadata }, (value: unknown) =>
    typeof value === 'string' ? value.replaceAll(ownName, sharedName) : undefined,
  ) as UnstructuredObject;
}

/**
 * Returns the administrator's client, whose lists contain only those cluster-scoped objects that belong to one run.
 */
function lookingAt(admin: Client, name: string): Client {
  return {
    ...forwarding(admin),
    list: async (type, given) => {
      if (type.kind !== 'Site' && type.kind !== 'Namespace') return admin.list(type, given);
      const found = await admin.list(type, { ...given, fieldSelector: `metadata.name=${name}` });
      const items = found.items.map((item) => ({
        ...item,
        metadata: { ...item.metadata, name: sharedName },
      }));
      return { ...found, items };
    },
  };
}

/** Excludes the ConfigMap that the cluster creates in each namespace some time later. */
function withRootCertificate(step: CrashStep<CrashCluster>): CrashStep<CrashCluster> {
  if (step.name === 'delete') return step;
  return {
    ...step,
    until: async (stage) => {
      const { client, cluster } = stage;
      const key = { namespace: cluster.namespace, name: 'kube-root-ca.crt' };
      const isThere = (await getIfExists(client, ConfigMap, key)) !== undefined;
      return isThere && (await step.until(stage)) === true;
    },
  };
}

describe('the site operator on a real API server, killed at some of its requests', function () {
  this.timeout(240_000);
  let target: BuilderTarget;
  let operator: Client;

  before(async () => {
    target = await clusterTarget();
    operator = (await target.operator()).client;
    await ensureCrd(target.admin, Site.crd);
  });
  after(() => target.close());

  /** Returns a name for each run's site and future namespace. */
  function newName(): Promise<CrashCluster> {
    const name = `spec-${systemRandom.uuid().slice(0, 8)}`;
    const observer = lookingAt(target.admin, name);
    return Promise.resolve({
      ...{ clock: target.clock, namespace: name },
      client: ({ user } = {}) => (user === 'operator' ? operator : observer),
      stop: () => cleanUp(target.admin, name),
    });
  }

  it('converges to the state that it reaches without a kill', async () => {
    const scenario: CrashScenario<CrashCluster> = siteScenario();
    const onCluster: CrashScenario<CrashCluster> = {
      ...scenario,
      ...{ comparable, timeoutMs: 60_000, cluster: newName },
      steps: scenario.steps.map(withRootCertificate),
    };
    await expectSameEnd(onCluster, sample);
  });
});

/** Deletes objects of a run that ended before its site was deleted. */
async function cleanUp(admin: Client, name: string): Promise<void> {
  if ((await getIfExists(admin, Site, { name })) !== undefined) {
    const body = { metadata: { finalizers: null } };
    await admin.patch(Site, { name }, { type: 'merge', body });
    await admin.delete(Site, { name });
  }
  if ((await getIfExists(admin, Namespace, { name })) !== undefined) {
    await admin.delete(Namespace, { name });
  }
}
