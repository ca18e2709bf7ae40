import { EmbeddedCluster } from '../../../lib/embedded/index.js';
import { deployedSuite } from './suite/deployed-suite.js';
import type { DeployedTarget } from './suite/deployed-suite.js';

describe('The deployed Parseable operator on the embedded server', () => {
  deployedSuite(embeddedTarget);
});

async function embeddedTarget(): Promise<DeployedTarget> {
  const cluster = await EmbeddedCluster.start({ simulateWorkloads: true, rbac: true, port: 0 });
  return {
    ...{ admin: cluster.client(), url: cluster.url, caData: undefined },
    requestsOf: (user) =>
      Promise.resolve(cluster.requests.entries.filter((entry) => entry.user === user)),
    close: () => cluster.stop(),
  };
}
