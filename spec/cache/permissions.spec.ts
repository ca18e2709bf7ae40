import { connect } from 'node:net';
import { bearerToken, createClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { FaultProxy } from '../faults/fault-proxy.js';
import { cachePermissions } from './permissions.js';

describe('permissions of a cache on the embedded server', () => {
  cachePermissions(async () => {
    const users = { secret: 'reader' };
    const cluster = await EmbeddedCluster.start({ rbac: true, tls: false, port: 0, users });
    const port = Number(new URL(cluster.url).port);
    const proxy = await FaultProxy.start(() => connect(port, '127.0.0.1'));
    const transport = new UndiciTransport({ server: proxy.url });
    const client = createClient({ transport, credentials: bearerToken('secret') });
    return {
      ...{ admin: cluster.client(), user: 'reader', client },
      endWatches: () => proxy.reset(),
      close: async () => {
        await client.close();
        await proxy.close();
        await cluster.stop();
      },
    };
  });
});
