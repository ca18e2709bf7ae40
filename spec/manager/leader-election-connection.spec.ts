import { expect } from 'chai';
import { anonymous, createClient } from '../../lib/client/index.js';
import { LeaderElector } from '../../lib/manager/leader-election.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { startStubServer } from '../system/stub-server.js';
import type { StubHandler } from '../system/stub-server.js';

/** Returns a handler that stores one Lease and never responds to other requests. */
function leaseServer(): StubHandler {
  let stored: object | undefined;
  let version = 0;
  return ({ method, url, body }, response) => {
    if (!url.includes('/leases')) return;
    response.setHeader('content-type', 'application/json');
    if (method !== 'GET') {
      const lease = JSON.parse(body) as { readonly metadata: object };
      stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++version) } };
    }
    const missing = { kind: 'Status', apiVersion: 'v1', reason: 'NotFound', code: 404 };
    response.writeHead(stored === undefined ? 404 : 200).end(JSON.stringify(stored ?? missing));
  };
}

describe('The connection of leader election', () => {
  it('still renews the Lease while other requests hold every connection and use up the rate limit', async () => {
    const server = await startStubServer(leaseServer());
    const transport = new UndiciTransport({ server: server.url, maxConnections: 2 });
    const rateLimit = { qps: 0.01, burst: 3 };
    const client = createClient({ transport, credentials: anonymous, rateLimit });
    const stop = new AbortController();
    const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 50 };
    const who = { identity: 'a', namespace: 'ns', name: 'lease' };
    const elector = new LeaderElector({ client, ...who, ...times });
    const { signal } = stop;
    const key = { namespace: 'ns', name: 'a' };
    const endless = [1, 2, 3, 4, 5].map(() => client.get(ConfigMap, key, { signal }).catch(String));
    await server.until(() => server.requests.length >= 2);
    const running = elector.run({}, signal);
    await server.until(() => server.requests.filter(({ method }) => method === 'PUT').length >= 3);
    expect(elector.isLeader).to.equal(true);
    stop.abort();
    await Promise.all([running, ...endless]);
    await client.close();
    await server.close();
  });
});
