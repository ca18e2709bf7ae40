import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { Interruption } from '../../../lib/testing/crash-points/crash-point.js';
import { OperatorLife, RequestTrace } from '../../../lib/testing/crash-points/operator-life.js';

const key = { namespace: 'ns', name: 'a' };
const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key } };
const patch = { type: 'merge', body: {} } as const;

async function* pagesOf(count: number) {
  for (let page = 1; page <= count; page++) {
    const more = page < count ? 'more' : '';
    yield { apiVersion: 'v1', kind: 'List', metadata: { continue: more }, items: [map] };
  }
}

/** A client that records what it sends, with the signal of each call. */
function recorded() {
  const sent: string[] = [];
  const signals: unknown[] = [];
  const call =
    (verb: string, optionsAt: number, answer: unknown = map) =>
    (...args: readonly unknown[]): Promise<unknown> => {
      sent.push(verb);
      signals.push((args[optionsAt] as { signal?: unknown } | undefined)?.signal);
      return Promise.resolve(answer);
    };
  const client = {
    resourceType: call('resourceType', 1, ConfigMap),
    get: call('get', 2),
    list: call('list', 1, { items: [] }),
    pages: () => pagesOf(2),
    watch: async function* (_type: unknown, { signal }: { signal?: unknown }) {
      signals.push(signal);
      yield { type: 'ADDED', object: map };
      yield { type: 'MODIFIED', object: map };
    },
    create: call('create', 1),
    update: call('update', 1),
    patch: call('patch', 3),
    apply: call('apply', 1, { object: map, created: true }),
    delete: call('delete', 2),
    deleteCollection: call('deleteCollection', 1),
  } as unknown as Client;
  return { sent, signals, client };
}

function living(point?: Interruption, ignoredKinds: readonly string[] = []) {
  const trace = new RequestTrace(point, ignoredKinds);
  trace.begin('one');
  const inner = recorded();
  const life = new OperatorLife({ client: inner.client, trace, mode: point?.mode ?? 'answered' });
  return { ...inner, trace, life, client: life.client };
}

const at = <M extends Interruption['mode']>(mode: M, request = 1) => ({
  ...{ step: 'one', request, mode },
});

const all = async (things: AsyncIterable<unknown>): Promise<number> => {
  let count = 0;
  for await (const thing of things) count += thing === undefined ? 0 : 1;
  return count;
};

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'answered',
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );

