import {
  clientFromKubeConfig,
  faulty,
  forwarding,
  namespaced,
  withFieldManager,
} from '../../lib/client/index.js';
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

  describe('with all wrappers', () => {
    clientContract({
      newClient: (namespace) =>
        faulty(withFieldManager(namespaced(forwarding(client), namespace), 'contract'), {
          rules: [],
        }),
      admin: () => client,
      skip: {
        'create in a missing namespace is NotFound': 'namespaced refuses it first',
        'list of a missing namespace is empty': 'namespaced refuses it first',
      },
    });
  });
});
