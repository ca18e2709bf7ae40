import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { request } from 'undici';
import { EmbeddedApiServer } from '../../lib/apiserver/internal.js';
import { Api, configMap, configMaps } from './api.js';

interface Reply {
  readonly code: number;
  readonly text: string;
}

/** Sends a request without normalizing its path or adding headers. */
function send(
  url: string,
  { path, method = 'GET', body = '', type = 'application/json' }: Record<string, string>,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, connection: 'close' };
    const { hostname, port } = new URL(url);
    const request = httpRequest({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ code: response.statusCode ?? 0, text }));
    });
    request.once('error', reject);
    request.end(body);
  });
}

describe('the HTTP adapter', () => {
  let api: Api;
  let url: string;

  beforeEach(async () => {
    api = new Api();
    url = await api.server.listen();
  });

  afterEach(() => api.server.stop());

  it('listens on the loopback interface', () => {
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('returns the responses of the server', async () => {
    const body = JSON.stringify(configMap('a', { x: 'é' }));
    const created = await send(url, { method: 'POST', path: configMaps, body });
    expect(created.code).to.equal(201);
    const { text } = await send(url, { path: `${configMaps}/a` });
    expect(text).to.equal((await api.get(`${configMaps}/a`)).text);
  });

  it('warns about unknown fields whose names are not ASCII', async () => {
    const names = ['größe', '字段', '😀'];
    for (const name of names) {
      const { statusCode, headers, body } = await request(`${url}${configMaps}?dryRun=All`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...configMap('a'), [name]: 1 }),
      });
      await body.dump();
      // The client decodes headers as Latin-1.
      const warning = Buffer.from(String(headers['warning']), 'latin1').toString();
      expect([statusCode, warning]).to.deep.equal([201, `299 - "unknown field \\"${name}\\""`]);
    }
  });

  it('drops warnings when the Warning headers become longer than clients accept', async () => {
    const unknown = Array.from({ length: 900 }, (_, index) => [`unknown${index}`, 1] as const);
    const { statusCode, headers, body } = await request(`${url}${configMaps}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...configMap('a'), ...Object.fromEntries(unknown) }),
    });
    await body.dump();
    expect(statusCode).to.equal(201);
    const warnings = String(headers['warning']).split(', 299');
    expect(warnings[0]).to.equal(String.raw`299 - "unknown field \"unknown0\""`);
    expect(warnings).to.have.length.within(100, 200);
  });

  it('keeps idle connections longer than clients in Go, which keep them for 90 s', async () => {
    const { headers, body } = await request(`${url}/version`);
    await body.dump();
    const [, seconds] = /timeout=(\d+)/.exec(String(headers['keep-alive'])) ?? [];
    expect(Number(seconds)).to.be.greaterThan(90);
  });

  it('refuses cross-site requests from a browser without reading the body', async () => {
    const from = async (headers: Record<string, string>): Promise<number> => {
      const { port } = new URL(url);
      const body = JSON.stringify(configMap('pwned'));
      return new Promise((resolve, reject) => {
        const options = { port, path: configMaps, method: 'POST', headers };
        const sent = httpRequest({ hostname: '127.0.0.1', ...options }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode ?? 0));
        });
        sent.once('error', reject);
        sent.end(body);
      });
    };
    expect(await from({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).to.equal(
      403,
    );
    expect(await from({ origin: 'https://evil.example' })).to.equal(403);
    expect(await from({ host: 'evil.example' })).to.equal(403);
    expect((await api.get(configMaps)).text).to.not.include('pwned');
    expect(await from({ host: 'localhost:1234' })).to.equal(201);
  });

  it('accepts other host names if allowed, or with a token', async () => {
    const server = new EmbeddedApiServer({ users: { secret: 'jane' } });
    try {
      const served = await server.listen({ allowedHosts: ['Apiserver.test'] });
      const code = async (headers: Record<string, string>): Promise<number> =>
        (await request(`${served}/version`, { headers })).statusCode;
      expect(await code({ host: 'apiserver.test:8443' })).to.equal(200);
      expect(await code({ host: 'other.test' })).to.equal(403);
      expect(await code({ host: 'other.test', authorization: 'Bearer secret' })).to.equal(200);
      expect(await code({ host: 'other.test', authorization: 'Bearer guess' })).to.equal(401);
    } finally {
      await server.stop();
    }
  });

  it('streams watch events as they occur, and ends a watch with its connection', async () => {
    const abort = new AbortController();
    const response = await fetch(`${url}${configMaps}?watch=1`, { signal: abort.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(api.server.openWatches).to.equal(1);
    await api.create(configMaps, configMap('a'));
    expect((await reader?.read())?.value).to.contain('"ADDED"');
    const ended = reader?.closed.catch(() => undefined);
    abort.abort();
    await ended;
    // The server detects the abort only when its socket has closed.
    while (api.server.openWatches > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('applies back-pressure to a watch whose client does not read', async () => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause();
    // Earlier specs in this process may have left buffers.
    const before = process.memoryUsage().arrayBuffers;
    socket.write(`GET ${configMaps}?watch=1 HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    while (api.server.openWatches === 0) await new Promise((resolve) => setImmediate(resolve));
    const big = 'x'.repeat(900_000);
    for (let index = 0; index < 30; index++) {
      await api.create(configMaps, configMap(`a${index}`, { big }));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Without back-pressure, all events would wait in the server's memory.
    const events: string[] = [];
    const grown = process.memoryUsage().arrayBuffers - before;
    api.server.compact();
    socket.on('data', (chunk) => events.push(chunk.toString('latin1').slice(-400)));
    socket.resume();
    while (api.server.openWatches > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(grown).to.be.lessThan(25_000_000);
    socket.destroy();
  });

  const bad: [string, Record<string, string>, number][] = [
    ['malformed JSON', { method: 'POST', path: configMaps, body: '{"a":' }, 400],
    ['a body that is not an object', { method: 'POST', path: configMaps, body: '[]' }, 400],
    ['no body', { method: 'POST', path: configMaps }, 400],
    [
      'another kind',
      { method: 'POST', path: configMaps, body: '{"kind":"Pod","apiVersion":"v1"}' },
      400,
    ],
    [
      'a body over 3 MiB',
      { method: 'POST', path: configMaps, body: 'x'.repeat(3 * 1024 * 1024 + 1) },
      413,
    ],
    [
      'an unknown content type',
      { method: 'POST', path: configMaps, body: '{}', type: 'text/xml' },
      415,
    ],
    [
      'protobuf',
      {
        method: 'POST',
        path: configMaps,
        body: 'k8s',
        type: 'application/vnd.kubernetes.protobuf',
      },
      415,
    ],
    ['a path with ..', { path: '/api/v1/../../etc/passwd' }, 404],
    ['a path with an encoded ..', { path: '/api/v1/namespaces/%2e%2e/configmaps/%2e%2e%2fx' }, 404],
    ['an invalid encoding in the path', { path: '/api/v1/namespaces/%zz' }, 400],
    ['an invalid encoding in the query', { path: `${configMaps}?limit=%zz` }, 400],
    ['an unknown method', { method: 'PURGE', path: configMaps }, 405],
    ['an invalid limit', { path: `${configMaps}?limit=x` }, 400],
    ['an invalid selector', { path: `${configMaps}?labelSelector=a%3D%3D%3Db` }, 400],
    ['an invalid resourceVersion', { path: `${configMaps}?resourceVersion=x` }, 400],
    [
      '10,000 nested lists',
      {
        method: 'POST',
        path: configMaps,
        body: `{"metadata":{"name":"a"},"data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      },
      400,
    ],
  ];
  for (const [what, request, code] of bad) {
    it(`answers ${code} to ${what}, and continues to serve`, async () => {
      const reply = await send(url, request);
      expect([reply.code, reply.text.slice(0, 300)]).to.deep.equal([
        code,
        reply.text.slice(0, 300),
      ]);
      expect((await send(url, { path: '/readyz' })).code).to.equal(200);
    });
  }

  it('treats __proto__ as data', async () => {
    const body = '{"metadata":{"name":"a"},"data":{"__proto__":"y"}}';
    const { text } = await send(url, { method: 'POST', path: configMaps, body });
    expect(text).to.contain('"__proto__":"y"');
    expect(Object.prototype).not.to.have.property('y');
  });
});
