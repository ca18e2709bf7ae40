import { connect } from 'node:net';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { ConfigMap } from '../../lib/object/kinds.js';
import type { Namespace } from '../../lib/object/kinds.js';
import { cacheFaults } from './cache-faults.js';
import type { FaultTarget } from './fault-target.js';

const logLength = 60;

async function embeddedTarget(): Promise<FaultTarget> {
  const cluster = await EmbeddedCluster.start({ port: 0, logLength });
  const admin = cluster.client();
  const port = Number(new URL(cluster.url).port);
  let namespaces = 0;
  const namespace = async (): Promise<string> => {
    const name = `faults-${++namespaces}`;
    await admin.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return name;
  };
  return {
    admin,
    openUpstream: () => connect(port, '127.0.0.1'),
    token: undefined,
    namespace,
    forget: async () => {
      const metadata = { name: 'noise', namespace: await namespace() };
      for (let n = 0; n <= logLength; n++) {
        const noise: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
        await admin.apply({ ...noise, data: { n: String(n) } }, { fieldManager: 'spec' });
      }
    },
    close: () => cluster.stop(),
  };
}

describe('A cache behind a faulty network, on the embedded server', () => {
  cacheFaults(embeddedTarget);
});
