import { expect } from 'chai';
import { resolveBuilderOptions } from '../../lib/builder/builder-options.js';
import { configMapLink } from '../../lib/builder/kinds/configuration.js';
import { deploymentLink } from '../../lib/builder/kinds/workloads.js';
import { readLink } from '../../lib/builder/link.js';
import type { ChainedLink, Link } from '../../lib/builder/link.js';
import { Run } from '../../lib/builder/run.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { ConfigMap } from '../../lib/object/kinds.js';
import { podSpec } from './suite/scene.js';

describe('A reconcile that changes nothing', () => {
  let cluster: EmbeddedCluster;
  before(async () => {
    cluster = await EmbeddedCluster.start();
  });
  after(() => cluster.stop());

  it('reads each object of the chain equally often, however many objects the chain has', async () => {
    const [few, many] = [await looks(4), await looks(16)];
    expect(many / 16).to.be.at.most(few / 4);
  });

  /** Counts how often the builder reads a member of an object, in a chain of `pairs` ConfigMaps and Deployments. */
  async function looks(pairs: number): Promise<number> {
    const client = cluster.client();
    const metadata = { namespace: 'default', name: `owner-${pairs}` };
    const owner = await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const settings = resolveBuilderOptions({ client, owner, controllerName: 'shop-operator' });
    let count = 0;
    const counted = (chained: ChainedLink): Link => {
      const link = readLink(chained);
      const get = (object: Link['object'], member: string): unknown => {
        count++;
        return object[member];
      };
      return { ...link, object: new Proxy(link.object, { get }) };
    };
    const links = Array.from({ length: pairs }, (_, index) => {
      const name = `web-${pairs}-${index}`;
      return [
        counted(configMapLink({ name })),
        counted(deploymentLink({ name, podSpec, rolloutOn: [name] })),
      ];
    }).flat();
    await new Run({ ...settings, rollout: 'parallel' }, links).reconcileAll();
    count = 0;
    const results = await new Run({ ...settings, rollout: 'parallel' }, links).reconcileAll();
    expect(results.every(({ operation }) => operation === 'unchanged')).to.equal(true);
    return count;
  }
});
