import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { DeployedTarget } from './deployed-target.js';

/** An embedded cluster with RBAC, over HTTP. */
export async function embeddedDeployedTarget(): Promise<DeployedTarget> {
  const services: Record<string, string> = {};
  const cluster = await EmbeddedCluster.start({
    ...{ simulateWorkloads: true, rbac: true, tls: false, port: 0, services },
  });
  return {
    ...{ admin: cluster.client(), url: cluster.url, caData: undefined },
    requestsOf: (user) =>
      Promise.resolve(cluster.requests.entries.filter((entry) => entry.user === user)),
    leadHere: ({ name, namespace = '' }, port) => {
      services[`${namespace}/${name}`] = `https://127.0.0.1:${port}`;
      return Promise.resolve();
    },
    close: () => cluster.stop(),
  };
}
