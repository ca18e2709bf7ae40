import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Client, Credentials } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { ConnectionError, OperatorError } from '../../lib/system/operator-error.js';
import { silentLogger } from '../../lib/system/logger.js';
import type { LogFields } from '../../lib/system/logger.js';
import { noMetrics } from '../../lib/system/metrics.js';
import type { MetricLabels, Metrics } from '../../lib/system/metrics.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';
import type { Script } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web' };
const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key } };
const versioned: ConfigMap = { ...configMap, metadata: { ...key, resourceVersion: '7' } };

const get = (client: Client, signal?: AbortSignal): Promise<ConfigMap> =>
  client.get(ConfigMap, key, { signal });

const reset = (): Error => new ConnectionError('other side closed', { requestSent: true });

/** Fails `failures` times, then responds with a ConfigMap. */
const failing =
  (failures: number, failure: Script): Script =>
  (request, nth) =>
    nth <= failures ? failure(request, nth) : { json: configMap };

describe('every request', () => {
  it('sends user agent and accepted encodings', async () => {
    const { client, transport } = scripted(() => ({ json: configMap }), { userAgent: 'me/1' });
    await get(client);
    expect(transport.requests[0]?.headers).to.deep.equal({
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'me/1',
    });
  });

  it('decompresses a compressed response', async () => {
    const packed = gzipSync(JSON.stringify(configMap));
    const headers = { 'content-encoding': 'gzip' };
    const chunks = [packed.subarray(0, 20), packed.subarray(20)];
    const { client } = scripted(() => ({ headers, chunks }));
    expect(await get(client)).to.deep.equal(configMap);
  });

  it('fails when the compressed response is corrupt', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const { client } = scripted(() => ({ headers, text: 'no gzip' }), {
      retries: { maxResets: 0 },
    });
    expect(await failureOf(get(client))).to.have.property('code', 'ConnectionFailed');
  });

  it('sends no accept-encoding when compression is disabled', async () => {
    const { client, transport } = scripted(() => ({ json: configMap }), { compression: false });
    await get(client);
    expect(transport.requests[0]?.headers).not.to.have.property('accept-encoding');
  });

  it('is not sent when its signal is aborted', async () => {
    const { client, transport } = scripted(() => ({ json: configMap }));
    const error = await failureOf(get(client, AbortSignal.abort(new Error('enough'))));
    expect(error).to.include({ code: 'Aborted', message: 'get ConfigMap shop/web: aborted' });
    expect(transport.requests).to.have.length(0);
  });
});

describe('credentials', () => {
  const renewable = (): Credentials & { refreshes: number } => {
    const credentials = {
      refreshes: 0,
      headers: () => ({ authorization: `Bearer ${credentials.refreshes}` }),
      refresh: async () => {
        credentials.refreshes += 1;
      },
    };
    return credentials;
  };

  it('are read for every request, and renewed once on a 401', async () => {
    const credentials = renewable();
    const script = failing(1, () => refusal(401, 'Unauthorized'));
    const { client, transport } = scripted(script, { credentials });
    await get(client);
    await get(client);
    const sent = transport.requests.map(({ headers }) => headers['authorization']);
    expect(sent).to.deep.equal(['Bearer 0', 'Bearer 1', 'Bearer 1']);
  });

  it('are not renewed again for a request that was sent with the old ones', async () => {
    const credentials = renewable();
    const { client } = scripted(
      ({ headers }) =>
        headers['authorization'] === 'Bearer 0'
          ? refusal(401, 'Unauthorized')
          : { json: configMap },
      { credentials },
    );
    await Promise.all([1, 2, 3].map(() => get(client)));
    expect(credentials.refreshes).to.equal(1);
  });

  it('are renewed only once per request', async () => {
    const credentials = renewable();
    const { client, transport } = scripted(() => refusal(401, 'Unauthorized'), { credentials });
    const error = await failureOf(client.create(configMap));
    expect(error).to.have.property('status', 401);
    expect(error.message).to.contain('check the credentials');
    expect(transport.requests).to.have.length(2);
  });

  it('can come from a promise of another JavaScript realm', async () => {
    const headers = runInNewContext(`Promise.resolve({ authorization: 'Bearer a' })`) as Promise<
      Record<string, string>
    >;
    const { client, transport } = scripted(() => ({ json: configMap }), {
      credentials: { headers: () => headers },
    });
    await get(client);
    expect(transport.requests[0]?.headers).to.include({ authorization: 'Bearer a' });
  });

  it('fail the request after its timeout if their renewal never ends', async () => {
    const clock = new VirtualClock();
    const refresh = () => new Promise<void>(() => undefined);
    const credentials = { headers: () => ({}), refresh };
    const { client } = scripted(() => refusal(401, 'Unauthorized'), { credentials, clock });
    const failure = failureOf(get(client));
    await clock.advance(30_000);
    expect(await failure).to.have.property('code', 'Timeout');
    expect(clock.pendingTimers).to.equal(0);
  });

  it('fail the request with the error of their renewal', async () => {
    const broken = new OperatorError('InvalidKubeConfig', 'log in again');
    const credentials = { headers: () => ({}), refresh: () => Promise.reject(broken) };
    const { client } = scripted(() => refusal(401, 'Unauthorized'), { credentials });
    expect(await failureOf(get(client))).to.equal(broken);
  });

  it('fail the request after its timeout if they are never available', async () => {
    const clock = new VirtualClock();
    const credentials = { headers: () => new Promise<never>(() => undefined) };
    const { client } = scripted(() => ({ json: configMap }), { credentials, clock });
    const failure = failureOf(get(client));
    await clock.advance(30_000);
    expect(await failure).to.have.property('code', 'Timeout');
  });
});

