import { connect } from 'node:tls';
import { expect } from 'chai';
import { bearerToken, clientFromKubeConfig, createClient } from '../../lib/client/index.js';
import { missingAccess } from '../../lib/manager/index.js';
import type { RequiredAccess } from '../../lib/manager/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { cachePermissions } from '../cache/permissions.js';
import { FaultProxy } from '../faults/fault-proxy.js';
import { grant } from '../manager/grant.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('the permissions that a cache needs on a real API server', () => {
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

describe('missingAccess on a real API server', () => {
  it('reviews access to URL paths, also to those with a * at the end', async () => {
    const plane = await sharedControlPlane();
    const { name, kubeConfigPath: path } = await plane.user(`reader-${systemRandom.uuid()}`, []);
    const client = await clientFromKubeConfig({ path });
    const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    const required = [
      { nonResourceURLs: ['/metrics', '/debug/*'], verbs: ['get'] },
      { nonResourceURLs: ['/logs/'], verbs: ['get', 'post'] },
    ] as const satisfies readonly RequiredAccess[];
    const missing = async (): Promise<readonly string[]> =>
      (await missingAccess(client, required)).map(({ verb, resource }) => `${verb} ${resource}`);
    expect(await missing()).to.deep.equal([
      ...['get /metrics', 'get /debug/*', 'get /logs/', 'post /logs/'],
    ]);
    await grant(admin, [{ nonResourceURLs: ['/logs/', '/debug/*'], verbs: ['get'] }], name);
    // A role takes effect some time later, because the authorizer of the server receives it by a watch.
    await eventually(async () =>
      expect(await missing()).to.deep.equal(['get /metrics', 'post /logs/']),
    );
    await grant(admin, required, name);
    await eventually(async () => expect(await missing()).to.deep.equal([]));
    await Promise.all([client.close(), admin.close()]);
  });
});
