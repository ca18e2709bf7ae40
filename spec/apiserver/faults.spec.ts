import { expect } from 'chai';
import { EmbeddedApiServer } from '../../lib/apiserver/index.js';
import type { FaultRule } from '../../lib/apiserver/internal.js';
import { createClient } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { eventually } from '../../lib/testing/index.js';
import { configMap } from './controllers/workload-objects.js';

describe('faults that drop or repeat watch events', () => {
  const server = new EmbeddedApiServer();
  const client = createClient({ transport: server.transport() });
  const watched = new AbortController();

  after(async () => {
    watched.abort();
    await client.close();
    await server.stop();
  });

  it('apply to the events of the objects that match, also on open watches', async () => {
    const names: string[] = [];
    const events = client.watch(ConfigMap, { signal: watched.signal });
    const { faults } = server;
    const lost = faults.add({ match: { name: 'lost' }, effect: { type: 'dropEvent' } });
    const twice = faults.add({
      match: { resource: 'configmaps', name: 'twice', namespace: 'default' },
      effect: { type: 'duplicateEvent' },
      times: 1,
    });
    const seen = (async () => {
      for await (const event of events) {
        if (event.type === 'BOOKMARK') continue;
        names.push(event.object.metadata.name ?? '');
        if (names.at(-1) === 'last') return;
      }
    })();
    await eventually(() => expect(server.openWatches).to.equal(1));
    for (const name of ['lost', 'twice', 'last']) await client.create(configMap(name));
    await seen;
    expect(names).to.deep.equal(['twice', 'twice', 'last']);
    expect([lost.struck, twice.struck]).to.deep.equal([1, 1]);
    expect(faults.active.map(({ rule }) => rule.match?.name)).to.deep.equal(['lost', 'twice']);
    expect(faults.notStruck).to.deep.equal([]);
  });
});

describe('faults that break the connection after the request', () => {
  it('leave no watch open', async () => {
    const server = new EmbeddedApiServer();
    server.faults.add({ match: { verb: 'watch' }, effect: { type: 'reset', when: 'after' } });
    const path = '/api/v1/configmaps?watch=true';
    const code = await server.handle({ method: 'GET', path, headers: {} }).then(
      () => 'none',
      (error: unknown) => (error as { code: string }).code,
    );
    expect([code, server.openWatches]).to.deep.equal(['ConnectionFailed', 0]);
    await server.stop();
  });
});

describe('faults that delay a request', () => {
  it('end when the request times out in the client, and the server does not carry out the request', async () => {
    const clock = new VirtualClock();
    const server = new EmbeddedApiServer({ clock });
    const client = createClient({ transport: server.transport(), clock, requestTimeoutMs: 1_000 });
    const slow = server.faults.add({ effect: { type: 'latency', ms: 5_000 } });
    const created = client.create(configMap('slow')).catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await created).to.have.property('code', 'Timeout');
    expect(slow.struck).to.equal(1);
    server.faults.clear();
    expect(
      (await client.list(ConfigMap)).items.map(({ metadata }) => metadata.name),
    ).not.to.include('slow');
    await client.close();
    await server.stop();
  });
});

describe('rules of faults', () => {
  for (const probability of [0, 1]) {
    it(`accept the probability ${probability}`, () => {
      const { faults } = new EmbeddedApiServer();
      faults.add({ effect: { type: 'dropEvent' }, probability });
      expect(faults.active.map(({ rule }) => rule.probability)).to.deep.equal([probability]);
    });
  }

  for (const [rule, problem] of [
    [{ effect: { type: 'explode' } }, 'want effect.type to be one of status, latency'],
    [{}, 'want effect.type to be one of'],
    [{ effect: { type: 'status', code: 200 } }, 'want effect.code to be 400 to 599, got 200'],
    [
      { effect: { type: 'status', code: 429, retryAfterSeconds: 1.5 } },
      'want effect.retryAfterSeconds to be an integer, at least 0, got 1.5',
    ],
    [{ effect: { type: 'latency', ms: '5' } }, 'want effect.ms to be a number, at least 0'],
    [{ effect: { type: 'latency' } }, 'want effect.ms to be a number, at least 0'],
    [{ effect: { type: 'reset' } }, 'want effect.when to be before or after, got undefined'],
    [{ effect: { type: 'dropEvent', ms: 1 } }, 'fault.effect: unknown option "ms"'],
    [{ effect: { type: 'dropEvent' }, times: 0 }, 'want times to be an integer, at least 1, got 0'],
    [{ effect: { type: 'dropEvent' }, probability: 2 }, 'want probability to be 0 to 1, got 2'],
    [
      { effect: { type: 'dropEvent' }, match: { verb: 1 } },
      'want match.verb to be a string, got 1',
    ],
    [
      { effect: { type: 'dropEvent' }, match: { kind: 'Pod' } },
      'fault.match: unknown option "kind"',
    ],
  ] as const) {
    it(`refuse ${JSON.stringify(rule)}`, () => {
      const add = (): unknown => new EmbeddedApiServer().faults.add(rule as unknown as FaultRule);
      expect(add).to.throw(problem).with.property('code', 'InvalidOption');
    });
  }
});
