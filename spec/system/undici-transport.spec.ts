import { inspect } from 'node:util';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { TransportRequest, TransportResponse } from '../../lib/system/transport.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import type { UndiciTransportOptions } from '../../lib/system/undici-transport.js';
import { deferred } from '../controller/deferred.js';
import { startStubServer } from './stub-server.js';
import type { StubHandler, StubServer } from './stub-server.js';

const pem = (name: string): string =>
  readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8');

const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  ...{ method: 'GET', path, headers: {} },
  ...more,
});

async function textOf({ body }: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error,
  );

describe('UndiciTransport', () => {
  let server: StubServer;
  const transports: UndiciTransport[] = [];

  const start = async (
    handler: StubHandler,
    options: Partial<UndiciTransportOptions> = {},
  ): Promise<UndiciTransport> => {
    server = await startStubServer(handler);
    return connect({ server: server.url, ...options });
  };

  const connect = (options: UndiciTransportOptions): UndiciTransport => {
    const transport = new UndiciTransport(options);
    transports.push(transport);
    return transport;
  };

  afterEach(async () => {
    await Promise.all(transports.splice(0).map((transport) => transport.close()));
    await server.close();
  });

  for (const streaming of [false, true]) {
    describe(streaming ? 'for a stream' : 'for a request', () => {
      it('sends method, path, headers and body, and returns status, headers and body', async () => {
        const transport = await start((_, response) => {
          response.setHeader('x-one', '1').setHeader('warning', ['a', 'ß']).writeHead(201);
          response.end('grüße');
        });
        const headers = { 'content-type': 'text/plain' };
        const response = await transport.request({
          ...get('/a?b=c', { streaming }),
          ...{ method: 'POST', headers, body: 'ü' },
        });
        expect(response.status).to.equal(201);
        expect(response.headers).to.include({ 'x-one': '1', warning: 'a, ß' });
        expect(await textOf(response)).to.equal('grüße');
        const [seen] = server.requests;
        expect(seen).to.include({ method: 'POST', url: '/a?b=c', body: 'ü' });
        expect(seen?.headers).to.include({ 'content-type': 'text/plain', 'content-length': '2' });
        expect(seen?.headers).to.include({
          host: new URL(server.url).host,
          connection: 'keep-alive',
        });
      });

      it('ignores a response 103 Early Hints before the final response', async () => {
        const transport = await start((_, response) => {
          response.writeEarlyHints({ link: '</style.css>; rel=preload' });
          response.end('done');
        });
        expect(await textOf(await transport.request(get('/', { streaming })))).to.equal('done');
      });

      it('rejects a header that HTTP does not allow, without showing its value', async () => {
        const transport = await start((_, response) => response.end());
        const headers = { authorization: 'Bearer a\nb' };
        const error = await failureOf(transport.request(get('/', { headers, streaming })));
        expect(error).to.have.property('message').that.contains('authorization');
        expect(inspect(error, { depth: 9 })).to.not.contain('Bearer');
        expect(server.requests).to.have.length(0);
        await server.until(() => !streaming || server.sockets.size === 0);
      });

      it('fails when the connection breaks while the body is received', async () => {
        const transport = await start((_, response) => {
          response.write('first', () => response.destroy());
        });
        const response = await transport.request(get('/', { streaming }));
        expect(await failureOf(textOf(response))).to.include({
          ...{ code: 'ConnectionFailed', requestSent: true },
        });
      });

      it('throws ConnectionFailed with requestSent false if no server listens, and names only the host of the URL', async () => {
        await start((_, response) => response.end());
        await server.close();
        const host = `127.0.0.1:${server.port}`;
        const refused = connect({ server: `http://user:secret@${host}/path` });
        expect(await failureOf(refused.request(get('/', { streaming })))).to.include({
          ...{ code: 'ConnectionFailed', requestSent: false },
          message: `GET ${host}: connect ECONNREFUSED ${host} (is the API server running?)`,
        });
      });

      it('throws Aborted at once if it is aborted while the connection is opened, and sends nothing over it', async () => {
        const opening = deferred();
        const settings = deferred<object>();
        const tls = (): Promise<object> => {
          opening.resolve();
          return settings.promise;
        };
        const transport = await start((_, response) => response.end(), { tls });
        const controller = new AbortController();
        const { signal } = controller;
        const failure = failureOf(transport.request(get('/', { streaming, signal })));
        await opening.promise;
        controller.abort();
        expect(await failure).to.have.property('code', 'Aborted');
        settings.resolve({});
        await textOf(await transport.request(get('/next')));
        expect(server.requests.map(({ url }) => url)).to.deep.equal(['/next']);
        await server.until(() => server.sockets.size === 1);
      });

      it('closes the connection of a request that is aborted before it is sent', async () => {
        const transport = await start((_, response) => response.end());
        const problem = new Error('no longer the leader');
        const beforeSend = (): void => {
          throw problem;
        };
        const error = await failureOf(transport.request(get('/', { streaming, beforeSend })));
        expect(error).to.have.property('cause', problem);
        expect(server.requests).to.have.length(0);
        await server.until(() => !streaming || server.sockets.size === 0);
      });
    });
  }

  it('keeps connections alive, so that sequential requests use at most two connections', async () => {
    const transport = await start((_, response) => response.end('ok'));
    for (let n = 0; n < 9; n++) await textOf(await transport.request(get('/')));
    // A connection is free again a moment after its response was read.
    expect(new Set(server.requests.map(({ socket }) => socket)).size).to.be.within(1, 2);
  });

  it('opens at most maxConnections connections, and lets other requests wait', async () => {
    const transport = await start((_, response) => response.end('ok'), { maxConnections: 2 });
    const requests = Array.from({ length: 20 }, () => transport.request(get('/')).then(textOf));
    await Promise.all(requests);
    expect(new Set(server.requests.map(({ socket }) => socket)).size).to.equal(2);
  });

  it('opens further connections for streams, beyond maxConnections', async () => {
    const transport = await start(
      ({ url }, response) => {
        response.write('begun');
        if (url === '/short') response.end();
      },
      { maxConnections: 1 },
    );
    const streams = ['/1', '/2', '/3'].map((path) => get(path, { streaming: true }));
    await Promise.all(streams.map((stream) => transport.request(stream)));
    expect(await textOf(await transport.request(get('/short')))).to.equal('begun');
    expect(server.sockets.size).to.equal(4);
  });

  it('yields every byte in order to a slow reader', async () => {
    const sent = Buffer.from(Array.from({ length: 2_000_000 }, (_, n) => n % 251));
    const transport = await start((_, response) => response.end(sent));
    const { body } = await transport.request(get('/', { streaming: true }));
    const read: Uint8Array[] = [];
    for await (const chunk of body) {
      read.push(chunk);
      await new Promise(setImmediate);
    }
    expect(Buffer.concat(read).equals(sent)).to.equal(true);
  });

  it('serves the next request on the connection although the body of a small response has not been read yet', async () => {
    const transport = await start(
      ({ url }, response) => {
        response.write(`${url} `);
        response.end('ended');
      },
      { maxConnections: 1 },
    );
    const first = await transport.request(get('/first'));
    expect(await textOf(await transport.request(get('/second')))).to.equal('/second ended');
    expect(server.sockets.size).to.equal(1);
    expect(await textOf(first)).to.equal('/first ended');
  });

  it('does not accept more data from the server than the client reads', async () => {
    const piece = Buffer.alloc(1024 * 1024);
    const all = 200;
    let accepted = 0;
    const transport = await start(({ url }, response) => {
      if (url !== '/large') response.end('ok');
      else {
        const send = (): void => {
          if (++accepted < all) response.write(piece, send);
          else response.end();
        };
        response.write(piece, send);
      }
    });
    const { body } = await transport.request(get('/large', { streaming: true }));
    // The server is blocked by back-pressure if it accepts no more of the body during twenty other requests.
    for (let idle = 0; idle < 20;) {
      const before = accepted;
      await textOf(await transport.request(get('/small')));
      idle = accepted === before ? idle + 1 : 0;
    }
    expect(accepted).to.be.below(all / 5);
    let length = 0;
    for await (const chunk of body) length += chunk.length;
    expect(length).to.equal(all * piece.length);
  });

  it("frees the connection when the loop over a stream's body is left", async () => {
    const transport = await start((_, response) => response.write('first'));
    const { body } = await transport.request(get('/', { streaming: true }));
    for await (const chunk of body) {
      expect(Buffer.from(chunk).toString()).to.equal('first');
      break;
    }
    await server.until(() => server.sockets.size === 0);
  });

  it('throws ConnectionFailed with requestSent true when the connection breaks before the response', async () => {
    const transport = await start(({ socket }) => socket.resetAndDestroy());
    const error = await failureOf(transport.request(get('/')));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: true });
  });

  it('throws ConnectionFailed when the connection breaks while the body is received', async () => {
    const transport = await start(({ socket }, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => socket.resetAndDestroy());
    });
    const response = await transport.request(get('/'));
    const error = await failureOf(textOf(response));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: true });
  });

  it('throws Aborted if it is aborted before the response, and closes the connection', async () => {
    const transport = await start(() => undefined);
    const controller = new AbortController();
    const failure = failureOf(transport.request(get('/', { signal: controller.signal })));
    await server.until(() => server.requests.length === 1);
    controller.abort(new Error('enough'));
    expect(await failure).to.have.property('code', 'Aborted');
    expect(await failure).to.have.nested.property('cause.message', 'enough');
    const [seen] = server.requests;
    await server.until(() => !server.sockets.has(seen!.socket));
  });

  it('throws Aborted if it is aborted while the body is received', async () => {
    const transport = await start((_, response) => response.write('first'));
    const controller = new AbortController();
    const { signal } = controller;
    const { body } = await transport.request(get('/', { streaming: true, signal }));
    const chunks = body[Symbol.asyncIterator]();
    await chunks.next();
    const failure = failureOf(chunks.next());
    controller.abort();
    expect(await failure).to.have.property('code', 'Aborted');
    await server.until(() => server.sockets.size === 0);
  });

  it('after an abort, throws Aborted instead of returning chunks that arrived before', async () => {
    const transport = await start((_, response) => {
      response.write('a'.repeat(100_000));
      response.end('b'.repeat(1_000_000));
    });
    const attempt = new AbortController();
    const { body } = await transport.request(get('/', { signal: attempt.signal }));
    const chunks = body[Symbol.asyncIterator]();
    await chunks.next();
    attempt.abort();
    expect(await failureOf(chunks.next())).to.have.property('code', 'Aborted');
  });

  it('closes the connection of a response whose body is not read to its end, and serves the next request', async () => {
    const transport = await start(
      ({ url }, response) => {
        response.write(url);
        if (url === '/next') response.end();
      },
      { maxConnections: 1 },
    );
    for await (const chunk of (await transport.request(get('/left'))).body) {
      expect(Buffer.from(chunk).toString()).to.equal('/left');
      break;
    }
    expect(await textOf(await transport.request(get('/next')))).to.equal('/next');
  });

  it('throws Aborted at once if it is aborted while it waits for a free connection', async () => {
    const transport = await start(() => undefined, { maxConnections: 1 });
    const other = new AbortController();
    const busy = failureOf(transport.request(get('/busy', { signal: other.signal })));
    await server.until(() => server.requests.length === 1);
    const controller = new AbortController();
    const waiting = failureOf(transport.request(get('/', { signal: controller.signal })));
    controller.abort();
    expect(await waiting).to.have.property('code', 'Aborted');
    other.abort();
    await busy;
    expect(server.requests.map(({ url }) => url)).to.deep.equal(['/busy']);
  });

  it('after an abort, throws Aborted even if the whole body arrived before', async () => {
    const transport = await start((_, response) => response.end('small'));
    const controller = new AbortController();
    const { body } = await transport.request(get('/', { signal: controller.signal }));
    const reason = new Error('enough');
    controller.abort(reason);
    const chunks = body[Symbol.asyncIterator]();
    expect(await failureOf(chunks.next())).to.include({ code: 'Aborted', cause: reason });
    expect(await chunks.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('sends nothing if the signal is already aborted', async () => {
    const transport = await start((_, response) => response.end());
    const error = await failureOf(transport.request(get('/', { signal: AbortSignal.abort() })));
    expect(error).to.have.property('code', 'Aborted');
    expect(server.requests).to.have.length(0);
  });

  it('leaves no listener on a signal that outlives its requests', async () => {
    const transport = await start((_, response) => response.end('ok'));
    const { signal } = new AbortController();
    const counts = { added: 0, removed: 0 };
    const spied = Object.assign(signal, {
      addEventListener: (...args: Parameters<AbortSignal['addEventListener']>) => {
        counts.added += 1;
        EventTarget.prototype.addEventListener.apply(signal, args);
      },
      removeEventListener: (...args: Parameters<AbortSignal['removeEventListener']>) => {
        counts.removed += 1;
        EventTarget.prototype.removeEventListener.apply(signal, args);
      },
    });
    await textOf(await transport.request(get('/', { signal: spied })));
    await new Promise((resolve) => setImmediate(resolve));
    expect(counts.added).to.be.above(0);
    expect(counts.removed).to.be.at.least(counts.added);
  });

  it('after reconnect, sends requests on new connections, and keeps streams open', async () => {
    const transport = await start(({ url }, response) => {
      if (url === '/stream') response.write('first');
      else response.end('ok');
    });
    const { body } = await transport.request(get('/stream', { streaming: true }));
    const chunks = body[Symbol.asyncIterator]();
    await chunks.next();
    await textOf(await transport.request(get('/old')));
    await transport.reconnect();
    await textOf(await transport.request(get('/new')));
    const [stream, old, fresh] = server.requests.map(({ socket }) => socket);
    expect(old).not.to.equal(fresh);
    expect(server.sockets.has(stream!)).to.equal(true);
    const failure = failureOf(chunks.next());
    await transport.close();
    expect(await failure).to.have.property('code', 'Stopped');
  });

  it('ends all requests on close, and rejects later requests with Stopped', async () => {
    const transport = await start((_, response) => response.write('first'));
    const { body } = await transport.request(get('/', { streaming: true }));
    const rest = failureOf(textOf({ status: 200, headers: {}, body }));
    await transport.close();
    expect(await rest).to.have.property('code', 'Stopped');
    expect(await failureOf(transport.request(get('/')))).to.have.property('code', 'Stopped');
    await server.until(() => server.sockets.size === 0);
  });

  for (const server of ['ftp://host', 'host:6443', '', 'https://']) {
    it(`rejects the server ${JSON.stringify(server)}`, () => {
      expect(() => new UndiciTransport({ server }))
        .to.throw('server')
        .with.property('code', 'InvalidOption');
    });
  }

  it('enables TCP keep-alive after 30 s of silence, and resolves close only when all sockets are closed', async () => {
    const delays: unknown[] = [];
    const sockets = new Set<Socket>();
    const own = Object.getOwnPropertyDescriptor(Socket.prototype, 'setKeepAlive')!;
    const original = own.value as (enable?: boolean, delayMs?: number) => Socket;
    Socket.prototype.setKeepAlive = function (this: Socket, enable?: boolean, delayMs?: number) {
      delays.push([enable, delayMs]);
      sockets.add(this);
      return original.call(this, enable, delayMs);
    };
    try {
      const transport = await start((_, response) => response.write('begun'));
      await transport.request(get('/', { streaming: true }));
      await transport.close();
    } finally {
      Object.defineProperty(Socket.prototype, 'setKeepAlive', own);
    }
    expect(delays).to.deep.include([true, 30_000]);
    expect([...sockets].map(({ closed }) => closed)).to.deep.equal([true]);
  });

  it('rejects the value 0 of maxConnections', () => {
    const construct = () => new UndiciTransport({ server: 'http://host', maxConnections: 0 });
    expect(construct).to.throw('maxConnections').with.property('code', 'InvalidOption');
  });
});

describe('UndiciTransport over TLS', () => {
  let server: StubServer;
  const ca = pem('ca.pem');

  const request = async (options: Partial<UndiciTransportOptions>): Promise<string> => {
    const transport = new UndiciTransport({ server: server.url, ...options });
    return transport
      .request(get('/'))
      .then(textOf)
      .finally(() => transport.close());
  };

  beforeEach(async () => {
    const identity = { cert: pem('server.pem'), key: pem('server.key') };
    const clients = { ca, requestCert: true, rejectUnauthorized: false };
    server = await startStubServer(
      ({ socket }, response) => {
        const certificate = socket instanceof TLSSocket ? socket.getPeerCertificate() : {};
        const { subject } = certificate as { subject?: { CN?: string } };
        response.end(subject?.CN ?? 'nobody');
      },
      { ...identity, ...clients },
    );
  });

  afterEach(() => server.close());

  it('trusts the given CA', async () => {
    expect(await request({ tls: { ca } })).to.equal('nobody');
  });

  it('rejects a server whose CA is unknown, and tells what to configure', async () => {
    const error = await failureOf(request({}));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: false });
    expect((error as Error).message).to.contain('give the CA');
  });

  it('accepts every server certificate if insecure is set', async () => {
    expect(await request({ tls: { insecure: true } })).to.equal('nobody');
  });

  it('verifies the certificate against the given server name', async () => {
    const address = `https://localhost:${server.port}`;
    const error = await failureOf(request({ server: address, tls: { ca } }));
    expect((error as Error).message).to.contain('set servername');
    const servername = 'apiserver.example.com';
    expect(await request({ server: address, tls: { ca, servername } })).to.equal('nobody');
  });

  it('presents the client certificate', async () => {
    const tls = { ca, cert: pem('client.pem'), key: pem('client.key') };
    expect(await request({ tls })).to.equal('spec client');
  });

  it('reads its TLS settings again before each new connection', async () => {
    const identity = { cert: pem('client.pem'), key: pem('client.key') };
    const settings = [{ ca }, { ca, ...identity }];
    const tls = () => settings.shift() ?? expect.fail('too many connections');
    const transport = new UndiciTransport({ server: server.url, tls, maxConnections: 1 });
    expect(await textOf(await transport.request(get('/')))).to.equal('nobody');
    expect(await textOf(await transport.request(get('/')))).to.equal('nobody');
    await transport.reconnect();
    expect(await textOf(await transport.request(get('/')))).to.equal('spec client');
    await transport.close();
  });

  it('throws ConnectionFailed with the error of its TLS settings as the cause', async () => {
    const broken = new Error('no such file');
    const error = await failureOf(request({ tls: () => Promise.reject(broken) }));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: false, cause: broken });
  });
});
