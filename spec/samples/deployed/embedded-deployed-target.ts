import { EmbeddedCluster } from '../../../lib/embedded/index.js';
import type { DeployedTarget } from './deployed-target.js';

/** An embedded cluster with RBAC, over HTTP. */
export async function embeddedDeployedTarget(): Promise<DeployedTarget> {
  const cluster = await EmbeddedCluster.start({ simulateWorkloads: true, rbac: true, port: 0 });
  return {
    ...{ admin: cluster.client(), url: cluster.url, caData: undefined },
    requestsOf: (user) =>
      Promise.resolve(cluster.requests.entries.filter((entry) => entry.user === user)),
    close: () => cluster.stop(),
  };
}
