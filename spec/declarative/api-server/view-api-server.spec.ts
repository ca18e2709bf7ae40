import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ViewApiServer } from '../../../lib/declarative/api-server/index.js';
import type { ViewApiServerOptions } from '../../../lib/declarative/api-server/index.js';
import { Views } from '../../../lib/declarative/views/index.js';
import type { LogFields, Logger } from '../../../lib/system/logger.js';
import { ViewServer, healthView, inNamespace, serverKeys } from './view-server.js';
import type { ServerKeys } from './view-server.js';

/** Collects everything logged, as text. */
class Written implements Logger {
  readonly lines: string[];
  readonly #own: LogFields;

  constructor(lines: string[] = [], own: LogFields = {}) {
    this.lines = lines;
    this.#own = own;
  }

  debug = (...line: unknown[]): void => this.#write(line);
  info = (...line: unknown[]): void => this.#write(line);
  warn = (...line: unknown[]): void => this.#write(line);
  error = (...line: unknown[]): void => this.#write(line);

  child(fields: LogFields): Logger {
    return new Written(this.lines, { ...this.#own, ...fields });
  }

  #write(line: unknown[]): void {
    const shown = (_name: string, value: unknown): unknown =>
      value instanceof Error ? { stack: value.stack, cause: value.cause } : value;
    this.lines.push(JSON.stringify([this.#own, ...line], shown));
  }
}

describe('ViewApiServer', () => {
  let keys: ServerKeys;
  let views: Views;
  before(async () => {
    keys = await serverKeys();
  });
  beforeEach(async () => {
    views = await Views.start();
  });
  afterEach(() => views.stop());

  async function codeAt(server: ViewApiServer, path = '/healthz'): Promise<number> {
    const response = await fetch(server.url + path);
    await response.text();
    return response.status;
  }

  it('answers 503 until views are attached', async () => {
    const server = new ViewApiServer({ port: 0 });
    await server.start();
    const response = await fetch(`${server.url}/apis`);
    expect(response.status).to.equal(503);
    expect(await response.json()).to.include({ kind: 'Status', reason: 'ServiceUnavailable' });
    server.attach(views);
    expect(await codeAt(server)).to.equal(200);
    await server.stop();
  });

  it('answers 503 after its views have stopped', async () => {
    const server = new ViewApiServer({ port: 0 });
    server.attach(views);
    await server.start();
    await views.stop();
    expect(await codeAt(server)).to.equal(503);
    await server.stop();
  });

  it('can be attached to the same views a second time, but not to other views', async () => {
    const server = new ViewApiServer({ port: 0 });
    server.attach(views);
    server.attach(views);
    const others = await Views.start();
    expect(() => server.attach(others))
      .to.throw('the views of another group already')
      .with.property('code', 'InvalidOption');
    await others.stop();
  });

  it('stops when its signal aborts, and then ends every watch', async () => {
    const abort = new AbortController();
    const site = await ViewServer.start();
    const server = new ViewApiServer({ port: 0 });
    server.attach(site.views);
    await server.start(abort.signal);
    const { url } = server;
    const response = await fetch(`${url}${inNamespace}?watch=1`);
    const body = response.text().catch(() => 'broken off');
    expect(site.views.server.openWatches).to.equal(1);
    abort.abort();
    expect(await body).to.equal('broken off');
    expect(await fetch(url).catch(() => 'nobody')).to.equal('nobody');
    expect(() => server.url)
      .to.throw('does not listen')
      .with.property('code', 'Stopped');
    await site.stop();
  });

  it('removes its listener from the signal when it stops', async () => {
    const { signal } = new AbortController();
    const server = new ViewApiServer({ port: 0 });
    await server.start(signal);
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    await server.stop();
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('refuses a second start, and a start with an aborted signal', async () => {
    const server = new ViewApiServer({ port: 0 });
    const early: unknown = await server.start(AbortSignal.abort()).catch((error: unknown) => error);
    expect(early).to.have.property('code', 'Aborted');
    await server.start();
    const again: unknown = await server.start().catch((error: unknown) => error);
    expect(again).to.have.property('code', 'AlreadyStarted');
    await server.stop();
    await server.stop();
  });

  it('does not listen if it is stopped during its start', async () => {
    const server = new ViewApiServer({ port: 0 });
    const starting = server.start();
    await server.stop();
    await starting;
    expect(() => server.url).to.throw('does not listen');
  });

  it('reports a port that is in use, and can start when the port is free', async () => {
    const first = new ViewApiServer({ port: 0 });
    await first.start();
    const second = new ViewApiServer({ port: Number(new URL(first.url).port) });
    const error: unknown = await second.start().catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'ListenFailed' });
    expect(String(error)).to.contain('choose another port');
    const { url } = first;
    await first.stop();
    await second.start();
    expect(second.url).to.equal(url);
    await second.stop();
  });

  it('verifies tokens with the public key in its certificate by default', async () => {
    const { tls } = keys;
    const own = { tls, token: { publicKey: tls.certificate, privateKey: tls.privateKey } };
    const site = await ViewServer.start(own, { tokenKey: undefined });
    expect((await site.ask(inNamespace, { token: await site.token() })).code).to.equal(200);
    await site.stop();
  });

  it('writes no token, body or key to the log', async () => {
    const logger = new Written();
    const site = await ViewServer.start(keys, { logger });
    const good = await site.token();
    const expired = await site.token({}, { validForMs: 1_000 });
    await site.clock.advance(2_000);
    const body = { ...healthView('z'), secret: 'the-body' };
    const header = { authorization: 'Basic dGhlLXBhc3N3b3Jk' };
    const broken = `${good.slice(0, 40)}.broken.${good.slice(-40)}`;
    for (const token of [good, expired, broken, undefined]) {
      await site.ask(inNamespace, { method: 'POST', token, body });
      await site.ask(inNamespace, { method: 'POST', token, body: '{"the-body' });
      await site.ask(inNamespace.replace('/n/', '/m/'), { token });
      await site.ask(inNamespace, { headers: header });
    }
    await site.stop();
    const text = logger.lines.join('\n');
    // Reasons are logged. Without this check, an empty log would pass as one without secrets.
    expect(text).to.contain('views are served').and.to.contain('it has expired');
    const parts = [good, expired, broken].flatMap((token) => token.split('.').slice(1));
    const secrets = [...parts, 'the-body', 'dGhlLXBhc3N3b3Jk', 'PRIVATE KEY', 'Bearer'];
    for (const secret of secrets) expect(text).not.to.contain(secret);
  });

  const wrong: [string, (keys: ServerKeys) => ViewApiServerOptions, RegExp][] = [
    ['HTTP on an address other than loopback', () => ({ host: '0.0.0.0' }), /loopback only/],
    ['HTTP on a host name', () => ({ host: 'views.example' }), /loopback only/],
    ['a port out of range', () => ({ port: 65_536 }), /65536/],
    ['a key for tokens over HTTP', ({ token }) => ({ tokenKey: token.publicKey }), /is for HTTPS/],
    [
      'an invalid certificate',
      ({ tls }) => ({ tls: { ...tls, certificate: 'x' } }),
      /want a certificate/,
    ],
    [
      'the key of another certificate',
      ({ tls, token }) => ({ tls: { ...tls, privateKey: token.privateKey } }),
      /not the private key/,
    ],
    [
      'a private key for checking tokens',
      ({ tls, token }) => ({ tls, tokenKey: token.privateKey }),
      /this is a private key/,
    ],
    ['an invalid key for tokens', ({ tls }) => ({ tls, tokenKey: 'x' }), /want a key in PEM/],
    [
      'an elliptic-curve key for tokens',
      ({ tls }) => ({ tls, tokenKey: ellipticKey }),
      /RSA.*got ec/,
    ],
  ];
  for (const [what, options, message] of wrong) {
    it(`refuses ${what}`, () => {
      expect(() => new ViewApiServer(options(keys)))
        .to.throw(message)
        .with.property('code', 'InvalidOption');
    });
  }

  it('refuses a value that is not an object as its options', () => {
    expect(() => new ViewApiServer(null as never))
      .to.throw('API server of views: options: want an object, got null')
      .with.property('code', 'InvalidOption');
  });

  it('does not quote a key that it refuses in the error', () => {
    const { privateKey } = keys.token;
    const secret = privateKey.split('\n')[3] ?? '';
    const construct = (): unknown => new ViewApiServer({ tls: keys.tls, tokenKey: privateKey });
    expect(construct).to.throw().with.property('message').that.does.not.contain(secret);
  });
});

const ellipticKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----
`;