describe('The simulated process of an operator', () => {
  it('records every request except watches and discovery', async () => {
    const { client, trace } = living();
    await client.resourceType(ConfigMap);
    await client.get(ConfigMap, key);
    await client.get(ConfigMap, key, { subresource: 'status' });
    await client.list(ConfigMap, { namespace: 'ns' });
    expect(await all(client.pages(ConfigMap, { namespace: 'ns' }))).to.equal(2);
    expect(await all(client.watch(ConfigMap))).to.equal(2);
    await client.create(map);
    await client.create({ ...map, metadata: { namespace: 'ns', generateName: 'of-' } });
    await client.create(map, { subresource: 'status' });
    await client.create(map, { dryRun: true });
    await client.update(map, { subresource: 'status' });
    await client.patch(ConfigMap, key, patch);
    trace.begin('two');
    await client.apply(map);
    await client.delete(ConfigMap, key);
    await client.deleteCollection(ConfigMap, { namespace: 'ns' });
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
    await client.create({ ...review, metadata: {} });
    const shown = trace.requests.map((request) => {
      const { step, request: nth, verb, apiVersion, kind, subresource, write, created } = request;
      const { namespace = '', name = '' } = request;
      const what = `${apiVersion} ${kind}${subresource === undefined ? '' : `/${subresource}`}`;
      const notes = `${write ? ' written' : ''}${created ? ' created' : ''}`;
      return `${step} ${nth} ${verb} ${what} ${namespace}/${name}${notes}`;
    });
    expect(shown).to.deep.equal([
      'one 1 get v1 ConfigMap ns/a',
      'one 2 get v1 ConfigMap/status ns/a',
      'one 3 list v1 ConfigMap ns/',
      'one 4 list v1 ConfigMap ns/',
      'one 5 list v1 ConfigMap ns/',
      'one 6 create v1 ConfigMap ns/a written created',
      'one 7 create v1 ConfigMap ns/of-* written created',
      'one 8 create v1 ConfigMap/status ns/a written',
      'one 9 create v1 ConfigMap ns/a',
      'one 10 update v1 ConfigMap/status ns/a written',
      'one 11 patch v1 ConfigMap ns/a written',
      'two 1 apply v1 ConfigMap ns/a written created',
      'two 2 delete v1 ConfigMap ns/a written',
      'two 3 deletecollection v1 ConfigMap ns/ written',
      'two 4 create authorization.k8s.io/v1 SelfSubjectAccessReview /',
    ]);
    expect(trace.writes).to.have.length(8);
    expect([trace.isIdle, trace.progress, trace.interruptedAt]).to.deep.equal([
      true,
      30,
      undefined,
    ]);
  });

  it('does not record requests for ignored kinds, but waits for them', async () => {
    const { client, trace } = living(at('answered'), ['ConfigMap']);
    const asked = client.get(ConfigMap, key);
    expect(trace.isIdle).to.equal(false);
    await asked;
    expect([trace.requests, trace.isIdle, trace.progress]).to.deep.equal([[], true, 2]);
  });

  for (const [mode, sent, first] of [
    ['before', [], 'Stopped'],
    ['unanswered', ['apply'], 'Stopped'],
    ['answered', ['apply'], 'answered'],
  ] as const) {
    it(`sends nothing after its crash with the mode ${mode}`, async () => {
      const { client, life, trace, ...inner } = living(at(mode));
      const { signal } = new AbortController();
      expect(await codeOf(client.apply(map, { signal }))).to.equal(first);
      await Promise.resolve();
      expect([life.isDead, life.signal.aborted]).to.deep.equal([true, true]);
      for (const call of [
        client.get(ConfigMap, key),
        client.list(ConfigMap),
        client.resourceType(ConfigMap),
        client.delete(ConfigMap, key),
      ]) {
        expect(await codeOf(call)).to.equal('Stopped');
      }
      expect(await codeOf(all(client.watch(ConfigMap)))).to.equal('Stopped');
      expect(inner.sent).to.deep.equal(sent);
      // No signal may abort the last request.
      expect(inner.signals.slice(0, 1)).to.deep.equal(sent.map(() => undefined));
      const { verb, created } = trace.interruptedAt ?? {};
      expect([verb, created]).to.deep.equal(['apply', false]);
      expect(trace.requests.map((each) => each.created)).to.deep.equal([sent.length > 0]);
    });
  }

  for (const [mode, sent, code] of [
    ['conflict', [], undefined],
    ['serverError', [], undefined],
    ['resetBefore', [], 'ConnectionFailed'],
    ['resetAfter', ['apply'], 'ConnectionFailed'],
    ['timeout', [], 'Timeout'],
  ] as const) {
    it(`continues after a request that failed with the mode ${mode}`, async () => {
      const { client, life, trace, ...inner } = living(at(mode, 2));
      await client.get(ConfigMap, key);
      const error: unknown = await client.apply(map).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('code', code ?? (error as { code: unknown }).code);
      const statuses = { conflict: 409, serverError: 500 } as Record<string, number>;
      expect((error as { readonly status?: number }).status).to.equal(statuses[mode]);
      expect((error as Error).message).to.match(/^apply ConfigMap ns\/a/);
      await client.get(ConfigMap, key);
      expect(inner.sent).to.deep.equal(['get', ...sent, 'get']);
      expect([life.isDead, trace.interruptedAt?.request]).to.deep.equal([false, 2]);
    });
  }

  it('is killed after 500 requests while the virtual time stands still', async () => {
    const { client, life, trace } = living();
    for (let n = 0; n < 500; n++) await client.get(ConfigMap, key);
    expect(trace.isHot).to.equal(false);
    trace.timePasses();
    for (let n = 0; n < 501; n++) await client.get(ConfigMap, key);
    expect([trace.isHot, life.isDead]).to.deep.equal([true, false]);
    expect(await codeOf(client.get(ConfigMap, key))).to.equal('Stopped');
    expect(life.isDead).to.equal(true);
  });

  it('ends a watch when the process is killed, or when the signal of the call is aborted', async () => {
    const { client, life, signals } = living();
    const own = new AbortController();
    await all(client.watch(ConfigMap));
    const watching = client.watch(ConfigMap, { signal: own.signal })[Symbol.asyncIterator]();
    await watching.next();
    life.kill();
    expect(await codeOf(watching.next())).to.equal('Stopped');
    expect(signals.map((signal) => (signal as AbortSignal).aborted)).to.deep.equal([true, true]);
  });
});
