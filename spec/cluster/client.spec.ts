import { clientFromKubeConfig, faulty, forwarding } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { clientContract } from '../client/client-contract.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('the client on a real API server', () => {
  let client: ConnectedClient;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    client = await clientFromKubeConfig({ path: kubeConfigPath });
  });

  after(() => client.close());

  clientContract({ newClient: () => client });

  describe('wrapped in faulty without rules and forwarding', () => {
    clientContract({ newClient: () => faulty(forwarding(client), { rules: [] }) });
  });
});
