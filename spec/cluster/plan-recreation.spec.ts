import { clientFromKubeConfig, ensureCrd } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { Namespace } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { Press, recreationSuite } from '../plan/recreation-suite.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('Plans of objects that a real API server deletes and creates again', () => {
  const namespace = `press-${systemRandom.uuid().slice(0, 8)}`;
  let client: ConnectedClient;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    client = await clientFromKubeConfig({ path: kubeConfigPath });
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await ensureCrd(client, Press.crd);
  });

  after(async () => {
    await client.delete(Namespace, { name: namespace });
    await client.close();
  });

  recreationSuite(() => ({ client, namespace }));
});
