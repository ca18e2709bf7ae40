import { once } from 'node:events';
import { connect as netConnect } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { applyJsonPatch } from '../../../lib/object/json-patch.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { promMetrics } from '../../../lib/prometheus/index.js';
import {
  WebhookServer,
  allowed,
  denied,
  mutated,
  mutatingWebhook,
  validatingWebhook,
} from '../../../lib/manager/webhooks/index.js';
import type { AdmissionRequest, CertificateSource } from '../../../lib/manager/webhooks/index.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';
import { ownCertificate, serving } from './suite/serving.js';
import type { OwnCertificate, Serving } from './suite/serving.js';

const path = '/validate--v1-configmap';
const mutatePath = '/mutate--v1-configmap';

function review(data: Record<string, string>, more: object = {}): object {
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data };
  const userInfo = { username: 'jane', groups: ['dev'] };
  const request = { uid: 'u-1', operation: 'CREATE', kind, name: 'a', namespace: 'n', userInfo };
  const all = { ...request, object, ...more };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: all };
}

const validating = validatingWebhook(ConfigMap, ({ object, user, operation }) => {
  const { data = {} } = object ?? {};
  if (data['throw'] !== undefined) throw new Error('no luck');
  if (data['unprintable'] !== undefined) throw Object.create(null) as Error;
  if (data['nonsense'] !== undefined) return 'yes' as never;
  if (data['write'] !== undefined) (object?.metadata as { name: string }).name = 'b';
  if (data['plain'] !== undefined) return denied('not today');
  if (data['mode'] !== 'bad') return allowed([`${operation} by ${user.username}`]);
  return denied('data.mode is bad', { causes: [{ field: 'data.mode', message: 'bad' }] });
});

const mutating = mutatingWebhook(ConfigMap, ({ object }) =>
  object === undefined ? allowed() : mutated({ ...object, data: { ...object.data, added: 'x' } }),
);

