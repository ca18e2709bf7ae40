import { clientFromKubeConfig } from '../../lib/client/index.js';
import { deployedSuite } from '../samples/parseable/suite/deployed-suite.js';
import type { DeployedTarget } from '../samples/parseable/suite/deployed-suite.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('The deployed Parseable operator on a real API server', () => {
  deployedSuite(realTarget);
});

async function realTarget(): Promise<DeployedTarget> {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  return {
    ...{ admin, url: plane.url, caData: plane.caData },
    requestsOf: (user) => plane.auditLog.read({ user }),
    close: () => admin.close(),
  };
}