describe('time limit', () => {
  const silent: Script = ({ signal }) =>
    new Promise((resolve) => {
      signal?.addEventListener('abort', () => resolve(new OperatorError('Aborted', 'aborted')));
    });

  it('ends a request without a response, after 30 s by default', async () => {
    const clock = new VirtualClock();
    const { client } = scripted(silent, { clock });
    const failure = failureOf(get(client));
    await clock.advance(29_999);
    expect(clock.pendingTimers).to.equal(1);
    await clock.advance(1);
    const error = await failure;
    expect(error).to.have.property('code', 'Timeout');
    expect(error.message).to.contain('get ConfigMap shop/web').and.to.contain('30000');
  });

  it('also ends a request that the transport copied and changed before it sent it', async () => {
    const clock = new VirtualClock();
    const { client } = scripted((request, nth) => silent({ ...request, headers: {} }, nth), {
      clock,
    });
    const failure = failureOf(get(client));
    await clock.advance(30_000);
    expect(await failure).to.have.property('code', 'Timeout');
  });

  it('leaves no timer or listener behind', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    let listeners = 0;
    const spied = Object.assign(signal, {
      addEventListener: () => void (listeners += 1),
      removeEventListener: () => void (listeners -= 1),
    });
    const { client } = scripted(failing(1, reset), { clock });
    await get(client, spied);
    expect({ listeners, timers: clock.pendingTimers }).to.deep.equal({ listeners: 0, timers: 0 });
  });

  it('distinguishes an abort by the caller from a timeout', async () => {
    const controller = new AbortController();
    const clock = new VirtualClock();
    const { client } = scripted(silent, { clock });
    const failure = failureOf(get(client, controller.signal));
    await clock.advance(0);
    controller.abort();
    expect(await failure).to.have.property('code', 'Aborted');
    expect(clock.pendingTimers).to.equal(0);
  });
});

