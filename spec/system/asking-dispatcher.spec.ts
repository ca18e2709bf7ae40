import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import type { TransportRequest, TransportResponse } from '../../lib/system/transport.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { startStubServer } from './stub-server.js';
import type { StubServer } from './stub-server.js';

const pem = (name: string): string =>
  readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8');

const write = (path: string, beforeSend?: () => void): TransportRequest => ({
  ...{ method: 'POST', path, headers: {}, body: '{}' },
  ...(beforeSend !== undefined && { beforeSend }),
});

async function read({ body }: TransportResponse): Promise<void> {
  const chunks = [];
  for await (const chunk of body) chunks.push(chunk);
}

const failureOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error as Error,
  );

const refuse = (): never => {
  throw new Error('too late');
};

describe('the check that a transport runs before it sends a request', () => {
  const open: { close(): Promise<void> }[] = [];

  const connectTo = (server: string, maxConnections = 1): UndiciTransport => {
    const transport = new UndiciTransport({ server, maxConnections, tls: { insecure: true } });
    open.push(transport);
    return transport;
  };

  const start = async (...args: Parameters<typeof startStubServer>): Promise<StubServer> => {
    const server = await startStubServer(...args);
    open.unshift(server);
    return server;
  };

  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });

  it('runs before the server receives the first byte of the request', async () => {
    const server = await start((_, response) => response.end());
    const seen: number[] = [];
    const transport = connectTo(server.url);
    await read(await transport.request(write('/', () => seen.push(server.requests.length))));
    expect([seen, server.requests.length]).to.deep.equal([[0], 1]);
  });

  it('cancels the request if it throws: nothing is sent, and the connection serves the next request', async () => {
    const server = await start((_, response) => response.end());
    const transport = connectTo(server.url);
    await read(await transport.request(write('/first')));
    expect(await failureOf(transport.request(write('/refused', refuse)))).to.match(/too late/);
    await read(await transport.request(write('/last')));
    expect(server.requests.map(({ url }) => url)).to.deep.equal(['/first', '/last']);
    expect(new Set(server.requests.map(({ socket }) => socket)).size).to.equal(1);
  });

  it("cancels the request if it aborts the request's signal", async () => {
    const server = await start((_, response) => response.end());
    const transport = connectTo(server.url);
    const attempt = new AbortController();
    const request = write('/aborted', () => attempt.abort());
    const aborted = transport.request({ ...request, signal: attempt.signal });
    expect(await failureOf(aborted)).to.have.property('code', 'Aborted');
    await read(await transport.request(write('/last')));
    expect(server.requests.map(({ url }) => url)).to.deep.equal(['/last']);
  });

  it('runs when a waiting request gets a free connection, not when the request is queued', async () => {
    let answer = (): void => undefined;
    const server = await start(({ url }, response) => {
      if (url === '/slow') answer = () => response.end();
      else response.end();
    });
    const transport = connectTo(server.url);
    const slow = transport.request(write('/slow')).then(read);
    let asked = 0;
    let allowed = true;
    const beforeSend = (): void => {
      asked += 1;
      if (!allowed) refuse();
    };
    const waiting = failureOf(transport.request(write('/waiting', beforeSend)));
    await server.until(() => server.requests.length === 1);
    expect(asked).to.equal(0);
    allowed = false;
    answer();
    expect(await waiting).to.match(/too late/);
    await slow;
    expect([asked, server.requests.length]).to.deep.equal([1, 1]);
  });

  it('runs after the TLS handshake, not before', async () => {
    const tls = { cert: pem('server.pem'), key: pem('server.key') };
    const server = await start((_, response) => response.end(), tls);
    const gate = await slowGate(server.port);
    open.unshift(gate);
    let asked = 0;
    const transport = connectTo(`https://127.0.0.1:${gate.port}`);
    const request = failureOf(
      transport.request(
        write('/', () => {
          asked += 1;
          refuse();
        }),
      ),
    );
    await gate.reached;
    expect(asked).to.equal(0);
    gate.open();
    expect(await request).to.match(/too late/);
    expect([asked, server.requests.length]).to.deep.equal([1, 0]);
  });

  it('runs again when a request is sent again on another connection', async () => {
    const server = await start(({ socket }) => socket.destroy());
    let asked = 0;
    const transport = connectTo(server.url);
    for (let attempt = 0; attempt < 2; attempt++) {
      await failureOf(transport.request(write('/', () => (asked += 1))));
    }
    expect(asked).to.equal(2);
  });
});

/** Starts a proxy to `port` that passes bytes on only after a call of `open`. */
async function slowGate(port: number) {
  const sockets: Socket[] = [];
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  let opened = false;
  const open = (): void => {
    opened = true;
    for (const socket of [...sockets]) pass(socket);
  };
  const pass = (socket: Socket): void => {
    const inner = connect(port, '127.0.0.1');
    sockets.push(inner);
    for (const one of [socket, inner]) one.on('error', () => undefined);
    socket.pipe(inner).pipe(socket);
  };
  const server = createServer((socket) => {
    sockets.push(socket);
    if (opened) pass(socket);
    else socket.once('readable', reach);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    reached,
    open,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
