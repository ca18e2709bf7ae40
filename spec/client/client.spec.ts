import {
  createClient,
  faulty,
  forwarding,
  namespaced,
  withFieldManager,
} from '../../lib/client/index.js';
import type { Client, ConnectedClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/embedded/index.js';
import type { Transport } from '../../lib/system/transport.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { clientContract } from './client-contract.js';

const outside = 'namespaced refuses it first';

/** What the embedded server lacks: each of these holds on a real one. */
const unfinished: Readonly<Record<string, string>> = {
  'a token of a service account is requested': 'no tokens yet',
  'a Pod is evicted': 'no evictions yet',
};

/** A wrapper adds nothing to it, and it takes a second each time. */
const slow = { 'a watch ends when its time is over': 'takes a second' };

const wrappers: Readonly<Record<string, (client: Client, namespace: string) => Client>> = {
  forwarding: (client) => forwarding(client),
  namespaced: (client, namespace) => namespaced(client, namespace),
  withFieldManager: (client) => withFieldManager(client, 'contract'),
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

  describe('in the process of the server', () => {
    connect(async () => cluster.server.transport());
    clientContract({ newClient: () => client, skip: unfinished });

    for (const [name, wrap] of Object.entries(wrappers)) {
      describe(`wrapped in ${name}`, () => {
        clientContract({
          newClient: (namespace) => wrap(client, namespace),
          admin: () => client,
          skip: {
            ...unfinished,
            ...slow,
            ...(name === 'namespaced' && {
              'create in a namespace that does not exist is NotFound': outside,
              'list of a namespace that does not exist is empty': outside,
            }),
          },
        });
      });
    }
  });

  describe('over HTTP', () => {
    connect(async () => new UndiciTransport({ server: await cluster.listen() }));
    clientContract({ newClient: () => client, skip: unfinished });
  });
});
