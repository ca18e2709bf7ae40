import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Cache, cachedClient } from '../../lib/cache/index.js';
import { createClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ConfigMap, Secret } from '../../lib/object/kinds.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing } from './fake-server.js';

/** Returns the resources that keep the process alive, except the test runner's pipes. */
function resources(): string[] {
  const ours = ['Timeout', 'TCPSocketWrap', 'TLSWrap', 'GetAddrInfoReqWrap'];
  return process.getActiveResourcesInfo().filter((name) => ours.includes(name));
}

function configMap(n: number): ConfigMap {
  const metadata = { name: `c-${n}`, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { n: String(n) } };
}

describe('many starts and stops', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start();
    for (let n = 0; n < 10; n++) await cluster.client().create(configMap(n));
  });

  after(() => cluster.stop());

  it('leave no timer, listener or watch of a cache, at whatever moment the cache stops', async () => {
    const client = cluster.client();
    const before = resources();
    const { signal } = new AbortController();
    for (let n = 0; n < 1_000; n++) {
      const cache = new Cache({ client });
      cache.informer(ConfigMap).addHandler(() => undefined);
      cache.start();
      // Stopped before, during and after the initial list.
      if (n % 3 === 1) await new Promise(setImmediate);
      if (n % 3 === 2) {
        await cache.waitForSync(signal);
        await cachedClient(client, cache).list(ConfigMap, { signal });
      }
      await cache.stop();
    }
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    // One more resource may be a timer of the cluster's controllers.
    expect(resources().length).to.be.at.most(before.length + 1);
    await client.close();
  });

  it('leave no socket or timer of a client that uses sockets', async () => {
    const url = await cluster.listen();
    const server = resources();
    for (let n = 0; n < 30; n++) {
      const client = createClient({ transport: new UndiciTransport({ server: url }) });
      const cache = new Cache({ client });
      cache.informer(ConfigMap);
      cache.informer(Secret);
      cache.start();
      if (n % 2 === 1) await cache.waitForSync();
      await cache.stop();
      await client.close();
    }
    const left = async (): Promise<number> => {
      // The server closes its ends of the connections a little later.
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      return resources().length - server.length;
    };
    let open = await left();
    while (open > 0) open = await left();
    expect(open).to.be.at.most(0);
  });

  it('do not let the heap grow while objects are created and deleted', async () => {
    const client = cluster.client();
    const cache = new Cache({ client });
    const informer = cache.informer(ConfigMap);
    const cached = cachedClient(client, cache);
    cache.start();
    await cache.waitForSync();
    const churn = async (rounds: number): Promise<void> => {
      for (let n = 0; n < rounds; n++) {
        const metadata = { name: `churn-${n}`, namespace: 'default' };
        await cached.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
        await cached.delete(ConfigMap, metadata);
      }
    };
    await churn(150);
    const { objects } = informer.status();
    await churn(150);
    while (cache.peek(ConfigMap)?.overlay.size !== 0) await new Promise(setImmediate);
    expect(informer.status().objects).to.be.at.most(objects);
    await cache.stop();
    await client.close();
  });
});

describe('a cache whose objects were deleted', () => {
  for (const streamingLists of [true, false]) {
    const how = streamingLists ? 'a streaming list' : 'pages';
    it(`keeps in memory none of the objects that it has read from ${how}`, async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const [server, clock] = [new FakeServer(), new VirtualClock()];
      const names = Array.from({ length: 100 }, (_, n) => `thing-${n}`);
      for (const name of names) server.put(name);
      const cache = new Cache({ client: server.client(), clock, streamingLists });
      const seen: WeakRef<Thing>[] = [];
      cache.informer(Thing).addHandler(({ type, object }) => {
        if (type === 'added') seen.push(new WeakRef(object));
      });
      cache.start();
      await clock.advance(0);
      for (const name of names) server.remove(name);
      await clock.advance(1_000);
      collect();
      expect(seen).to.have.length(names.length);
      // An unfinished stack frame may still refer to the last object.
      expect(seen.filter((each) => each.deref() !== undefined)).to.have.length.below(3);
      await cache.stop();
    });
  }
});
