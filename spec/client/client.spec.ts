import { createClient, faulty, forwarding } from '../../lib/client/index.js';
import type { Client, ConnectedClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Transport } from '../../lib/system/transport.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { clientContract } from './client-contract.js';

/** Behaviours that the embedded server lacks; all hold on a real one. */
const unfinished: Readonly<Record<string, string>> = {
  'a token of a service account can be requested': 'no tokens yet',
  'a Pod can be evicted': 'no evictions yet',
};

/** A behaviour that wrappers do not affect. It is skipped for them, because its spec takes a second. */
const slow = { 'a watch ends when its timeout expires': 'takes a second' };

const wrappers: Readonly<Record<string, (client: Client) => Client>> = {
  forwarding: (client) => forwarding(client),
  'faulty without rules': (client) => faulty(client, { rules: [] }),
};

describe('Client', () => {
  let cluster: EmbeddedCluster;
  let client: ConnectedClient;

  const connect = (transportTo: (cluster: EmbeddedCluster) => Promise<Transport>): void => {
    before(async () => {
      cluster = await EmbeddedCluster.start();
      client = createClient({ transport: await transportTo(cluster) });
    });
    after(async () => {
      await client.close();
      await cluster.stop();
    });
  };

  describe('connected to a server in the same process', () => {
    connect(async () => cluster.server.transport());
    clientContract({ newClient: () => client, skip: unfinished });

    for (const [name, wrap] of Object.entries(wrappers)) {
      describe(`wrapped in ${name}`, () => {
        clientContract({ newClient: () => wrap(client), skip: { ...unfinished, ...slow } });
      });
    }
  });

  describe('connected to a server over HTTP', () => {
    connect(async () => new UndiciTransport({ server: await cluster.listen() }));
    clientContract({ newClient: () => client, skip: unfinished });
  });
});
