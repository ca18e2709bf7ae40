import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as netConnect } from 'node:net';
import { tmpdir } from 'node:os';
import { connect } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { expect } from 'chai';
import { Agent, request } from 'undici';
import { Registry } from 'prom-client';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { applyJsonPatch } from '../../../lib/object/json-patch.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { promMetrics } from '../../../lib/prometheus/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import {
  WebhookServer,
  allowed,
  certificateFiles,
  conversionWebhook,
  denied,
  mutated,
  mutatingWebhook,
  validatingWebhook,
} from '../../../lib/manager/webhooks/index.js';
import type { CertificateSource, ServingCertificate } from '../../../lib/manager/webhooks/index.js';
import type { LogLine } from '../manager-setup.js';
import { rememberingLogger } from '../manager-setup.js';
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
  if (data['mode'] !== 'bad') return allowed([`${operation} by ${user.username}`]);
  return denied('data.mode is bad', { causes: [{ field: 'data.mode', message: 'bad' }] });
});

const mutating = mutatingWebhook(ConfigMap, ({ object }) =>
  object === undefined ? allowed() : mutated({ ...object, data: { ...object.data, added: 'x' } }),
);

const always = { name: 'a', expression: 'true' };

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

  for (const [why, options] of [
    ['timeoutSeconds 0: want 1 to 30', { timeoutSeconds: 0 }],
    ['operations is empty', { operations: [] }],
    ['matchConditions: a is there twice', { matchConditions: [always, always] }],
    ['matchConditions: a has no expression', { matchConditions: [{ ...always, expression: ' ' }] }],
    ['unknown option "reinvocationPolicy"', { reinvocationPolicy: 'Never' }],
  ] as const) {
    it(`rejects at once an option that the API server would reject later: ${why}`, () => {
      const make = () => validatingWebhook(ConfigMap, () => allowed(), options as never);
      expect(make).to.throw(why).with.property('code', 'InvalidOption');
    });
  }

  it('changes the object by a JSON patch', async () => {
    const { body } = await server.post(mutatePath, review({ a: '1' }));
    const { response } = body as { response: { patch: string; patchType: string } };
    expect(response.patchType).to.equal('JSONPatch');
    const patch = JSON.parse(Buffer.from(response.patch, 'base64').toString()) as never;
    const patched = applyJsonPatch({ data: { a: '1' } }, patch);
    expect(patched).to.deep.equal({ data: { a: '1', added: 'x' } });
  });

  it('denies an object that nests too deeply, in a review response', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`) as Record<
      string,
      string
    >;
    for (const at of [path, mutatePath]) {
      const { status, body } = await server.post(at, review(deep));
      expect(status).to.equal(200);
      expect(body).to.have.nested.property('response.uid', 'u-1');
      expect(body).to.have.nested.property('response.allowed', false);
      expect(body).to.have.nested.property('response.status.code', 422);
    }
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

  it('counts thrown errors of admission and conversion handlers separately', async () => {
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
    await counted.stop();
  });

  it('answers 500 if a handler throws a value without text', async () => {
    const { status, body } = await server.post(path, review({ unprintable: 'x' }));
    const message = 'webhook vconfigmap.core.k8s.io failed: a thrown object without a text';
    expect(status).to.equal(500);
    expect(body).to.deep.include({ kind: 'Status', status: 'Failure', code: 500, message });
  });

  it('answers 400 to an invalid request target, and continues', async () => {
    const socket = connect({
      ...{ host: '127.0.0.1', port: server.server.port, ca: own.authority },
    });
    for (const target of ['//[bad', 'https://[', '//a:b:c']) {
      socket.write(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).to.match(/^HTTP\/1.1 400 /);
      expect(answer.toString()).to.include('the path is invalid');
    }
    socket.destroy();
    expect(await server.post(path, review({}))).to.include({ status: 200 });
  });

  it("answers 500 with the webhook's name if a handler throws, and continues", async () => {
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
    [
      'another kind',
      400,
      () => server.post(path, review({}, { kind: { group: '', version: 'v1', kind: 'Secret' } })),
    ],
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

  it('is not affected by a body with prototype keys', async () => {
    const text = JSON.stringify(review({})).replace('"data":{}', '"data":{"__proto__":{"x":"1"}}');
    expect((await server.post(path, text)).status).to.equal(200);
    expect(({} as { x?: string }).x).to.equal(undefined);
  });

  it('answers 413 to a body with a length of 8 MiB', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, 0x20);
    expect((await server.post(path, body)).status).to.equal(413);
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

  it('survives a client without TLS', async () => {
    const socket = netConnect({ host: '127.0.0.1', port: server.server.port ?? 0 });
    socket.on('error', () => undefined); // The server may close it by a reset or an end.
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    expect((await server.post(path, review({}))).status).to.equal(200);
  });

  it('is not trusted with a certificate of another authority', async () => {
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

  it('accepts only clients of the given authorities', async () => {
    const closed = await serving([validating], own, { clientAuthorities: own.authority });
    const refusal = await closed.post(path, review({})).catch((error: unknown) => error);
    expect(refusal)
      .to.be.an('error')
      .with.property('code')
      .that.is.oneOf(['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ECONNRESET', 'UND_ERR_SOCKET']);
    await closed.stop();
  });

  it('names a port that is in use', async () => {
    const port = server.server.port;
    const second = await serving([validating], own, { port }).catch((error: unknown) => error);
    expect(second).to.be.an('error').with.property('code', 'ListenFailed');
    expect((second as Error).message).to.contain(`port ${port}`);
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
    await readOnce();
    expect(() => slowServer.check()).to.throw('does not listen');
    answer();
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).to.match(/^HTTP\/1.1 200/);
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

describe('validatingWebhook', () => {
  const handler = () => allowed();
  const wrong = [{ operations: [] }, { timeoutSeconds: 31 }, { path: 'x' }, { name: 'x.y' }];
  for (const options of wrong) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      const make = () => validatingWebhook(ConfigMap, handler, options);
      expect(make).to.throw('webhook').with.property('code', 'InvalidOption');
    });
  }
});

describe('conversionWebhook', () => {
  const resource = {
    ...{ group: 'example.com', kind: 'Thing', plural: 'things', versions: ['v1', 'v2'] },
    convert: (object: never, apiVersion: string) => {
      const { spec } = object as { spec: { bad?: boolean; overflow?: boolean; as?: unknown } };
      if (spec.overflow === true) throw new RangeError('Maximum call stack size exceeded');
      if (spec.bad === true) throw new Error('spec.bad can not be converted');
      return ('as' in spec ? spec.as : { ...(object as object), apiVersion }) as never;
    },
  };
  let server: Serving;
  const registry = new Registry();
  before(async () => {
    const metrics = promMetrics(registry);
    server = await serving([conversionWebhook(resource)], await ownCertificate(), { metrics });
  });
  after(() => server.stop());

  const convert = async (objects: readonly object[]) => {
    const request = { uid: 'u', desiredAPIVersion: 'example.com/v2', objects };
    const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request };
    const answer = await server.post('/convert', body);
    const { response } = answer.body as { response?: unknown };
    return { status: answer.status, response };
  };
  const thing = (spec: object) => ({
    ...{ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec },
  });

  it('converts every object of a review', async () => {
    const { response } = await convert([thing({ a: 1 }), thing({ a: 2 })]);
    const convertedObjects = [1, 2].map((a) => ({ ...thing({ a }), apiVersion: 'example.com/v2' }));
    const result = { status: 'Success' };
    expect(response).to.deep.equal({ uid: 'u', convertedObjects, result });
  });

  it('converts an object that nests deeply', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`) as object;
    const { response } = await convert([thing({ a: 1 }), thing(deep)]);
    expect(response).to.have.nested.property('result.status', 'Success');
  });

  it('names the object if a converter overflows the stack', async () => {
    const { response } = await convert([thing({ a: 1 }), thing({ overflow: true })]);
    expect(response).to.have.nested.property('result.status', 'Failed');
    expect(response)
      .to.have.nested.property('result.message')
      .that.matches(/^convert Thing a: nests/);
  });

  it('converts nothing if one object fails, and gives the reason', async () => {
    const { response } = await convert([thing({}), thing({ bad: true })]);
    const result = { status: 'Failed', message: 'spec.bad can not be converted' };
    expect(response).to.deep.equal({ uid: 'u', convertedObjects: [], result });
  });

  it('counts failed conversions', async () => {
    const count = async (): Promise<number> => {
      const text = await registry.metrics();
      return Number(
        /^controller_runtime_conversion_webhook_panics_total (\d+)$/m.exec(text)?.[1] ?? 0,
      );
    };
    const before = await count();
    await convert([thing({ bad: true })]);
    await convert([thing({})]);
    expect(await count()).to.equal(before + 1);
    expect(await registry.metrics()).to.match(/^controller_runtime_webhook_panics_total 0$/m);
  });

  const v2 = { apiVersion: 'example.com/v2', kind: 'Thing' };
  for (const [as, why] of [
    [null, 'returned null, want an object'],
    [[], 'returned [], want an object'],
    [
      { ...v2, apiVersion: 'example.com/v1', metadata: { name: 'a' } },
      'returned Thing (example.com/v1)',
    ],
    [{ ...v2, kind: 'Other', metadata: { name: 'a' } }, 'returned Other (example.com/v2)'],
    [v2, 'lost the metadata; copy it'],
    [{ ...v2, metadata: {} }, 'changed metadata.name to nothing; copy the metadata'],
    [{ ...v2, metadata: { name: 'b' } }, 'changed metadata.name to "b"; copy the metadata'],
    [{ ...v2, metadata: { name: 'a', namespace: 'n' } }, 'changed metadata.namespace to "n"'],
    [{ ...v2, metadata: { name: 'a', uid: 'u' } }, 'changed metadata.uid to "u"'],
    [
      { ...v2, metadata: { name: 'a', labels: { a: 1 } } },
      'set metadata.labels to a value that is not a map',
    ],
    [
      { ...v2, metadata: { name: 'a', annotations: [] } },
      'set metadata.annotations to a value that is not a map',
    ],
  ] as const) {
    it(`names the object if a converter ${why}`, async () => {
      const { response } = await convert([thing({}), thing({ as })]);
      const { convertedObjects, result } = response as {
        convertedObjects: unknown;
        result: { status: string; message: string };
      };
      expect([convertedObjects, result.status]).to.deep.equal([[], 'Failed']);
      expect(result.message).to.include(`Thing a: its conversion to example.com/v2 ${why}`);
    });
  }

  it('rejects unknown kinds', async () => {
    const { response } = await convert([{ ...thing({}), kind: 'Other' }]);
    expect(response).to.have.nested.property('result.status', 'Failed');
  });

  for (const objects of ['x', [1], undefined]) {
    it(`answers 400 to a review of ${JSON.stringify(objects)}`, async () => {
      expect((await convert(objects as never)).status).to.equal(400);
    });
  }
});

