import { clientFromKubeConfig } from '../../lib/client/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { shardingSuite } from '../manager/sharding/suite/sharding-suite.js';
import type { ShardingTarget } from '../manager/sharding/suite/sharding-suite.js';
import { writeVerbs } from './control-plane/audit-entry.js';
import { sharedControlPlane } from './control-plane/shared.js';

async function clusterTarget(): Promise<ShardingTarget> {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  const run = systemRandom.uuid();
  const userOf = (name: string): string => `shards-${name}-${run}`;
  const since = await plane.auditLog.mark();
  return {
    admin,
    user: async (name) => (await plane.user(userOf(name))).kubeConfigPath,
    writesOf: async (name, namespace) => {
      const query = {
        since,
        user: userOf(name),
        namespace,
        resource: 'configmaps',
        verbs: writeVerbs,
      };
      const entries = await plane.auditLog.read(query);
      return entries.filter(({ code }) => code < 300).length;
    },
    close: () => admin.close(),
  };
}

describe('sharding among processes on a real API server', function () {
  this.timeout(240_000);
  shardingSuite(clusterTarget);
});
