import { connect } from 'node:tls';
import { bearerToken, clientFromKubeConfig, createClient } from '../../lib/client/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { cachePermissions } from '../cache/permissions.js';
import { FaultProxy } from '../faults/fault-proxy.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('permissions of a cache on a real API server', () => {
  cachePermissions(async () => {
    const plane = await sharedControlPlane();
    const { name: user, token } = await plane.user(`reader-${systemRandom.uuid()}`, ['readers']);
    const { hostname: host, port } = new URL(plane.url);
    const ca = Buffer.from(plane.caData, 'base64');
    const proxy = await FaultProxy.start(() => connect({ host, port: Number(port), ca }));
    const transport = new UndiciTransport({ server: proxy.url });
    const client = createClient({ transport, credentials: bearerToken(token) });
    const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    return {
      ...{ admin, user, client },
      endWatches: () => proxy.reset(),
      close: async () => {
        await Promise.all([client.close(), admin.close(), proxy.close()]);
      },
    };
  });
});
