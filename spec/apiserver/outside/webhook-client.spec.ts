import { expect } from 'chai';
import { Connections, isBundle } from '../../../lib/apiserver/outside/connections.js';
import { WebhookClient } from '../../../lib/apiserver/outside/webhook-client.js';
import type { WebhookAddress } from '../../../lib/apiserver/outside/webhook-client.js';
import type { RequestHandler } from '../../../lib/apiserver/http-adapter.js';
import { systemClock } from '../../../lib/system/clock.js';
import { responseOf } from '../admission/webhook-api.js';

const service = { namespace: 'default', name: 'hook' };

/** Calls a webhook in this process. @returns its answer, or the failure without the address */
async function answerOf(handler: RequestHandler): Promise<unknown> {
  const client = new WebhookClient(new Connections({ 'default/hook': handler }), systemClock);
  const answer = await client.call({ address: { service }, body: {}, timeoutMs: 10_000 });
  if (!('failure' in answer)) return answer.body;
  return answer.failure.replace('Post "https://hook.default.svc:443/?timeout=10s": ', '');
}

function says(status: number, text: string, type = ''): Promise<unknown> {
  const headers = { 'content-type': type };
  return answerOf(async () => ({ ...responseOf(status, text), headers }));
}

describe('the response of a webhook', () => {
  const unparsed = "couldn't get version/kind; json parse error: ";
  const members =
    'APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\""';
  const into = `Go value of type struct { ${members} }`;
  const unspecified = (status: number): string =>
    `the server responded with the status code ${status} but did not return more information`;
  const status = (fields: object): string => JSON.stringify({ kind: 'Status', ...fields });
  const cases: readonly (readonly [status: number, text: string, type: string, answer: unknown])[] =
    [
      [200, '{"kind":"Review"}', '', { kind: 'Review' }],
      [206, 'null', '', null],
      [200, '{"apiVersion":null,"kind":null}', '', { apiVersion: null, kind: null }],
      [
        200,
        '',
        'text/plain',
        '0-length response with status code: 200 and content type: text/plain',
      ],
      [200, 'no <json>', '', `${unparsed}the body is not JSON: "no <json>"`],
      [200, '[]', '', `${unparsed}json: cannot unmarshal array into ${into}`],
      [200, '1', '', `${unparsed}json: cannot unmarshal number into ${into}`],
      [
        200,
        '{"kind":1}',
        '',
        `${unparsed}json: cannot unmarshal number into Go struct field .kind of type string`,
      ],
      [
        ...([200, '{"apiVersion":{},"kind":1}', ''] as const),
        `${unparsed}json: cannot unmarshal object into Go struct field .apiVersion of type string`,
      ],
      [199, 'x', '', unspecified(199)],
      [207, '{"kind":"Review"}', '', unspecified(207)],
      [302, '', '', unspecified(302)],
      [400, '', '', 'the server rejected our request for an unknown reason'],
      [401, '', '', 'the server has asked for the client to provide credentials'],
      [403, ' no access\n', 'text/plain', 'forbidden: no access'],
      [403, 'no access', '', 'forbidden: no access'],
      [403, '<p>', 'application/html', 'forbidden: unknown'],
      [404, '', '', 'the server could not find the requested resource'],
      [405, '', '', 'the server does not allow this method on the requested resource'],
      [
        429,
        '',
        '',
        'the server has received too many requests and has asked us to try again later',
      ],
      [
        500,
        'a "b"',
        'text/plain',
        'an error on the server ("a \\"b\\"") has prevented the request from succeeding',
      ],
      [503, '', '', 'the server is currently unable to handle the request'],
      [
        ...([504, '', ''] as const),
        'the server was unable to return a response in the time allotted, but may still be processing the request',
      ],
      [500, status({ status: 'Failure', message: 'no room' }), '', 'no room'],
      [409, status({ message: 'no room' }), '', 'no room'],
      [409, status({ status: 'Success', message: 'no room' }), '', unspecified(409)],
      [409, status({ status: 'Failure' }), '', unspecified(409)],
      [409, '{"kind":"Other","message":"no room"}', '', unspecified(409)],
      [409, '{"kind":', '', unspecified(409)],
    ];
  for (const [code, text, type, answer] of cases) {
    it(`${code} with ${JSON.stringify(text)} of the type ${JSON.stringify(type)} is reported as by a real server`, async () => {
      expect(await says(code, text, type)).to.deep.equal(answer);
    });
  }

  it('is quoted in the error up to 1,000 characters', async () => {
    const answer = await says(200, 'x'.repeat(1_001));
    expect(answer).to.equal(`${unparsed}the body is not JSON: "${'x'.repeat(1_000)}"`);
  });

  it('may have a character whose bytes are in two chunks', async () => {
    const bytes = new TextEncoder().encode('{"kind":"é"}');
    const answer = await answerOf(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield bytes.slice(0, 10);
        yield bytes.slice(10);
      })(),
    }));
    expect(answer).to.deep.equal({ kind: 'é' });
  });
});

