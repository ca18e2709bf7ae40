import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { createClient } from '../../lib/client/index.js';
import type { ConnectedClient, Credentials } from '../../lib/client/index.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { answerJson, startStubServer } from '../system/stub-server.js';
import type { StubHandler, StubServer } from '../system/stub-server.js';
import { failureOf } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web' };
const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: key,
  data: { a: 'ü€𝄞' },
};
const event = `${JSON.stringify({ type: 'ADDED', object: configMap })}\n`;

describe('the client against a misbehaving server, over sockets', () => {
  let server: StubServer;
  let client: ConnectedClient;
  const clock = new VirtualClock();

  const against = async (handler: StubHandler, credentials?: Credentials): Promise<void> => {
    server = await startStubServer(handler);
    const transport = new UndiciTransport({ server: server.url });
    client = createClient({ transport, credentials, clock });
  };

  afterEach(async () => {
    await client.close();
    await server.close();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('assembles events that arrive byte by byte', async () => {
    await against((_, response) => {
      const bytes = Buffer.from(event + event);
      const next = (at: number): void => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => next(at + 1));
      };
      next(0);
    });
    const seen: unknown[] = [];
    for await (const { type, ...rest } of client.watch(ConfigMap)) seen.push({ type, ...rest });
    expect(seen).to.deep.equal([1, 2].map(() => ({ type: 'ADDED', object: configMap })));
  });

  it('throws when the connection of a watch is reset within an event', async () => {
    await against(({ socket }, response) => {
      response.write(event + event.slice(0, 10), () => socket.resetAndDestroy());
    });
    const seen: unknown[] = [];
    const run = async (): Promise<void> => {
      for await (const { type } of client.watch(ConfigMap)) seen.push(type);
    };
    const error = await failureOf(run());
    expect(error).to.have.property('code', 'ConnectionFailed');
    expect(error.message).to.contain('watch ConfigMap');
    expect(seen).to.deep.equal(['ADDED']);
    expect(server.requests).to.have.length(1);
  });

  it('closes the connection of a watch when its loop exits', async () => {
    await against((_, response) => response.write(event));
    for await (const { type } of client.watch(ConfigMap)) {
      expect(type).to.equal('ADDED');
      break;
    }
    await server.until(() => server.sockets.size === 0);
  });

  it('retries a read after a reset of a kept-alive connection', async () => {
    await against(({ socket }, response) => {
      if (server.requests.length === 2) socket.resetAndDestroy();
      else answerJson(response, configMap);
    });
    await client.get(ConfigMap, key);
    expect(await client.get(ConfigMap, key)).to.deep.equal(configMap);
    expect(server.requests).to.have.length(3);
  });

  it('does not retry a create after a reset', async () => {
    await against(({ socket }) => socket.resetAndDestroy());
    const error = await failureOf(client.create(configMap));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: true });
    expect(server.requests).to.have.length(1);
  });

  it('waits before a retry as long as the Retry-After of a 429 says', async () => {
    await against((_, response) => {
      if (server.requests.length > 1) answerJson(response, configMap);
      else response.writeHead(429, { 'retry-after': '7' }).end('slow down');
    });
    const created = client.create(configMap);
    await server.until(() => server.requests.length === 1);
    while (clock.nextTimerMs !== 7_000) await clock.advance(0);
    await clock.advance(7_000);
    expect(await created).to.deep.equal(configMap);
  });

  it('renews its credentials on a 401', async () => {
    let token = 'old';
    const credentials: Credentials = {
      headers: () => ({ authorization: `Bearer ${token}` }),
      refresh: async () => void (token = 'new'),
    };
    await against(({ headers }, response) => {
      if (headers.authorization === 'Bearer new') answerJson(response, configMap);
      else response.writeHead(401).end('Unauthorized');
    }, credentials);
    expect(await client.create(configMap)).to.deep.equal(configMap);
  });

  it('treats a plain-text 404 as NotFound', async () => {
    await against((_, response) => response.writeHead(404).end('404 page not found\n'));
    expect(isNotFound(await failureOf(client.get(ConfigMap, key)))).to.equal(true);
  });

  it('reports truncated JSON', async () => {
    const text = JSON.stringify(configMap).slice(0, -5);
    await against((_, response) => response.end(text));
    const error = await failureOf(client.get(ConfigMap, key));
    expect(error.message).to.contain('not whole JSON');
  });

  it('retries a read whose body is shorter than its content-length', async () => {
    const text = JSON.stringify(configMap);
    await against(({ socket }, response) => {
      response.writeHead(200, { 'content-length': String(Buffer.byteLength(text)) });
      if (server.requests.length > 1) response.end(text);
      else response.write(text.slice(0, 20), () => socket.end());
    });
    expect(await client.get(ConfigMap, key)).to.deep.equal(configMap);
  });

  it('decompresses gzip', async () => {
    await against((request, response) => {
      expect(request.headers['accept-encoding']).to.equal('gzip');
      response.setHeader('content-encoding', 'gzip').end(gzipSync(JSON.stringify(configMap)));
    });
    expect(await client.get(ConfigMap, key)).to.deep.equal(configMap);
  });

  it('times out on a server that never responds, and closes the connection', async () => {
    await against(() => undefined);
    const failure = failureOf(client.get(ConfigMap, key));
    await server.until(() => server.requests.length === 1);
    const [request] = server.requests;
    await clock.advance(30_000);
    expect(await failure).to.have.property('code', 'Timeout');
    await server.until(() => !server.sockets.has(request!.socket));
  });

  it('times out on a server that stops within its response', async () => {
    await against((_, response) => response.write('{"kind":'));
    const failure = failureOf(client.get(ConfigMap, key));
    await server.until(() => server.requests.length === 1);
    await clock.advance(30_000);
    expect(await failure).to.have.property('code', 'Timeout');
  });
});
