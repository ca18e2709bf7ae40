import { EmbeddedApiServer } from '../../lib/apiserver/index.js';
import {
  createClient,
  faulty,
  forwarding,
  namespaced,
  withFieldManager,
} from '../../lib/client/index.js';
import type { Client, ConnectedClient } from '../../lib/client/index.js';
import type { Transport } from '../../lib/system/transport.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { clientContract } from './client-contract.js';

const outside = 'namespaced refuses it first';

/** What the embedded server lacks: each of these holds on a real one. */
const unfinished: Readonly<Record<string, string>> = {
  'an object that is invalid is Invalid, its fields named': 'no validation of Services yet',
  'patches in all three ways': 'no strategic merge patch yet',
  'a Scale is read, patched and updated': 'no scale yet',
  'a token of a service account is requested': 'no tokens yet',
  'a Pod is evicted': 'no evictions yet',
  'a kind is known as soon as its CRD is established': 'no CRDs yet',
  'its status is a subresource, its schema is enforced': 'no CRDs yet',
  'is applied': 'no CRDs yet',
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
  let server: EmbeddedApiServer;
  let client: ConnectedClient;

  const connect = (transportTo: (server: EmbeddedApiServer) => Promise<Transport>): void => {
    before(async () => {
      server = new EmbeddedApiServer();
      client = createClient({ transport: await transportTo(server) });
    });
    after(async () => {
      await client.close();
      await server.stop();
    });
  };

  describe('in the process of the server', () => {
    connect(async () => server.transport());
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
    connect(async () => new UndiciTransport({ server: await server.listen() }));
    clientContract({ newClient: () => client, skip: unfinished });
  });
});