describe('A certificate that is replaced under load', () => {
  it('fails no handshake and no request, on old and new connections', async () => {
    const [one, two] = [await ownCertificate(), await ownCertificate()];
    const shown = await Promise.all([one, two].map((own) => own.source.start({} as never)));
    const [first] = shown;
    let replace: (next: ServingCertificate) => void = () => undefined;
    const source: CertificateSource = {
      start: ({ onChange }) => {
        replace = onChange;
        return Promise.resolve(first!);
      },
    };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = mutatingWebhook(ConfigMap, async () => {
      await held;
      return allowed();
    });
    const certificates = { certificates: source };
    const both = { source, authority: `${one.authority}\n${two.authority}` };
    const server = await serving([validating, slow], both, certificates);
    const inFlight = server.post(mutatePath, review({}));
    const answers: Promise<number>[] = [];
    for (let round = 0; round < 100; round++) {
      replace(shown[round % 2]!);
      answers.push(postOnce(server.url, both.authority));
      // The next change meets connections in all phases of a handshake.
      if (round % 3 === 0) await new Promise(setImmediate);
    }
    const statuses = await Promise.all(answers);
    expect(statuses).to.deep.equal(statuses.map(() => 200));
    release();
    expect((await inFlight).status).to.equal(200);
    replace(shown[1]!);
    expect(await trusts(server.server.port, two.authority)).to.equal(true);
    await server.stop();
  });
});