describe('a call of a webhook that cannot be reached', () => {
  const certificate = 'tls: failed to verify certificate: x509: ';
  const cert = (subjectaltname?: string) => ({
    cert: { subjectaltname },
    host: 'hook.default.svc',
  });
  const refused = { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9443 };
  const wrong = 'ERR_TLS_CERT_ALTNAME_INVALID';
  const cases: readonly (readonly [error: object, failure: string])[] = [
    [refused, 'dial tcp 127.0.0.1:9443: connect: connection refused'],
    [{ code: 'ENOTFOUND', hostname: 'hook' }, 'dial tcp: lookup hook: no such host'],
    [{ code: 'ECONNRESET' }, 'EOF'],
    [{ code: 'EPROTO' }, 'http: server gave HTTP response to HTTPS client'],
    [{ code: 'EOTHER' }, 'it broke'],
    ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'].map((code) => {
      return [{ code }, `${certificate}certificate has expired or is not yet valid`] as const;
    }),
    ...[
      ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
      ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ].map((code) => [{ code }, `${certificate}certificate signed by unknown authority`] as const),
    [
      { code: wrong, ...cert('DNS:a.svc, IP Address:127.0.0.1, DNS:b.svc') },
      `${certificate}certificate is valid for a.svc, b.svc, not hook.default.svc`,
    ],
    ...[cert('IP Address:127.0.0.1'), cert(), { host: 'hook.default.svc' }].map((given) => {
      const why = 'certificate is not valid for any names, but wanted to match hook.default.svc';
      return [{ code: wrong, ...given }, certificate + why] as const;
    }),
  ];
  for (const [error, failure] of cases) {
    it(`fails with the message of a real server for ${JSON.stringify(error)}`, async () => {
      const failed = Object.assign(new Error('it broke'), error);
      expect(await answerOf(() => Promise.reject(failed))).to.equal(failure);
    });
  }

  const addresses: readonly (readonly [address: WebhookAddress, failure: string])[] = [
    [
      { service: { ...service, name: 'other', path: '//a/../b/', port: 8443 } },
      'Post "https://other.default.svc:8443/b?timeout=0.5s": service "other" not found',
    ],
    [
      { service: { ...service, namespace: 'toString' } },
      'Post "https://hook.toString.svc:443/?timeout=0.5s": service "hook" not found',
    ],
    [
      { url: 'http://127.0.0.1:1/a//b/' },
      'Post "http://127.0.0.1:1/a/b?timeout=0.5s": dial tcp 127.0.0.1:1: connect: connection refused',
    ],
  ];
  for (const [address, failure] of addresses) {
    it(`names the URL of ${JSON.stringify(address)} in its error`, async () => {
      const client = new WebhookClient(new Connections({}), systemClock);
      expect(await client.call({ address, body: {}, timeoutMs: 500 })).to.deep.equal({ failure });
    });
  }

  it('fails if the server stops during or before the call', async () => {
    const connections = new Connections({ 'default/hook': () => new Promise(() => undefined) });
    const client = new WebhookClient(connections, systemClock);
    const call = () => client.call({ address: { service }, body: {}, timeoutMs: 60_000 });
    const called = call();
    connections.close();
    const stopped = {
      failure:
        'Post "https://hook.default.svc:443/?timeout=60s": the embedded API server was stopped',
    };
    expect(await called).to.deep.equal(stopped);
    expect(await call()).to.deep.equal(stopped);
  });
});

describe('a caBundle', () => {
  it('is valid if it is empty, and invalid if it contains text that is not a certificate', () => {
    const text = Buffer.from('no certificate').toString('base64');
    expect([undefined, '', text].map(isBundle)).to.deep.equal([true, true, false]);
  });
});

describe('the body of a webhook response', () => {
  it('is closed if it fails, ends, or is not read to its end', async () => {
    const closed: string[] = [];
    const body = (name: string, next: () => Promise<IteratorResult<Uint8Array>>) => ({
      [Symbol.asyncIterator]: () => ({
        next,
        return: () => {
          closed.push(name);
          return Promise.reject(new Error('cannot close'));
        },
      }),
    });
    const connections = new Connections({});
    const read = (name: string, next: () => Promise<IteratorResult<Uint8Array>>) =>
      connections.start().read(body(name, next));
    const failing = read('failing', () => Promise.reject(new Error('broken')));
    expect(await failing.next().catch((error: unknown) => (error as Error).message)).to.equal(
      'broken',
    );
    await read('ended', () => Promise.resolve({ done: true, value: undefined })).next();
    const stuck = read('stuck', () => new Promise(() => undefined));
    const next = stuck.next().catch((error: unknown) => (error as Error).message);
    await stuck.return?.();
    expect(await next).to.equal('aborted');
    expect(closed).to.include.members(['failing', 'ended', 'stuck']);
  });
});
