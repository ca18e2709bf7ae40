import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { Cache } from '../../lib/cache/cache.js';
import { cachedType } from '../../lib/cache/cache-options.js';
import type { CacheOptions } from '../../lib/cache/cache-options.js';
import type { Client } from '../../lib/client/index.js';
import { byLabel } from '../../lib/cache/indexer.js';
import { silentLogger } from '../../lib/system/logger.js';
import type { Logger } from '../../lib/system/logger.js';
import type { LabelSelector } from '../../lib/object/label-selector.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing, apiError } from './fake-server.js';

function newCache(options: Partial<CacheOptions> = {}, server = new FakeServer()) {
  const clock = new VirtualClock();
  const cache = new Cache({ client: server.client(), clock, ...options });
  return { cache, server, clock };
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const managedFields = [{ manager: 'someone' }];

describe('Cache', () => {
  it('shares an informer between users, and stops it when the last user releases it', async () => {
    const { cache, server, clock } = newCache();
    cache.start();
    const [one, other] = [cache.informer(Thing), cache.informer(Thing)];
    await clock.advance(0);
    expect(server.watches).to.equal(1);
    one.release();
    one.release();
    await clock.advance(0);
    expect(server.watches).to.equal(1);
    other.release();
    await clock.advance(0);
    expect(server.watches).to.equal(0);
    expect(cache.status()).to.deep.equal([]);
    await cache.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('sends no events to the handlers of a released informer', async () => {
    const { cache, server, clock } = newCache();
    cache.start();
    const [one, other] = [cache.informer(Thing), cache.informer(Thing)];
    const seen: string[] = [];
    one.addHandler(() => seen.push('one'));
    other.addHandler(() => seen.push('other'));
    one.release();
    server.put('a');
    await clock.advance(0);
    expect(seen).to.deep.equal(['other']);
    await cache.stop();
  });

  it('sends the cached objects to a handler that is added later, and sends no event twice to a handler', async () => {
    const { cache, server, clock } = newCache();
    server.put('a');
    server.put('b');
    const informer = cache.informer(Thing);
    const seen: string[] = [];
    informer.addHandler(({ type, object }) => {
      seen.push(`first ${type} ${object.metadata.name ?? ''}`);
      if (seen.length > 1) return;
      informer.addHandler((event) => {
        const initial = event.type === 'added' && event.isInInitialList;
        seen.push(`late ${event.object.metadata.name ?? ''}${initial ? ' (initial)' : ''}`);
      });
    });
    cache.start();
    await clock.advance(0);
    server.put('c');
    await clock.advance(0);
    expect(seen).to.deep.equal([
      'first added a',
      'late a (initial)',
      'late b (initial)',
      'first added b',
      'first added c',
      'late c',
    ]);
    await cache.stop();
  });

  it('continues when a handler throws', async () => {
    const fail = (): never => {
      throw new Error('bug');
    };
    const registry = new Registry();
    const { cache, server, clock } = newCache({ metrics: promMetrics(registry) });
    cache.start();
    const informer = cache.informer(Thing);
    informer.addHandler(fail);
    server.put('a');
    server.put('b');
    await clock.advance(0);
    expect(informer.list().length).to.equal(2);
    const counted = 'operator_builder_cache_handler_errors_total{kind="Thing"} 2';
    expect(await registry.metrics()).to.include(counted);
    await cache.stop();
  });

  it('deep-freezes cached objects by default', async () => {
    for (const freeze of [true, false]) {
      const { cache, server, clock } = newCache({ freeze });
      server.put('a', { spec: { size: 1 } });
      cache.start();
      const informer = cache.informer(Thing);
      await clock.advance(0);
      const thing = informer.get({ namespace: 'ns', name: 'a' })!;
      const write = (): void => void (thing.spec!.size = 2);
      if (freeze) expect(write).to.throw(TypeError);
      else write();
      await cache.stop();
    }
  });

  it('drops managedFields and the last-applied annotation', async () => {
    const { cache, server, clock } = newCache();
    const annotations = { [lastApplied]: '{}', other: 'x' };
    server.put('a', { metadata: { annotations, managedFields } });
    cache.start();
    const informer = cache.informer(Thing);
    await clock.advance(0);
    const [thing] = informer.list();
    expect(thing?.metadata.annotations).to.deep.equal({ other: 'x' });
    expect(thing?.metadata).to.not.have.property('managedFields');
    await cache.stop();
  });

  it('keeps managedFields when a later user needs them, without an update event for the other users', async () => {
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    const { cache, server, clock } = newCache({ logger });
    server.put('a', { metadata: { managedFields } });
    cache.start();
    const informer = cache.informer(Thing);
    const seen: string[] = [];
    informer.addHandler(({ type }) => seen.push(type));
    await clock.advance(0);
    cache.informer(Thing, { keepManagedFields: true });
    await clock.advance(0);
    expect(informer.list()[0]?.metadata.managedFields).to.deep.equal(managedFields);
    expect([seen, warnings]).to.deep.equal([['added'], []]);
    await cache.stop();
  });

  it('caches only metadata if no user needs more, with the kind of the object itself', async () => {
    const { cache, server, clock } = newCache();
    server.put('a', { spec: { size: 1 } });
    cache.start();
    const informer = cache.informer(Thing, { metadataOnly: true });
    await clock.advance(0);
    expect(server.requests[0]?.options.metadataOnly).to.equal(true);
    expect(Object.keys(informer.list()[0]!)).to.deep.equal(['apiVersion', 'kind', 'metadata']);
    expect(informer.list()[0]?.kind).to.equal('Thing');
    await cache.stop();
  });

  it('caches each namespace with a watch of its own, and applies selectors', async () => {
    const labelSelector = { matchLabels: { app: 'web' } };
    const type = cachedType({ type: Thing, namespaces: ['one', 'two'], labelSelector });
    const { cache, server, clock } = newCache({ types: [type] });
    const metadata = { labels: { app: 'web' } };
    for (const namespace of ['one', 'two', 'three']) server.put('a', { metadata }, namespace);
    server.put('b', {}, 'one');
    cache.start();
    const informer = cache.informer(Thing);
    await clock.advance(0);
    const names = (): string[] =>
      informer
        .list()
        .map((thing) => `${thing.metadata.namespace ?? ''}/${thing.metadata.name ?? ''}`);
    expect(names()).to.deep.equal(['one/a', 'two/a']);
    expect(informer.list('two').length).to.equal(1);
    // A list of one namespace must not drop the objects of the other.
    server.disconnect(apiError(410, 'Expired'));
    server.remove('a', 'two');
    await clock.advance(10_000);
    expect(names()).to.deep.equal(['one/a']);
    await cache.stop();
  });

  it('caches in all namespaces the kinds that are exempt from the option namespaces', async () => {
    const allNamespacesOf = ({ kind }: { kind: string }): boolean => kind === 'Thing';
    for (const limited of [true, false]) {
      const more = limited ? {} : { allNamespacesOf };
      const { cache, server, clock } = newCache({ namespaces: ['one', 'two'], ...more });
      for (const namespace of ['one', 'three']) server.put('a', {}, namespace);
      cache.start();
      const informer = cache.informer(Thing);
      await clock.advance(0);
      const seen = informer.list().map(({ metadata }) => metadata.namespace);
      expect(seen).to.deep.equal(limited ? ['one'] : ['one', 'three']);
      await cache.stop();
    }
  });

  it('finds objects by namespace, controller, label and custom index', async () => {
    const indexers = {
      color: byLabel('color'),
      size: ({ spec }: Thing) => (spec?.size === undefined ? [] : [String(spec.size)]),
    };
    const { cache, server, clock } = newCache({ types: [cachedType({ type: Thing, indexers })] });
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'owner', controller: true };
    server.put('a', { metadata: { labels: { color: 'red' }, ownerReferences: [owner] } });
    server.put('b', { spec: { size: 3 } });
    cache.start();
    const informer = cache.informer(Thing);
    await clock.advance(0);
    const found = (index: string, value: string): (string | undefined)[] =>
      informer.byIndex(index, value).map(({ metadata }) => metadata.name);
    expect(found('namespace', 'ns')).to.deep.equal(['a', 'b']);
    expect(found('controllerUid', 'owner')).to.deep.equal(['a']);
    expect(found('color', 'red')).to.deep.equal(['a']);
    expect(found('size', '3')).to.deep.equal(['b']);
    server.put('b', { spec: { size: 4 } });
    server.remove('a');
    await clock.advance(0);
    expect([...found('size', '3'), ...found('color', 'red')]).to.deep.equal([]);
    expect(found('size', '4')).to.deep.equal(['b']);
    expect(() => informer.byIndex('none', 'x')).to.throw('no index none');
    await cache.stop();
  });

  describe('waitForSync', () => {
    it('resolves when every kind is synced', async () => {
      const { cache, clock } = newCache();
      const informer = cache.informer(Thing);
      let synced = 0;
      void cache.waitForSync().then(() => synced++);
      void informer.waitForSync().then(() => synced++);
      await clock.advance(0);
      expect(synced).to.equal(0);
      cache.start();
      await clock.advance(0);
      expect(synced).to.equal(2);
      await cache.stop();
    });

    it('names the missing kinds and the reasons when its signal aborts', async () => {
      const { cache, server, clock } = newCache();
      server.failures['watch'] = [apiError(403, 'Forbidden', 'watch')];
      cache.informer(Thing);
      cache.start();
      await clock.advance(0);
      const given = new AbortController();
      const waiting = cache.waitForSync(given.signal);
      given.abort(new Error('too late'));
      const error = await waiting.then(
        () => undefined,
        (thrown: unknown) => thrown as OperatorError,
      );
      expect(error?.code).to.equal('Aborted');
      expect(error?.message).to.match(
        /Thing \(example.com\/v1\): no permission to watch things.example.com: grant .* \(watch Thing: 403/,
      );
      expect(error?.cause).to.have.property('message', 'too late');
      expect(getEventListeners(given.signal, 'abort').length).to.equal(0);
      await cache.stop();
    });

    it('waits for a kind that is not served, or skips it with parked: pass', async () => {
      const { cache, server, clock } = newCache();
      server.failures['watch'] = [new OperatorError('UnknownKind', 'no Thing')];
      cache.informer(Thing);
      cache.start();
      await clock.advance(0);
      let synced = false;
      void cache.waitForSync().then(() => (synced = true));
      await cache.waitForSync(undefined, { parked: 'pass' });
      await clock.advance(0);
      expect(synced).to.equal(false);
      await clock.advance(5_000);
      expect(synced).to.equal(true);
      await cache.stop();
    });

    it('rejects when the cache is stopped, and new informers are refused', async () => {
      const { cache } = newCache();
      const informer = cache.informer(Thing);
      const waits = [cache.waitForSync(), informer.waitForSync()].map((wait) =>
        wait.catch((error: unknown) => error),
      );
      await cache.stop();
      for (const error of await Promise.all(waits)) {
        expect(error).to.include({ code: 'Stopped', message: 'the cache was stopped' });
      }
      expect(() => cache.informer(Thing))
        .to.throw()
        .with.property('code', 'Stopped');
    });
  });

  it('leaves no timer or watch open after a stop in any state', async () => {
    for (const failure of [undefined, apiError(500), new OperatorError('UnknownKind', 'no')]) {
      const { cache, server, clock } = newCache();
      if (failure !== undefined) server.failures['watch'] = [failure];
      cache.informer(Thing);
      cache.start();
      await clock.advance(0);
      await cache.stop();
      expect([clock.pendingTimers, server.watches]).to.deep.equal([0, 0]);
    }
  });

  it('resolves each call of stop only after the watches have ended', async () => {
    const server = new FakeServer();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const live = server.client();
    const client: Client = {
      ...live,
      watch: async function* (type, options) {
        try {
          yield* live.watch(type, options);
        } finally {
          await ended;
        }
      },
    };
    const { cache, clock } = newCache({ client }, server);
    cache.informer(Thing);
    cache.start();
    await clock.advance(0);
    const over: number[] = [];
    const stops = [1, 2].map((nth) => cache.stop().then(() => over.push(nth)));
    await clock.advance(0);
    expect(over).to.deep.equal([]);
    end();
    await Promise.all(stops);
    await cache.stop();
  });

  it('follows an aggregated API that counts the versions of each object separately', async () => {
    const { cache, server, clock } = newCache();
    server.put('a');
    const things = cache.informer(Thing);
    cache.start();
    await clock.advance(0);
    const sizeOf = async (): Promise<number | undefined> => {
      await clock.advance(0);
      return things.get({ namespace: 'ns', name: 'b' })?.spec?.size;
    };
    const version = (resourceVersion: string, size: number): Thing => ({
      ...{ apiVersion: 'example.com/v1', kind: 'Thing', spec: { size } },
      metadata: { namespace: 'ns', name: 'b', uid: 'b', resourceVersion },
    });
    server.inject({ type: 'ADDED', object: version('1', 1) });
    expect(await sizeOf()).to.equal(1);
    server.inject({ type: 'MODIFIED', object: version('2', 2) });
    expect(await sizeOf()).to.equal(2);
    server.inject({ type: 'MODIFIED', object: version('1', 1) });
    expect(await sizeOf()).to.equal(2);
    server.inject({ type: 'DELETED', object: version('2', 2) });
    expect(await sizeOf()).to.equal(undefined);
    await cache.stop();
  });

  it('starts to watch a kind at most 5 s after its installation, however long it was missing', async () => {
    const { cache, server, clock } = newCache();
    const missing = new OperatorError('UnknownKind', 'no Thing');
    server.failures['watch'] = Array.from({ length: 1_000 }, () => missing);
    const informer = cache.informer(Thing);
    cache.start();
    await clock.advance(600_000);
    const apiVersion = 'example.com/v1';
    expect(informer.status().missing).to.deep.equal({ type: 'kind', apiVersion, kind: 'Thing' });
    expect(server.requests.length).to.be.within(118, 140);
    server.failures['watch'] = [];
    await clock.advance(5_000);
    expect(informer.status()).to.deep.include({ synced: true, parked: false, missing: undefined });
    await cache.stop();
  });

  it('lists a kind that is given as apiVersion and kind after discovery returns its scope', async () => {
    const server = new FakeServer();
    const failures = [apiError(503), apiError(503)];
    const client: Client = {
      ...server.client(),
      resourceType: async () => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        return Thing as never;
      },
    };
    const { cache, clock } = newCache({ client }, server);
    const informer = cache.informer({ apiVersion: 'example.com/v1', kind: 'Thing' });
    cache.start();
    await clock.advance(0);
    expect(informer.status().problem).to.have.property('status', 503);
    expect(server.requests).to.deep.equal([]);
    await clock.advance(10_000);
    expect(informer.status()).to.deep.include({ synced: true, problem: undefined });
    await cache.stop();
  });

  it('reports a problem during all retries until it is resolved', async () => {
    const { cache, server, clock } = newCache();
    const informer = cache.informer(Thing);
    cache.start();
    await clock.advance(5_000);
    const seen = new Set<unknown>();
    cache.informer(Thing).status();
    server.failures['watch'] = Array.from({ length: 9 }, () => apiError(403, 'Forbidden', 'watch'));
    server.failures['list'] = [apiError(403, 'Forbidden'), apiError(403, 'Forbidden')];
    server.disconnect(apiError(403, 'Forbidden', 'watch'));
    await clock.advance(0);
    for (let n = 0; n < 10; n++) {
      seen.add(informer.status().missing?.type);
      await clock.advance(500);
    }
    expect([...seen]).to.deep.equal(['permission']);
    server.failures['watch'] = [];
    await clock.advance(100_000);
    expect(informer.status()).to.deep.include({ problem: undefined, missing: undefined });
    await cache.stop();
  });

  it('rejects an option of a single kind among the options of the cache, and says where it belongs', () => {
    const options = { labelSelector: 'app=web' };
    expect(() => newCache(options as object)).to.throw(
      'cache: unknown option "labelSelector"; give it to a kind: types: [cachedType({ type, … })]',
    );
  });

  it('passes the old object of an update to handlers, in an event that can be destructured', async () => {
    const { cache, server, clock } = newCache();
    const informer = cache.informer(Thing);
    const seen: unknown[] = [];
    informer.addHandler(({ type, object, old }) =>
      seen.push([type, old !== undefined && old !== object]),
    );
    cache.start();
    await clock.advance(0);
    server.put('a');
    server.put('a');
    server.remove('a');
    await clock.advance(0);
    expect(seen).to.deep.equal([
      ['added', false],
      ['updated', true],
      ['deleted', false],
    ]);
    await cache.stop();
  });

  for (const [options, code] of [
    [{ namespaces: [] }, 'InvalidOption'],
    [{ namespaces: [''] }, 'InvalidOption'],
    [{ namespaces: 'default' as never }, 'InvalidOption'],
    [{ types: [cachedType({ type: Thing, namespaces: [] })] }, 'InvalidOption'],
    [{ types: [cachedType({ type: Thing, labelSelector: '=' })] }, 'InvalidSelector'],
    [
      { types: [cachedType({ type: Thing, labelSelector: { app: 'web' } as LabelSelector })] },
      'InvalidSelector',
    ],
    [{ types: [cachedType({ type: Thing, fieldSelector: 'metadata.name' })] }, 'InvalidSelector'],
  ] as const) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => newCache(options))
        .to.throw(OperatorError)
        .with.property('code', code);
    });
  }
});
