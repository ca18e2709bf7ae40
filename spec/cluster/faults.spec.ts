import { connect } from 'node:tls';
import { clientFromKubeConfig, waitFor } from '../../lib/client/index.js';
import type { Namespace } from '../../lib/object/kinds.js';
import { cacheFaults } from '../faults/cache-faults.js';
import type { FaultTarget } from '../faults/fault-target.js';
import { sharedControlPlane } from './control-plane/shared.js';

async function clusterTarget(): Promise<FaultTarget> {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  const { hostname: host, port } = new URL(plane.url);
  const ca = Buffer.from(plane.caData, 'base64');
  return {
    admin,
    openUpstream: () => connect({ host, port: Number(port), ca }),
    token: plane.token,
    namespace: async () => {
      const metadata = { generateName: 'faults-' };
      const made = await admin.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata });
      const namespace = made.metadata.name ?? '';
      // Waits for the ConfigMap that the cluster creates in each namespace. Later it would change the compared state.
      const certificate = { apiVersion: 'v1', kind: 'ConfigMap' };
      const key = { namespace, name: 'kube-root-ca.crt' };
      await waitFor(admin, { ...certificate, metadata: key }, { until: (found) => !!found });
      return namespace;
    },
    // A restarted API server has no history: its watch cache begins now.
    forget: async () => {
      await plane.processes.kill('kube-apiserver');
      await plane.processes.start('kube-apiserver');
    },
    close: () => admin.close(),
  };
}

describe('a cache behind a faulty network, on a real API server', () => {
  cacheFaults(clusterTarget);
});