describe('certificateFiles', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(`${tmpdir()}/certificates-`);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = async (own: OwnCertificate, which: 'both' | 'certificate' = 'both') => {
    const first = await own.source.start({} as never);
    await writeFile(`${folder}/tls.crt`, first.certificate);
    if (which === 'both') await writeFile(`${folder}/tls.key`, first.privateKey);
  };

  it('presents a replaced certificate on the next connection, without a restart', async () => {
    const clock = new VirtualClock();
    const [one, two] = [await ownCertificate(), await ownCertificate()];
    await write(one);
    const certificates = certificateFiles({ folder });
    const server = await serving([validating], one, { certificates, clock });
    const { port } = server.server;
    expect(await trusts(port, one.authority)).to.equal(true);
    await write(two, 'certificate');
    await clock.advance(10_000);
    await readOnce();
    expect(await trusts(port, one.authority)).to.equal(true); // The key does not match.
    await write(two);
    await until(async () => {
      await clock.advance(10_000);
      return trusts(port, two.authority);
    });
    await server.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('logs mismatched files once, and their recovery', async () => {
    const clock = new VirtualClock();
    const lines: LogLine[] = [];
    const own = await ownCertificate();
    await write(own);
    const ending = new AbortController();
    await certificateFiles({ folder }).start({
      ...{ clock, logger: rememberingLogger(lines), signal: ending.signal },
      onChange: () => undefined,
    });
    const look = async (): Promise<void> => {
      await clock.advance(10_000);
      await until(() => Promise.resolve(clock.pendingTimers === 1));
    };
    await rm(`${folder}/tls.key`);
    for (let n = 0; n < 3; n++) await look();
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn']);
    await write(own);
    for (let n = 0; n < 2; n++) await look();
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn', 'info']);
    ending.abort();
  });

  it('names a folder without a certificate', async () => {
    const certificates = certificateFiles({ folder });
    const failed = await serving([validating], await ownCertificate(), { certificates }).catch(
      (error: unknown) => error,
    );
    expect(failed).to.be.an('error').with.property('code', 'InvalidOption');
    expect((failed as Error).message).to.contain(folder);
  });
});

/** Returns true if a client that trusts only `ca` can connect. */
async function trusts(port: number | undefined, ca: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, ca });
  try {
    await once(socket, 'secureConnect');
    const peer: PeerCertificate = socket.getPeerCertificate();
    return peer.subject.CN === 'localhost';
  } catch {
    return false; // The client does not trust the certificate.
  } finally {
    socket.destroy();
  }
}

/** Waits until a started read of files has ended. */
async function readOnce(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await readOnce();
}

/** Posts a review over a connection of its own and returns the status. */
async function postOnce(url: string, ca: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca } });
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(review({}));
  const answer = await request(`${url}${path}`, { method: 'POST', headers, body, dispatcher });
  await answer.body.dump();
  await dispatcher.destroy();
  return answer.statusCode;
}
