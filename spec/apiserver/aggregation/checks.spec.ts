import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { OperatorError } from '../../../lib/system/operator-error.js';
import type { TransportRequest, TransportResponse } from '../../../lib/system/transport.js';
import { eventually } from '../../cluster/control-plane/eventually.js';
import { responseOf } from '../admission/webhook-api.js';
import { Api } from '../api.js';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const group = 'flunders.example.com';
const name = `v1.${group}`;
const registration = {
  metadata: { name },
  spec: {
    ...{ group, version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10 },
    service: { namespace: 'default', name: 'flunders' },
  },
};

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly versions: readonly { readonly resources?: readonly { readonly resource: string }[] }[];
  }[];
}

type Handler = (request: TransportRequest) => Promise<TransportResponse>;

const conditionOf = async (api: Api): Promise<readonly string[]> => {
  const { body } = await api.get(`${apiServices}/${name}`);
  const { status } = body as unknown as {
    status: { conditions?: { reason: string; message: string }[] };
  };
  const [condition] = status.conditions ?? [];
  if (condition === undefined) throw new Error('no condition');
  return [condition.reason, condition.message];
};

/** Registers an extension server at this target. */
const registered = async (target: string | Handler): Promise<Api> => {
  const api = new Api({ services: { 'default/flunders': target } });
  await api.create(apiServices, registration);
  return api;
};

/** Returns a promise that rejects with any value, as handlers in JavaScript can. */
const rejected = (value: unknown): Promise<TransportResponse> => {
  const error = value as Error;
  return Promise.reject(error);
};

const never = (): Promise<TransportResponse> => new Promise(() => undefined);

