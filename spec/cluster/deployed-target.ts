import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import type { DeployedTarget } from '../samples/deployed/deployed-target.js';
import { sharedControlPlane } from './control-plane/shared.js';

/** The real control plane as a deployment target. */
export async function realDeployedTarget(): Promise<DeployedTarget> {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  return {
    ...{ admin, url: plane.url, caData: plane.caData },
    requestsOf: (user) => plane.auditLog.read({ user }),
    leadHere: async ({ name, namespace = '' }, port) => {
      const metadata = { name, namespace };
      const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
      const service = { apiVersion: 'v1', kind: 'Service', metadata, spec };
      await admin.apply<UnstructuredObject>(service, { fieldManager: 'spec', force: true });
    },
    close: () => admin.close(),
  };
}
