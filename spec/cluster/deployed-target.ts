import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { DeployedTarget } from '../samples/deployed/deployed-target.js';
import { sharedControlPlane } from './control-plane/shared.js';

/** The real control plane, as one deploys to it. */
export async function realDeployedTarget(): Promise<DeployedTarget> {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  return {
    ...{ admin, url: plane.url, caData: plane.caData },
    requestsOf: (user) => plane.auditLog.read({ user }),
    close: () => admin.close(),
  };
}