describe('the availability check of an extension server', () => {
  const url = `https://flunders.default.svc:443/apis/${group}/v1`;
  const failure = `failing or missing response from ${url}: Get "${url}": `;

  for (const [title, thrown, message] of [
    ['undefined', undefined, `${failure}undefined was thrown, not an error`],
    ['null', null, `${failure}null was thrown, not an error`],
    ['a text', 'broken', `${failure}broken`],
    ['an invalid list of errors', { errors: 1 }, undefined],
  ] as const) {
    it(`fails when a handler rejects with ${title}, and the next check can succeed`, async () => {
      let succeeds = false;
      const api = await registered(async () => {
        if (succeeds) return responseOf(200, '{}');
        return rejected(thrown);
      });
      await eventually(async () => {
        const [reason, text] = await conditionOf(api);
        expect(reason).to.equal('FailedDiscoveryCheck');
        if (message !== undefined) expect(text).to.equal(message);
      });
      succeeds = true;
      await api.clock.advance(30_000);
      await eventually(async () => expect((await conditionOf(api))[0]).to.equal('Passed'));
      await api.server.stop();
    });
  }

  it('updates the resources of the group in the discovery documents', async () => {
    const resources = [{ name: 'flunders', kind: 'Flunder', namespaced: true, verbs: ['get'] }];
    const api = await registered(async () => responseOf(200, JSON.stringify({ resources })));
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const discovered = async (): Promise<string[] | undefined> => {
      const { items } = (await api.get('/apis', { accept })).body as unknown as Discovery;
      const found = items.find(({ metadata }) => metadata.name === group);
      return found?.versions[0]?.resources?.map(({ resource }) => resource);
    };
    await eventually(async () => expect(await discovered()).to.deep.equal(['flunders']));
    resources.push({ ...resources[0]!, name: 'fischers', kind: 'Fischer' });
    await api.clock.advance(30_000);
    await eventually(async () => {
      expect(await discovered()).to.deep.equal(['flunders', 'fischers']);
    });
    await api.server.stop();
  });

  it('fails after 5 seconds without an answer from a handler', async () => {
    const api = await registered(never);
    await api.clock.advance(5_000);
    await eventually(async () => {
      const message = `${failure}context deadline exceeded`;
      expect(await conditionOf(api)).to.deep.equal(['FailedDiscoveryCheck', message]);
    });
    await api.server.stop();
  });

  it('fails when the body of a handler does not end', async () => {
    let isRead = false;
    const body = (async function* () {
      isRead = true;
      yield await new Promise<Uint8Array>(() => undefined);
    })();
    const api = await registered(async () => ({ status: 200, headers: {}, body }));
    await eventually(async () => expect(isRead).to.equal(true));
    await api.clock.advance(5_000);
    await eventually(async () => {
      expect((await conditionOf(api))[1]).to.contain('context deadline exceeded');
    });
    await api.server.stop();
  });

  it('fails when the body exceeds 16 MiB', async () => {
    let sent = 0;
    const api = await registered(async () => ({
      ...{ status: 200, headers: {} },
      body: (async function* () {
        for (;;) {
          sent++;
          yield new Uint8Array(1024 * 1024).fill(32);
        }
      })(),
    }));
    await eventually(async () => {
      expect((await conditionOf(api))[1]).to.contain('response exceeds 16777216 bytes');
    });
    expect(sent).to.equal(17);
    await api.server.stop();
  });

  it('ends when the server stops, without another request', async () => {
    const paths: string[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const answers: ((response: TransportResponse) => void)[] = [];
    const api = await registered(({ path, signal }) => {
      paths.push(path);
      signals.push(signal);
      return new Promise((resolve) => answers.push(resolve));
    });
    await eventually(async () => expect(answers).to.have.length(1));
    const { resourceVersion } = api.server;
    await api.server.stop();
    expect(signals[0]?.aborted).to.equal(true);
    answers[0]?.(responseOf(200, '{}'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(paths).to.deep.equal([`/apis/${group}/v1`]);
    expect(api.server.resourceVersion).to.equal(resourceVersion);
    expect(api.clock.pendingTimers).to.equal(0);
  });

  it('ends when its APIService is deleted', async () => {
    let signal: AbortSignal | undefined;
    const api = await registered((request) => {
      signal = request.signal;
      return never();
    });
    await eventually(async () => expect(signal?.aborted).to.equal(false));
    await api.call('DELETE', `${apiServices}/${name}`);
    expect(signal?.aborted).to.equal(true);
    await eventually(async () => expect(api.clock.pendingTimers).to.equal(0));
    await api.server.stop();
  });

  it('closes its connection when the server stops', async () => {
    const sockets: Socket[] = [];
    const closed: Socket[] = [];
    const silent = createServer((socket) => {
      sockets.push(socket);
      // Node.js reports the end of a connection only if the socket is read.
      socket
        .resume()
        .on('error', () => undefined)
        .on('close', () => closed.push(socket));
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const api = await registered(`http://127.0.0.1:${port}`);
    await eventually(async () => expect(sockets).to.have.length(1));
    await api.server.stop();
    await eventually(async () => expect(closed).to.have.length(1));
    await new Promise((resolve) => silent.close(resolve));
  });

  it('begins again when the Service names another host', async () => {
    const api = new Api();
    const merge = 'application/merge-patch+json';
    const service = (externalName: string) => ({
      metadata: { name: 'flunders' },
      spec: { type: 'ExternalName', externalName, ports: [{ port: 1 }] },
    });
    await api.create('/api/v1/namespaces/default/services', service('127.0.0.1'));
    const spec = { ...registration.spec, service: { ...registration.spec.service, port: 1 } };
    await api.create(apiServices, { ...registration, spec });
    const refuses = (host: string) =>
      eventually(async () => expect((await conditionOf(api))[1]).to.contain(`tcp ${host}:1`));
    await refuses('127.0.0.1');
    await api.call(
      'PATCH',
      '/api/v1/namespaces/default/services/flunders',
      service('127.0.0.2'),
      merge,
    );
    await refuses('127.0.0.2');
    await api.server.stop();
  });

  it('does not begin if the server stops at once after its start', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const api = await registered(`https://127.0.0.1:${port}`);
    await api.server.stop();
    await new Promise((resolve) => silent.close(resolve));
    expect(sockets).to.deep.equal([]);
  });
});

describe('an APIService of the group apiregistration.k8s.io', () => {
  it('never takes requests for APIServices away from the server', async () => {
    const api = new Api({ services: { 'default/flunders': async () => responseOf(200, '{}') } });
    const own = `${apiServices}/v1.apiregistration.k8s.io`;
    await api.call('DELETE', own);
    const spec = { ...registration.spec, group: 'apiregistration.k8s.io' };
    await api.call('POST', apiServices, { metadata: { name: 'v1.apiregistration.k8s.io' }, spec });
    const { body } = await api.get(own);
    expect(body.kind).to.equal('APIService');
    await api.server.stop();
  });
});

describe('a request to a handler of an extension server', () => {
  const forwarded = async (thing: Handler): Promise<Api> => {
    const api = await registered((request) =>
      request.path.includes('/things') ? thing(request) : Promise.resolve(responseOf(200, '{}')),
    );
    await eventually(async () => expect((await conditionOf(api))[0]).to.equal('Passed'));
    return api;
  };
  const things = `/apis/${group}/v1/things`;
  const caught = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => error);

  it('is answered 503 when the handler rejects with undefined', async () => {
    const api = await forwarded(async () => {
      return rejected(undefined);
    });
    const { code, text } = await api.get(things);
    const message = 'error trying to reach service: undefined was thrown, not an error\n';
    expect([code, text]).to.deep.equal([503, message]);
    await api.server.stop();
  });

  it('fails with Aborted when its caller aborts it', async () => {
    const api = await forwarded(never);
    const abort = new AbortController();
    const request = { method: 'GET', path: things, headers: {}, signal: abort.signal } as const;
    const ended = caught(api.server.transport().request(request));
    abort.abort();
    const error = await ended;
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as OperatorError).code).to.equal('Aborted');
    await api.server.stop();
  });

  it('is answered 504 when the response does not begin within a minute, unless it is a watch', async () => {
    const api = await forwarded(never);
    const answers: number[] = [];
    const listed = api.get(things);
    const watched = caught(api.raw({ path: `${things}?watch=true` }));
    void watched.then(() => answers.push(0));
    await api.clock.advance(60_000);
    const { code, body } = await listed;
    expect([code, body]).to.have.deep.members([504, { ...body, reason: 'Timeout', code: 504 }]);
    expect(answers).to.deep.equal([]);
    await api.server.stop();
    expect(((await watched) as OperatorError).code).to.equal('Stopped');
  });

  it('fails with Stopped when the server stops', async () => {
    const api = await forwarded(never);
    const ended = caught(api.raw({ path: things }));
    await api.server.stop();
    expect(((await ended) as OperatorError).code).to.equal('Stopped');
  });

  it('has a response body that ends when the server stops or the caller aborts the request', async () => {
    const first = new TextEncoder().encode('{}\n');
    const api = await forwarded(async () => ({
      ...{ status: 200, headers: {} },
      body: (async function* () {
        yield first;
        yield await new Promise<Uint8Array>(() => undefined);
      })(),
    }));
    for (const [code, end] of [
      ['Aborted', (abort: AbortController) => abort.abort()],
      ['Stopped', () => api.server.stop()],
    ] as const) {
      const abort = new AbortController();
      const { body } = await api.raw({ path: `${things}?watch=true`, signal: abort.signal });
      const chunks = body[Symbol.asyncIterator]();
      expect((await chunks.next()).value).to.equal(first);
      const next = caught(chunks.next());
      await end(abort);
      expect(((await next) as OperatorError).code).to.equal(code);
    }
  });
});