describe('Retry-After', () => {
  const busy =
    (status: number, after: string): Script =>
    () => ({ ...refusal(status, 'TooManyRequests'), headers: { 'retry-after': after } });

  it('delays the retry after 429 and 503, for non-idempotent writes too', async () => {
    for (const status of [429, 503]) {
      const clock = new VirtualClock();
      const { client, transport } = scripted(failing(1, busy(status, '3')), { clock });
      const created = client.create(configMap);
      await clock.advance(2_999);
      expect(transport.requests).to.have.length(1);
      await clock.advance(1);
      expect(await created).to.deep.equal(configMap);
    }
  });

  it('can be a date', async () => {
    const clock = new VirtualClock();
    const after = new Date(clock.now() + 5_000).toUTCString();
    const { client, transport } = scripted(failing(1, busy(429, after)), { clock });
    const got = get(client);
    await clock.advance(4_999);
    expect(transport.requests).to.have.length(1);
    await clock.advance(1);
    await got;
  });

  it("is compared to the server's clock and not to the local clock if it is a date", async () => {
    for (const aheadMs of [18_000_000, -18_000_000]) {
      const clock = new VirtualClock();
      const serverMs = clock.now() + aheadMs;
      const headers = {
        date: new Date(serverMs).toUTCString(),
        'retry-after': new Date(serverMs + 5_000).toUTCString(),
      };
      const answer: Script = () => ({ ...refusal(429, 'TooManyRequests'), headers });
      const { client, transport } = scripted(failing(1, answer), { clock });
      const got = get(client);
      await clock.advance(4_999);
      expect(transport.requests).to.have.length(1);
      await clock.advance(1);
      await got;
    }
  });

  it('fails the request at once when it exceeds the limit', async () => {
    const { client } = scripted(busy(429, '31'));
    const error = await failureOf(get(client));
    expect(error).to.have.property('status', 429);
    expect(error).to.have.nested.property('context.retryAfterMs', 31_000);
  });

  it('is honoured ten times, then the error is thrown', async () => {
    const clock = new VirtualClock();
    const { client, transport } = scripted(busy(429, '1'), { clock });
    const failure = failureOf(get(client));
    await clock.advance(60_000);
    expect(await failure).to.have.property('status', 429);
    expect(transport.requests).to.have.length(11);
  });

  it('does not cause a retry of a 429 without the header, or of a 500 with the header', async () => {
    const bare = scripted(() => refusal(429, 'TooManyRequests'));
    expect(await failureOf(get(bare.client))).to.have.property('status', 429);
    const { client, transport } = scripted(busy(500, '1'));
    expect(await failureOf(get(client))).to.have.property('status', 500);
    expect([...bare.transport.requests, ...transport.requests]).to.have.length(2);
  });

  it('stops the wait when the signal of the call aborts', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const { client } = scripted(busy(429, '10'), { clock });
    const failure = failureOf(get(client, controller.signal));
    await clock.advance(1_000);
    controller.abort();
    expect(await failure).to.have.property('code', 'Aborted');
    expect(clock.pendingTimers).to.equal(0);
  });
});

describe('a broken connection', () => {
  const merge = (body: object) => ({ type: 'merge', body }) as const;
  const repeated: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
    ['get', (client) => get(client)],
    ['update with a resourceVersion', (client) => client.update(versioned)],
    ['apply', (client) => client.apply(configMap, { fieldManager: 'me' })],
    [
      'merge patch with a resourceVersion',
      (client) => client.patch(ConfigMap, key, merge({ metadata: { resourceVersion: '7' } })),
    ],
  ];
  const notRepeated: typeof repeated = [
    ['create', (client) => client.create(configMap)],
    ['update without a resourceVersion', (client) => client.update(configMap)],
    ['merge patch without a resourceVersion', (client) => client.patch(ConfigMap, key, merge({}))],
    ['JSON patch', (client) => client.patch(ConfigMap, key, { type: 'json', operations: [] })],
    ['delete', (client) => client.delete(ConfigMap, key)],
    ['deleteCollection', (client) => client.deleteCollection(ConfigMap, { namespace: 'shop' })],
  ];

  for (const [title, call] of repeated) {
    it(`is retried for this call: ${title}`, async () => {
      const { client, transport } = scripted(failing(1, reset));
      await call(client);
      expect(transport.requests).to.have.length(2);
      expect(transport.requests[0]?.body).to.equal(transport.requests[1]?.body);
    });
  }

  for (const [title, call] of notRepeated) {
    it(`fails this call without a retry: ${title}`, async () => {
      const { client, transport } = scripted(failing(1, reset));
      expect(await failureOf(call(client))).to.have.property('code', 'ConnectionFailed');
      expect(transport.requests).to.have.length(1);
    });
  }

  it('is retried at once, then with back-off, three times in all', async () => {
    const clock = new VirtualClock();
    const { client, transport } = scripted(reset, { clock });
    const failure = failureOf(get(client));
    await clock.advance(0);
    expect(transport.requests).to.have.length(2);
    await clock.advance(1_000);
    const error = await failure;
    expect(error.message).to.equal('get ConfigMap shop/web: other side closed');
    expect(transport.requests).to.have.length(4);
  });

  it('is retried too if it breaks within the body of a response', async () => {
    const half = { chunks: ['{"kind":', reset()] };
    const { client } = scripted(failing(1, () => half));
    expect(await get(client)).to.deep.equal(configMap);
  });

  it('fails the request at once when it was never established', async () => {
    const refused = () => new ConnectionError('ECONNREFUSED', { requestSent: false });
    const { client, transport } = scripted(refused);
    const error = await failureOf(get(client));
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: false });
    expect(transport.requests).to.have.length(1);
  });

  it('is not retried after an abort', async () => {
    const controller = new AbortController();
    const { client, transport } = scripted(() => {
      controller.abort();
      return reset();
    });
    expect(await failureOf(get(client, controller.signal))).to.have.property('code', 'Aborted');
    expect(transport.requests).to.have.length(1);
  });

  it('is the only error of the transport that is retried, and others are thrown', async () => {
    const stopped = new OperatorError('Stopped', 'closed');
    const { client, transport } = scripted(() => stopped);
    expect(await failureOf(get(client))).to.equal(stopped);
    expect(transport.requests).to.have.length(1);
  });
});

