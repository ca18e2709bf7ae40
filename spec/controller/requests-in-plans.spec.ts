import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Pool, ProxyAgent, fetch as kept, request as undiciRequest } from 'undici';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { createClient, dryRun } from '../../lib/client/index.js';
import type { Client, ConnectedClient } from '../../lib/client/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import type { ControllerOptions, Reconciler } from '../../lib/controller/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { UndiciTransport } from '../../lib/system/index.js';
import { silentLogger } from '../../lib/system/logger.js';
import type { Logger } from '../../lib/system/logger.js';

const run = promisify(execFile);

describe('Requests that a handler sends during a plan', () => {
  const key = { namespace: 'default', name: 'a' };
  let cluster: EmbeddedCluster;
  let client: ConnectedClient;
  let outside: Server;
  let origin: string;
  let received: string[];
  /** Emits the responses to requests of `/slow`, which wait. */
  const slow = new EventEmitter<{ received: [ServerResponse] }>();

  before(async () => {
    cluster = await EmbeddedCluster.start();
    client = createClient({ transport: new UndiciTransport({ server: await cluster.listen() }) });
    outside = createServer((incoming, response) => {
      received.push(incoming.method ?? '');
      if (incoming.url === '/slow') slow.emit('received', response);
      else response.end('ok');
    });
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  });

  beforeEach(() => {
    received = [];
  });

  after(async () => {
    await client.close();
    outside.closeAllConnections();
    outside.close();
    await cluster.stop();
  });

  const plan = (reconciler: Reconciler, options: ControllerOptions = {}): Promise<unknown> =>
    controllerFor(ConfigMap)
      .withOptions(options)
      .complete(reconciler)
      .reconcileOnce({ key, client: dryRun(client), planning: true });

  const sending = (send: () => Promise<unknown>): Reconciler => {
    return async () => {
      await send();
      return done();
    };
  };

  const post = { method: 'POST', body: 'x' } as const;

  const throughHttp = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const sent = request(`${origin}/orders?token=secret`, post, (response) => {
        response.resume().on('end', resolve);
      });
      sent.on('error', reject).end('x');
    });

  const senders = {
    fetch: () => fetch(`${origin}/orders?token=secret`, post),
    'fetch with a Request': () => fetch(new Request(`${origin}/orders`, post)),
    'a fetch that was kept before': () => kept(`${origin}/orders?token=secret`, post),
    undici: () => undiciRequest(`${origin}/orders?token=secret`, post),
    'node:http': throughHttp,
  };

  for (const [name, send] of Object.entries(senders)) {
    it(`are refused before a byte is sent, unless they are reads: ${name}`, async () => {
      const error = await caught(plan(sending(send)));
      expect(error).to.include({
        code: 'OutsideWrite',
        message:
          `reconcile of default/a: POST ${origin} was not sent, ` +
          'since a plan must change nothing outside of the cluster; ' +
          "return before the call if planning is true, or set requestsInPlans to 'all'",
      });
      expect(received).to.deep.equal([]);
    });

    it(`are sent if they are reads, and the connection stays usable: ${name}`, async () => {
      await caught(plan(sending(send)));
      await plan(sending(async () => (await fetch(`${origin}/stock`)).text()));
      await send();
      await caught(plan(sending(send)));
      expect(received).to.deep.equal(['GET', 'POST']);
    });
  }

  for (const [name, send] of Object.entries(senders)) {
    it(`end the plan of a handler that repeats them without a pause: ${name}`, async () => {
      let count = 0;
      let isOver = false;
      const error = await caught(
        plan(async () => {
          while (!isOver) {
            count++;
            await send().catch(() => undefined);
          }
          return done();
        }),
      );
      expect(error).to.include({ code: 'OutsideWrite' });
      expect(error)
        .to.have.property('message')
        .that.matches(/; 100 requests were refused, and the handler sends more$/);
      // In later turns of the event loop, the handler sends no more.
      await setImmediate();
      isOver = true;
      expect({ count, received }).to.deep.equal({ count: 100, received: [] });
    });
  }

  it('fail with the TypeError of fetch if their URL is invalid', async () => {
    const error = await caught(plan(sending(() => fetch('/orders', post))));
    expect(error).to.be.instanceOf(TypeError).and.not.have.property('code');
  });

  it('fail the plan but do not end the process if the handler does not await them', async () => {
    const program = join(import.meta.dirname, 'unawaited-requests.ts');
    const { stdout } = await run(process.execPath, ['--import=tsx', program]);
    expect(stdout.split('\n')).to.deep.equal([
      'fetch: OutsideWrite because of fetch failed',
      'kept fetch: OutsideWrite because of fetch failed',
      'another error: OutsideWrite because of the order failed',
      'node:http: OutsideWrite because of POST',
      'another rejection: ends the process',
      '',
    ]);
  });

  it('are dry runs if they use the client of the context', async () => {
    await plan(async (context) => {
      const made = await context.client.create(configMap('made'));
      const other = await context.client.live.create(configMap('live'));
      expect(other.metadata.uid).to.be.a('string');
      expect(made.metadata.uid).to.be.a('string');
      return done();
    });
    const { items } = await client.list(ConfigMap, { namespace: 'default' });
    expect(items).to.deep.equal([]);
  });

  it('are refused if they write to the cluster with another client', async () => {
    const error = await caught(plan(sending(() => client.create(configMap('other')))));
    expect(error).to.include({ code: 'OutsideWrite' });
    const { items } = await client.list(ConfigMap, { namespace: 'default' });
    expect(items).to.deep.equal([]);
  });

  it("are all sent with requestsInPlans: 'all'", async () => {
    await plan(sending(senders.fetch), { requestsInPlans: 'all' });
    expect(received).to.deep.equal(['POST']);
  });

  it('do not fail the plan but cause a warning if the handler catches their errors and completes', async () => {
    const warnings: string[] = [];
    const warn = (message: string): unknown => warnings.push(message);
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    const controller = controllerFor(ConfigMap).complete(
      sending(() => senders.fetch().catch(() => undefined)),
    );
    await controller.reconcileOnce({ key, client: dryRun(client), planning: true, logger });
    expect(warnings).to.deep.equal(['the handler ignored a refused request']);
  });

  it('are sent through a proxy if they are reads', async () => {
    const proxy = createServer().on('connect', (incoming: IncomingMessage, socket: Socket) => {
      const [host = '', port] = (incoming.url ?? '').split(':');
      const target = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        target.pipe(socket).pipe(target);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const uri = `http://127.0.0.1:${port}`;
    const dispatcher = new ProxyAgent({ uri, proxyTunnel: true });
    try {
      await plan(sending(async () => (await undiciRequest(origin, { dispatcher })).body.text()));
      const error = await caught(
        plan(sending(() => undiciRequest(origin, { ...post, dispatcher }))),
      );
      expect(error).to.include({ code: 'OutsideWrite' });
    } finally {
      await dispatcher.destroy();
      proxy.close();
    }
    expect(received).to.deep.equal(['GET']);
  });

  it('are also refused if the handler does not await them', async () => {
    const sent: Promise<unknown>[] = [];
    await plan(async () => {
      sent.push(caught(senders.fetch()), caught(setImmediate().then(senders.undici)));
      return done();
    });
    await Promise.all(sent);
    expect(received).to.deep.equal([]);
  });

  it('are named in the error if the handler repeats them until its time-out', async () => {
    const reconciler: Reconciler = async ({ signal }) => {
      await senders.fetch().catch(() => undefined);
      await once(signal, 'abort');
      await senders.fetch().catch(() => undefined);
      return done();
    };
    const error = await caught(plan(reconciler, { reconcileTimeoutMs: 50 }));
    expect(error).to.include({ code: 'OutsideWrite' });
    expect(error).to.have.nested.property('cause.code', 'Timeout');
    expect(received).to.deep.equal([]);
  });

  it('do not change how other requests of the process are sent', async () => {
    const begin = new AbortController();
    const elsewhere = once(begin.signal, 'abort').then(() => senders.fetch());
    await plan(async () => {
      begin.abort();
      await elsewhere;
      return done();
    });
    expect(received).to.deep.equal(['POST']);
  });

  /** Ways to send requests over a single connection. Further requests wait for it. */
  const limited = {
    'an API client': () => {
      const transport = new UndiciTransport({ server: origin, maxConnections: 1 });
      const send = async (method: 'GET' | 'POST', path: string): Promise<void> => {
        const { body } = await transport.request({ method, path, headers: {} });
        for await (const chunk of body) expect(String.fromCharCode(...chunk)).to.equal('ok');
      };
      return { send, close: () => transport.close() };
    },
    'a pool of undici': () => {
      const pool = new Pool(origin, { connections: 1 });
      const send = async (method: 'GET' | 'POST', path: string): Promise<unknown> =>
        (await pool.request({ method, path })).body.text();
      return { send, close: () => pool.destroy() };
    },
  };

  for (const [name, connect] of Object.entries(limited)) {
    it(`do not change how other requests are sent that wait for the same connection: ${name}`, async () => {
      const { send, close } = connect();
      const reading = once(slow, 'received') as Promise<[ServerResponse]>;
      const planned = plan(sending(() => send('GET', '/slow')));
      const [response] = await reading;
      const written = Promise.all(Array.from({ length: 200 }, () => send('POST', '/')));
      await setImmediate();
      response.end('ok');
      await Promise.all([planned, written]);
      await close();
      expect(received).to.have.length(201);
    });

    it(`are refused if they wait for a connection that requests outside of the plan use: ${name}`, async () => {
      const { send, close } = connect();
      const reading = once(slow, 'received') as Promise<[ServerResponse]>;
      const read = send('GET', '/slow');
      const [response] = await reading;
      const refused = caught(plan(sending(() => send('POST', '/'))));
      await setImmediate();
      response.end('ok');
      await read;
      expect(await refused).to.include({ code: 'OutsideWrite' });
      await close();
      expect(received).to.deep.equal(['GET']);
    });
  }

  it('fail a second later from the 100th refusal on, if it is unknown which handler sends them', async () => {
    let failed = 0;
    const refused = new EventEmitter();
    const reconciler = async () => {
      for (; failed < 100; failed++) await caught(kept(origin, post));
      refused.emit('all');
      return done();
    };
    const all = once(refused, 'all');
    expect(await caught(plan(reconciler))).to.include({ code: 'OutsideWrite' });
    expect(failed).to.equal(99);
    await all;
    expect(received).to.deep.equal([]);
  });

  it('are not refused if the client of the context sends them to read pages of a list', async () => {
    const client = {
      async *pages() {
        yield await fetch(origin, post).then((response) => response.text());
      },
    } as unknown as Client;
    const controller = controllerFor(ConfigMap).complete(async (context) => {
      for await (const page of context.client.pages(ConfigMap)) expect(page).to.equal('ok');
      return done();
    });
    await controller.reconcileOnce({ key, client, planning: true });
    expect(received).to.deep.equal(['POST']);
  });

  it('are also refused while a handler continues after the end of its plan', async () => {
    const stop = new AbortController();
    const [goOn, ended] = [new EventEmitter(), new EventEmitter()];
    const controller = controllerFor(ConfigMap).complete(async () => {
      stop.abort();
      await once(goOn, 'now');
      await caught(senders.fetch());
      ended.emit('now');
      return done();
    });
    const reconcile = { key, client: dryRun(client), planning: true, signal: stop.signal };
    expect(await caught(controller.reconcileOnce(reconcile))).to.include({ code: 'Aborted' });
    const refused = once(ended, 'now');
    goOn.emit('now');
    await refused;
    expect(received).to.deep.equal([]);
  });

  it('are sent when the handler runs outside of a plan', async () => {
    const controller = controllerFor(ConfigMap).complete(sending(senders.fetch));
    await controller.reconcileOnce({ key, client });
    expect(received).to.deep.equal(['POST']);
  });

  it('require a known value of the option requestsInPlans', () => {
    const options = { requestsInPlans: 'none' } as unknown as ControllerOptions;
    expect(() => controllerFor(ConfigMap).withOptions(options).complete(sending(throughHttp)))
      .to.throw("controller configmap: requestsInPlans \"none\": want 'reads' or 'all'")
      .with.property('code', 'InvalidOption');
  });
});

function configMap(name: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
}

async function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it should be refused'),
    (error: unknown) => error,
  );
}
