import { expect } from 'chai';
import { EmbeddedApiServer } from '../../lib/apiserver/internal.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { Api, configMap, configMaps, deployment, deployments, merge } from './api.js';

function errorCode(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error: unknown) => (isOperatorError(error) ? error.code : String(error)),
  );
}

describe('EmbeddedApiServer', () => {
  it('gives the same responses with the same clock and random numbers', async () => {
    const run = async (): Promise<string> => {
      const api = new Api();
      await api.create(configMaps, { metadata: { generateName: 'a-' } });
      await api.create(deployments, deployment('web'));
      return (await api.get(configMaps)).text + (await api.get(deployments)).text;
    };
    expect(await run()).to.equal(await run());
  });

  it('starts each server of a process with the same objects, but with uids, times and versions of their own', () => {
    const stored = (seed: number): UnstructuredObject[] => {
      const clock = new VirtualClock(Date.UTC(2026, 0, seed));
      const { server } = new Api({ clock, random: seededRandom(seed), firstResourceVersion: seed });
      const objects = [...server.snapshot().collections.values()].flatMap((all) => [
        ...all.values(),
      ]);
      expect(new Set(objects.map(({ metadata }) => metadata.uid)).size).to.equal(objects.length);
      for (const object of objects) {
        const { creationTimestamp, resourceVersion } = object.metadata;
        expect(creationTimestamp).to.equal(`2026-01-0${seed}T00:00:00Z`);
        expect(Number(resourceVersion)).to.be.within(seed + 1, Number(server.resourceVersion));
      }
      return objects;
    };
    const [first, second] = [stored(1), stored(2)];
    const uids = new Set(first.map(({ metadata }) => metadata.uid));
    expect(second.filter(({ metadata }) => uids.has(metadata.uid))).to.deep.equal([]);
    const normalised = (objects: UnstructuredObject[], seed: number): string =>
      JSON.stringify(
        objects.map(({ metadata, ...rest }) => {
          const version = Number(metadata.resourceVersion) - seed;
          return { ...rest, metadata: { ...metadata, uid: '', resourceVersion: version } };
        }),
      ).replaceAll(`2026-01-0${seed}T`, 'T');
    expect(normalised(second, 2)).to.equal(normalised(first, 1));
  });

  it('starts within 150 ms of CPU time', () => {
    new EmbeddedApiServer();
    const before = process.cpuUsage();
    new EmbeddedApiServer();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.lessThan(150);
  });

  it('authenticates users by their tokens', async () => {
    const api = new Api({ users: { secret: 'jane' } });
    const asked = (authorization?: string): Promise<number> => {
      const headers = authorization === undefined ? {} : { authorization };
      return api.get(configMaps, headers).then(({ code }) => code);
    };
    expect(await asked()).to.equal(200);
    expect(await asked('Bearer secret')).to.equal(200);
    expect(await asked('Bearer wrong')).to.equal(401);
    expect(api.server.requests.entries.map(({ user, code }) => [user, code])).to.deep.equal([
      ['system:admin', 200],
      ['jane', 200],
      ['system:anonymous', 401],
    ]);
  });

  it('records its requests', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const mark = api.server.requests.mark();
    await api.get(configMaps);
    await api.get(`${configMaps}/nope`);
    await api.call('PATCH', `${configMaps}/a`, { data: { x: 'y' } }, merge);
    await api.create(deployments, deployment('web'));
    await api.call('PATCH', `${deployments}/web/status`, { status: { replicas: 1 } }, merge);
    const { requests } = api.server;
    expect([requests.writes, requests.reads]).to.deep.equal([4, 2]);
    expect(requests.since(mark).byVerbAndResource()).to.deep.equal({
      'list configmaps': 1,
      'get configmaps': 1,
      'patch configmaps': 1,
      'create deployments': 1,
      'patch deployments/status': 1,
    });
    expect(requests.entries[2]).to.deep.equal({
      verb: 'get',
      group: '',
      resource: 'configmaps',
      subresource: undefined,
      namespace: 'default',
      name: 'nope',
      user: 'system:admin',
      code: 404,
    });
  });

  it('discards old requests from its log', async () => {
    const api = new Api({ requestLogLength: 10 });
    for (let index = 0; index < 100; index++) await api.get(configMaps);
    expect(api.server.requests.entries.length).to.be.within(10, 20);
  });

  it('refuses requests after it stops', async () => {
    const api = new Api();
    const watch = await api.watch(`${configMaps}?watch=1`);
    const next = watch.next();
    await api.server.stop();
    expect(await next).to.equal(undefined);
    expect(await errorCode(api.get(configMaps))).to.equal('Stopped');
  });

  it('refuses options out of range', () => {
    for (const options of [
      ...[{ logLength: 0 }, { requestLogLength: -1 }, { logLength: 1.5 }],
      { firstResourceVersion: 0 },
    ]) {
      expect(() => new EmbeddedApiServer(options))
        .to.throw()
        .with.property('code', 'InvalidOption');
    }
  });
});

describe('injected faults', () => {
  it('return an error as often as configured', async () => {
    const api = new Api();
    const effect = { type: 'status', code: 429, retryAfterSeconds: 3 } as const;
    const fault = api.server.faults.add({ match: { verb: 'create' }, effect, times: 1 });
    const answer = await api.call('POST', configMaps, configMap('a'));
    expect([answer.code, answer.headers['retry-after']]).to.deep.equal([429, '3']);
    expect(answer.body['reason']).to.equal('TooManyRequests');
    await api.create(configMaps, configMap('a'));
    expect(fault.struck).to.equal(1);
  });

  it('apply only to matching requests, until they are removed', async () => {
    const api = new Api();
    const match = { resource: 'configmaps', name: 'b', user: 'system:admin' };
    const fault = api.server.faults.add({ match, effect: { type: 'status', code: 500 } });
    expect((await api.get(`${configMaps}/a`)).code).to.equal(404);
    expect((await api.get(`${configMaps}/b`)).code).to.equal(500);
    fault.remove();
    expect((await api.get(`${configMaps}/b`)).code).to.equal(404);
  });

  it('reset the connection before or after the request is processed', async () => {
    const api = new Api();
    for (const [when, count] of [
      ['before', 0],
      ['after', 1],
    ] as const) {
      const fault = api.server.faults.add({ effect: { type: 'reset', when } });
      const code = await errorCode(api.call('POST', configMaps, configMap('a')));
      fault.remove();
      expect(code).to.equal('ConnectionFailed');
      expect((await api.get(configMaps)).body.items).to.have.length(count);
    }
  });

  it('delay responses by the clock', async () => {
    const api = new Api();
    api.server.faults.add({ effect: { type: 'latency', ms: 500 } });
    let done = false;
    const answer = api.get(configMaps).then(() => (done = true));
    await api.clock.advance(499);
    expect(done).to.equal(false);
    await api.clock.advance(1);
    await answer;
  });

  it('apply with a probability', async () => {
    const api = new Api();
    const fault = api.server.faults.add({
      effect: { type: 'status', code: 503 },
      probability: 0.5,
    });
    for (let index = 0; index < 100; index++) await api.get(configMaps);
    expect(fault.struck).to.be.within(30, 70);
  });
});
