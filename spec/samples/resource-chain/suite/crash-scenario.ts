import { expect } from 'chai';
import { getIfExists } from '../../../../lib/client/index.js';
import { ConfigMap, Deployment, Namespace, Secret, Service } from '../../../../lib/object/kinds.js';
import type { CrashScenario } from '../../../../lib/testing/index.js';
import type {
  CrashCluster,
  CrashStage,
} from '../../../../lib/testing/crash-points/crash-scenario.js';
import { silentLogger } from '../../../../lib/system/logger.js';
import { siteOperator } from '../../../../samples/resource-chain/operator.js';
import { FakeRegistry } from '../../../../samples/resource-chain/registry.js';
import { Site, chainLabel } from '../../../../samples/resource-chain/site.js';
import { isSettled } from './settled.js';

const releaseMs = 2_500;

/** Name of the scenario's site: its cluster's namespace, which the scenario creates. */
function nameIn({ namespace = 'blog' }: CrashCluster): string {
  return namespace;
}

/**
 * The life of a site: created by chain v1, moved to v2, deleted. The registry is outside of the
 * operator, so that it survives each crash.
 */
export function siteScenario<C extends CrashCluster>(): CrashScenario<C> {
  const registries = new WeakMap<CrashCluster, FakeRegistry>();
  const registryOf = (cluster: CrashCluster): FakeRegistry => {
    const registry = registries.get(cluster) ?? new FakeRegistry(cluster.clock, releaseMs);
    registries.set(cluster, registry);
    return registry;
  };
  return {
    name: 'a site',
    kinds: [Site, Namespace, ConfigMap, Secret, Service, Deployment],
    operator: ({ cluster, ...stage }) =>
      siteOperator({ registry: registryOf(cluster), site: nameIn(cluster) }).run({
        ...{ ...stage, rbacPreflight: 'off', logger: silentLogger },
      }),
    invariant: async (stage) => {
      const { cluster } = stage;
      // No registration is ever leaked.
      if ((await siteOf(stage)) !== undefined) return;
      expect(registryOf(cluster).domains).to.deep.equal([]);
    },
    steps: [
      { name: 'create', change: create, until: (stage) => isAt(stage, 'v1') },
      {
        name: 'migrate',
        change: (stage) => moveTo(stage, 'v2'),
        until: (stage) => isAt(stage, 'v2'),
      },
      { name: 'delete', change: remove, until: isGone },
    ],
  };
}

async function create({ client, cluster }: CrashStage<CrashCluster>): Promise<void> {
  const name = nameIn(cluster);
  await client.create<Site>({
    apiVersion: 'sites.example.com/v1',
    kind: 'Site',
    metadata: { name, labels: { [chainLabel]: 'v1' } },
    spec: { domain: `${name}.example.com`, replicas: 1 },
  });
}

async function moveTo({ client, cluster }: CrashStage<CrashCluster>, chain: string): Promise<void> {
  const mail = chain === 'v2' ? { from: 'x@example.com', queueLimit: 5 } : null;
  const body = { metadata: { labels: { [chainLabel]: chain } }, spec: { mail } };
  await client.patch(Site, { name: nameIn(cluster) }, { type: 'merge', body });
}

async function remove({ client, cluster }: CrashStage<CrashCluster>): Promise<void> {
  await client.delete(Site, { name: nameIn(cluster) });
}

function siteOf({ client, cluster }: CrashStage<CrashCluster>): Promise<Site | undefined> {
  return getIfExists(client, Site, { name: nameIn(cluster) });
}

async function isAt(stage: CrashStage<CrashCluster>, chain: string): Promise<boolean> {
  const site = await siteOf(stage);
  return site !== undefined && isSettled(site, chain);
}

async function isGone(stage: CrashStage<CrashCluster>): Promise<boolean> {
  const { client, cluster } = stage;
  const namespace = await getIfExists(client, Namespace, { name: nameIn(cluster) });
  return namespace === undefined && (await siteOf(stage)) === undefined;
}