describe('WebhookServer', () => {
  let own: OwnCertificate;
  let server: Serving;

  before(async () => {
    own = await ownCertificate();
    server = await serving([validating, mutating], own);
  });
  after(() => server.stop());

  it('allows a request with warnings', async () => {
    expect(await server.post(path, review({}))).to.deep.equal({
      status: 200,
      body: {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: 'u-1', allowed: true, warnings: ['CREATE by jane'] },
      },
    });
  });

  it('denies a request with a Status that names the fields', async () => {
    const { body } = await server.post(path, review({ mode: 'bad' }));
    expect(body).to.have.nested.property('response.allowed', false);
    const { status } = (body as { response: { status: object } }).response;
    const causes = [{ field: 'data.mode', message: 'bad', reason: 'FieldValueInvalid' }];
    const expected = { code: 422, reason: 'Invalid', message: 'data.mode is bad' };
    const details = { name: 'a', kind: 'ConfigMap', causes };
    expect(status).to.deep.include({ ...expected, details });
  });

  it('answers a denial that names no fields with the reason Forbidden, without details', async () => {
    const { body } = await server.post(path, review({ plain: '' }));
    const { status } = (body as { response: { status: object } }).response;
    expect(status).to.deep.equal({
      ...{ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' },
      ...{ code: 403, reason: 'Forbidden', message: 'not today' },
    });
  });

  it('names the fields of a denial also if its reason is not Invalid', async () => {
    const refusing = validatingWebhook(ConfigMap, () =>
      denied('no', { reason: 'Forbidden', causes: [{ field: 'a', message: 'b', reason: 'C' }] }),
    );
    const served = await serving([refusing], own);
    const causes = [{ field: 'a', message: 'b', reason: 'C' }];
    expect((await served.post(path, review({}))).body)
      .to.have.nested.property('response.status.details')
      .eql({ name: 'a', kind: 'ConfigMap', causes });
    await served.stop();
  });

  it('names group, kind and object in the details of an invalid object', async () => {
    const type = { group: 'shops.example', version: 'v1', kind: 'Shop', plural: 'shops' };
    const refusing = validatingWebhook({ ...type, namespaced: true }, () =>
      denied('no', { reason: 'Invalid' }),
    );
    const shops = await serving([refusing], own);
    const { group, version, kind } = type;
    const sent = (name?: string) =>
      shops.post(refusing.path, review({}, { kind: { group, version, kind }, name }));
    const details = { group, kind, causes: [] };
    const at = 'response.status.details';
    expect((await sent('a')).body)
      .to.have.nested.property(at)
      .eql({ name: 'a', ...details });
    // The server has not generated the name yet.
    expect((await sent()).body)
      .to.have.nested.property(at)
      .eql(details);
    await shops.stop();
  });

  it('passes the request to the handler, with defaults for what the API server omits', async () => {
    const seen: AdmissionRequest[] = [];
    const noting = validatingWebhook(ConfigMap, (request) => {
      seen.push(request);
      return allowed();
    });
    const noted = await serving([noting], own);
    const oldObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const user = { username: 'jane', uid: '1', groups: ['dev'], extra: { scopes: ['a'] } };
    const update = { operation: 'UPDATE', oldObject, dryRun: true, userInfo: user };
    await noted.post(path, review({ a: '1' }, update));
    const bare = { operation: 'DELETE', object: null, name: undefined, namespace: undefined };
    await noted.post(path, review({}, { ...bare, userInfo: undefined }));
    await noted.stop();
    const uid = 'u-1';
    expect(seen).to.deep.equal([
      {
        ...{ uid, operation: 'UPDATE', object: { ...oldObject, data: { a: '1' } }, oldObject },
        ...{ namespace: 'n', name: 'a', subResource: undefined, user, dryRun: true },
      },
      {
        ...{ uid, operation: 'DELETE', object: undefined, oldObject: undefined },
        ...{ namespace: undefined, name: '', subResource: undefined, dryRun: false },
        user: { username: '', uid: undefined, groups: [], extra: undefined },
      },
    ]);
    expect([seen[0]?.object, seen[0]?.oldObject].every(Object.isFrozen)).to.equal(true);
  });

  it('accepts a request for a subresource whose object is of another kind', async () => {
    const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
    const { body } = await server.post(path, review({}, { kind, subResource: 'scale' }));
    expect(body).to.have.nested.property('response.allowed', true);
  });

  it('changes the object by a JSON patch', async () => {
    const { body } = await server.post(mutatePath, review({ a: '1' }));
    const { response } = body as { response: { patch: string; patchType: string } };
    expect(response.patchType).to.equal('JSONPatch');
    const patch = JSON.parse(Buffer.from(response.patch, 'base64').toString()) as never;
    const patched = applyJsonPatch({ data: { a: '1' } }, patch);
    expect(patched).to.deep.equal({ data: { a: '1', added: 'x' } });
  });

  it('denies an object that nests too deeply in an AdmissionReview response', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`) as Record<
      string,
      string
    >;
    const facts = {
      ...{ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' },
      message: 'the object nests deeper than 500 levels',
      ...{ reason: 'Invalid', code: 422 },
    };
    for (const at of [path, mutatePath]) {
      for (const [sent, details] of [
        [review(deep), { name: 'a', kind: 'ConfigMap', causes: [] }],
        [
          review(deep, { kind: { group: 'a.b', kind: 'C' }, name: '' }),
          { group: 'a.b', kind: 'C', causes: [] },
        ],
        [review(deep, { kind: 'C', name: undefined }), { causes: [] }],
      ] as const) {
        const response = { uid: 'u-1', allowed: false, status: { ...facts, details } };
        expect(await server.post(at, sent)).to.deep.equal({
          status: 200,
          body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response },
        });
      }
    }
    expect((await server.post(path, review(deep, { uid: 1 }))).status).to.equal(400);
    const repair = review({}, { operation: 'UPDATE', oldObject: { metadata: {}, spec: deep } });
    expect((await server.post(path, repair)).body).to.have.nested.property(
      'response.allowed',
      true,
    );
  });

  it('sends no patch if nothing changes', async () => {
    const { body } = await server.post(mutatePath, review({ added: 'x' }));
    const { response } = body as { response: object };
    expect(response).to.deep.equal({ uid: 'u-1', allowed: true });
  });

  it('counts errors that admission handlers and converters throw in separate metrics', async () => {
    const registry = new Registry();
    const counted = await serving([validating], own, { metrics: promMetrics(registry) });
    await counted.post(path, review({ throw: '' }));
    await counted.post(path, review({ throw: '' }));
    await counted.post(path, review({}));
    await counted.post(path, 'no JSON');
    const text = await registry.metrics();
    expect(text).to.match(/^controller_runtime_webhook_panics_total 2$/m);
    expect(text).not.to.match(/^controller_runtime_conversion_webhook_panics_total [1-9]/m);
    const requests = `controller_runtime_webhook_requests_total{webhook="${path}",code=`;
    for (const line of ['"200"} 1', '"500"} 2', '"400"} 1']) {
      expect(text).to.include(`${requests}${line}`);
    }
    expect(text).to.include(`controller_runtime_webhook_requests_in_flight{webhook="${path}"} 0`);
    await counted.stop();
  });

  it('answers 500 if a handler throws an object without a message', async () => {
    const { status, body } = await server.post(path, review({ unprintable: 'x' }));
    const message = 'webhook vconfigmap.core.k8s.io failed: a thrown object without a message';
    expect(status).to.equal(500);
    expect(body).to.deep.include({ kind: 'Status', status: 'Failure', code: 500, message });
  });

  it('answers 400 to an invalid request target, and continues to serve', async () => {
    const socket = connect({
      ...{ host: '127.0.0.1', port: server.server.port, ca: own.authority },
    });
    for (const target of ['//[bad', 'https://[', '//a:b:c']) {
      socket.write(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).to.match(/^HTTP\/1.1 400 /);
    }
    socket.destroy();
    expect(await server.post(path, review({}))).to.include({ status: 200 });
  });

  it("answers 500 with the webhook's name if a handler throws, and continues to serve", async () => {
    const { status, body } = await server.post(path, review({ throw: '' }));
    const message = 'webhook vconfigmap.core.k8s.io failed: no luck';
    expect([status, (body as { message: string }).message]).to.deep.equal([500, message]);
    expect((await server.post(path, review({}))).status).to.equal(200);
  });

  for (const what of ['nonsense', 'write']) {
    it(`answers 500 if a handler returns an invalid result or modifies the object: ${what}`, async () => {
      expect((await server.post(path, review({ [what]: '' }))).status).to.equal(500);
    });
  }

  const refused: readonly (readonly [string, number, () => Promise<{ status: number }>])[] = [
    ['invalid JSON', 400, () => server.post(path, '{"a":')],
    ['a body without a review', 400, () => server.post(path, [])],
    [
      'a review of another version',
      400,
      () => server.post(path, { ...review({}), apiVersion: 'admission.k8s.io/v1beta1' }),
    ],
    ['a review without an uid', 400, () => server.post(path, review({}, { uid: '' }))],
    ['an unknown operation', 400, () => server.post(path, review({}, { operation: 'EAT' }))],
    ...[{ kind: 'Secret' }, { group: 'other' }, { version: 'v2' }].map((other) => {
      const kind = { group: '', version: 'v1', kind: 'ConfigMap', ...other };
      const send = () => server.post(path, review({}, { kind }));
      return [`a review of another kind: ${JSON.stringify(other)}`, 400, send] as const;
    }),
    ['an invalid object', 400, () => server.post(path, review({}, { object: [1] }))],
    ['another path', 404, () => server.post('/validate', review({}))],
    [
      'a path with parent directories',
      404,
      () => server.post('/%2e%2e/%2e%2e/etc/passwd', review({})),
    ],
    ['another content type', 415, () => server.post(path, 'x', { 'content-type': 'text/plain' })],
  ];
  for (const [what, status, send] of refused) {
    it(`answers ${status} to ${what}`, async () => {
      expect((await send()).status).to.equal(status);
      expect((await server.post(path, review({}))).status).to.equal(200);
    });
  }

  it('is not affected by a body with the key __proto__', async () => {
    const text = JSON.stringify(review({})).replace('"data":{}', '"data":{"__proto__":{"x":"1"}}');
    expect((await server.post(path, text)).status).to.equal(200);
    expect(({} as { x?: string }).x).to.equal(undefined);
  });

  it('reads a body of 7 MiB, and answers 413 to a longer one', async () => {
    const body = (bytes: number) => Buffer.alloc(bytes, 0x20);
    const mostBytes = 7 * 1024 * 1024;
    expect((await server.post(path, body(mostBytes))).body)
      .to.have.property('message')
      .that.includes('not JSON');
    expect((await server.post(path, body(mostBytes + 1))).status).to.equal(413);
    expect((await server.post(path, review({}))).status).to.equal(200);
  });

  it('stops reading an endless body', async () => {
    const socket = connect({ host: '127.0.0.1', port: server.server.port, ca: own.authority });
    await once(socket, 'secureConnect');
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    socket.on('error', () => undefined); // The server may close it early.
    let answer = '';
    socket.on('data', (data: Buffer) => (answer += data.toString()));
    const closed = once(socket, 'close');
    for (let n = 0; n < 130; n++) socket.write(chunk);
    await closed;
    expect(answer === '' || answer.startsWith('HTTP/1.1 413')).to.equal(true);
    expect((await server.post(path, review({}))).status).to.equal(200);
  });

  it('continues after a client that does not use TLS, and logs it at level debug', async () => {
    const lines: LogLine[] = [];
    const logged = await serving([validating], own, { log: rememberingLogger(lines) });
    const socket = netConnect({ host: '127.0.0.1', port: logged.server.port ?? 0 });
    socket.on('error', () => undefined); // The server may close it by a reset or an end.
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    expect((await logged.post(path, review({}))).status).to.equal(200);
    await logged.stop();
    const levels = (message: string) =>
      lines.filter((line) => line.message === message).map(({ level }) => level);
    expect(levels('a TLS handshake failed')).to.deep.equal(['debug']);
  });

  it('is not trusted by clients if another authority signed its certificate', async () => {
    const other = await serving([validating], {
      ...(await ownCertificate()),
      authority: own.authority,
    });
    const refusal = await other.post(path, review({})).then(
      () => undefined,
      (error: unknown) => error as { code: string },
    );
    expect(refusal)
      .to.have.property('code')
      .that.matches(/SIGNATURE|ISSUER|CERT/);
    await other.stop();
  });

  it('accepts only clients whose certificates the given authorities signed', async () => {
    const closed = await serving([validating], own, { clientAuthorities: own.authority });
    const refusal = await closed.post(path, review({})).catch((error: unknown) => error);
    expect(refusal)
      .to.be.an('error')
      .with.property('code')
      .that.is.oneOf(['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ECONNRESET', 'UND_ERR_SOCKET']);
    await closed.stop();
  });

  it('names a port that is in use in its error, and stops its certificate source', async () => {
    const port = server.server.port;
    const signals: AbortSignal[] = [];
    const start: CertificateSource['start'] = (context) => {
      signals.push(context.signal);
      return own.source.start(context);
    };
    const options = { port, certificates: { start } };
    const second = await serving([validating], own, options).catch((error: unknown) => error);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
    expect(second).to.be.an('error').with.property('code', 'ListenFailed');
    expect((second as Error).message).to.contain(`:${port}: the port is in use`);
  });

  it('completes a current request when it stops', async () => {
    let answer: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const entered = new Promise<void>((resolve) => (begun = resolve));
    const slow = validatingWebhook(ConfigMap, async () => {
      begun();
      await new Promise<void>((resolve) => (answer = resolve));
      return allowed();
    });
    const ending = new AbortController();
    const slowServer = new WebhookServer({ webhooks: [slow], certificates: own.source, port: 0 });
    let run: Promise<void> | undefined;
    await new Promise<void>((resolve) => {
      run = slowServer.run({ signal: ending.signal, logger: silentLogger, ready: resolve });
    });
    const socket = connect({ host: '127.0.0.1', port: slowServer.port, ca: own.authority });
    const body = JSON.stringify(review({}));
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    await entered;
    ending.abort();
    await stopReached();
    expect(slowServer.port).to.equal(undefined);
    answer();
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).to.match(/^HTTP\/1.1 200[^]*\r\ncontent-type: application\/json\r\n/);
    expect(data.toString()).to.match(/\r\nConnection: close\r\n/);
    socket.destroy();
    await run;
  });

  it('aborts the signal of a handler whose client disconnected', async () => {
    const gone = new Promise<void>((resolve, reject) => {
      const waiting = validatingWebhook(ConfigMap, async (_, { signal }) => {
        socket?.destroy();
        await once(signal, 'abort');
        resolve();
        return allowed();
      });
      let socket: ReturnType<typeof connect> | undefined;
      serving([waiting], own)
        .then(async (waitingServer) => {
          const { port } = waitingServer.server;
          socket = connect({ host: '127.0.0.1', port, ca: own.authority });
          const body = JSON.stringify(review({}));
          const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
          socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
          await gone;
          await waitingServer.stop();
        })
        .catch(reject);
    });
    await gone;
  });

  it('does not abort the signal of a handler that has returned', async () => {
    const signals: AbortSignal[] = [];
    const keeping = validatingWebhook(ConfigMap, (_, { signal }) => {
      signals.push(signal);
      return allowed();
    });
    const keepingServer = await serving([keeping], own);
    await keepingServer.post(path, review({}));
    await keepingServer.stop();
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
  });

  it('rejects two webhooks on one path, and an empty list', () => {
    const options = { certificates: own.source };
    expect(() => new WebhookServer({ ...options, webhooks: [] })).to.throw('without webhooks');
    const twice = () => new WebhookServer({ ...options, webhooks: [validating, validating] });
    expect(twice).to.throw('share the path');
  });
});

/** Waits until a stop has reached the server. */
async function stopReached(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