describe('the rate limit', () => {
  it('lets a burst of requests pass at once, and delays later requests', async () => {
    const clock = new VirtualClock();
    const rateLimit = { qps: 10, burst: 2 };
    const { client, transport } = scripted(() => ({ json: configMap }), { clock, rateLimit });
    const all = Promise.all([1, 2, 3, 4].map(() => get(client)));
    await clock.advance(99);
    expect(transport.requests).to.have.length(2);
    await clock.advance(1);
    expect(transport.requests).to.have.length(3);
    await clock.advance(100);
    await all;
  });
});

describe('metrics of requests', () => {
  /** Observations of a metric, by its name without `rest_client_`. */
  const observing = (): { readonly metrics: Metrics; readonly of: (name: string) => unknown[] } => {
    const seen: { name: string; value: number; labels: MetricLabels }[] = [];
    const note = ({ name }: { readonly name: string }, value: number, labels: MetricLabels = {}) =>
      void seen.push({ name: name.replace('rest_client_', ''), value, labels });
    const metrics: Metrics = {
      ...noMetrics,
      counter: (metric) => ({ add: (value = 1, labels) => note(metric, value, labels) }),
      histogram: (metric) => ({ observe: (value, labels) => note(metric, value, labels) }),
    };
    const of = (wanted: string): unknown[] =>
      seen.filter(({ name }) => name === wanted).map(({ value, labels }) => [value, labels]);
    return { metrics, of };
  };

  const byMethod = { method: 'GET', host: 'script:6443' };
  const byVerb = { verb: 'GET', host: 'script:6443' };

  it('count and time attempts by code, method and host, and count retries by code', async () => {
    const { metrics, of } = observing();
    const { client } = scripted(failing(1, reset), { metrics, clock: new VirtualClock() });
    await get(client);
    expect(of('requests_total')).to.deep.equal([
      [1, { code: '<error>', ...byMethod }],
      [1, { code: '200', ...byMethod }],
    ]);
    expect(of('request_retries_total')).to.deep.equal([[1, { code: '<error>', ...byVerb }]]);
    expect(of('request_duration_seconds')).to.deep.equal([
      [0, byVerb],
      [0, byVerb],
    ]);
  });

  it('count a retry after a refusal by the code of the refusal', async () => {
    const { metrics, of } = observing();
    const busy = () => ({ ...refusal(429, 'TooManyRequests'), headers: { 'retry-after': '1' } });
    const clock = new VirtualClock();
    const { client } = scripted(failing(1, busy), { metrics, clock });
    const got = get(client);
    await clock.advance(1_000);
    await got;
    expect(of('request_retries_total')).to.deep.equal([[1, { code: '429', ...byVerb }]]);
  });

  it('count bytes in both directions, and the wait for the rate limit', async () => {
    const { metrics, of } = observing();
    const clock = new VirtualClock();
    const script = () => ({ text: '{"ü":1}' });
    const rateLimit = { qps: 1, burst: 1 };
    const { client, transport } = scripted(script, { metrics, clock, rateLimit });
    await get(client);
    const second = client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ü', namespace: 'a' },
    });
    await clock.advance(1_000);
    await second;
    const { body = '' } = transport.requests[1] ?? {};
    const posted = { verb: 'POST', host: 'script:6443' };
    expect(of('request_size_bytes')).to.deep.equal([[Buffer.byteLength(body), posted]]);
    expect(of('response_size_bytes')).to.deep.equal([
      [8, byVerb],
      [8, posted],
    ]);
    expect(of('rate_limiter_duration_seconds')).to.deep.equal([
      [0, byVerb],
      [1, posted],
    ]);
  });
});

describe('warnings of the server', () => {
  it('are logged once each, with the request that caused them', async () => {
    const lines: [string, LogFields | undefined][] = [];
    const logger = {
      ...silentLogger,
      warn: (message: string, fields?: LogFields) => void lines.push([message, fields]),
    };
    const headers = { warning: '299 - "v1 is old", 299 - "say \\"please\\""' };
    const { client } = scripted(() => ({ json: configMap, headers }), { logger });
    await get(client);
    await get(client);
    const call = { verb: 'get', kind: 'ConfigMap', ...key };
    expect(lines).to.deep.equal([
      ['API server warns: v1 is old', call],
      ['API server warns: say "please"', call],
    ]);
  });
});
