import { expect } from 'chai';
import { Registry } from 'prom-client';
import { Cache } from '../../lib/cache/cache.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import { cachedType } from '../../lib/cache/cache-options.js';
import type { CacheOptions } from '../../lib/cache/cache-options.js';
import type { CacheEvent } from '../../lib/cache/informer.js';
import type { QuarantinedObject } from '../../lib/cache/quarantine.js';
import { silentLogger } from '../../lib/system/logger.js';
import type { Logger } from '../../lib/system/logger.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing } from './fake-server.js';

/**
 * Value of 9,000 nested levels: kube-apiserver accepts it, and recursive functions overflow on it.
 */
const deep = JSON.parse(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`) as NonNullable<
  Thing['spec']
>;

function newCache(options: Partial<CacheOptions> = {}) {
  const server = new FakeServer();
  const clock = new VirtualClock();
  const registry = new Registry();
  const quarantined: QuarantinedObject[] = [];
  const lines: string[] = [];
  const write = (message: string): void => void lines.push(message);
  const logger: Logger = { ...silentLogger, error: write, child: () => logger };
  const cache = new Cache({
    client: server.client(),
    clock,
    logger,
    metrics: promMetrics(registry),
    onQuarantined: (object) => quarantined.push(object),
    ...options,
  });
  const client = cachedClient(server.client(), cache, { clock });
  const events: string[] = [];
  const informer = cache.informer(Thing);
  informer.addHandler((event) => events.push(nameOf(event)));
  cache.start();
  const gauge = async (): Promise<number | undefined> => {
    const metric = registry.getSingleMetric('operator_builder_cache_quarantined_objects');
    return (await metric?.get())?.values[0]?.value;
  };
  const names = (): string[] => cache.status()[0]!.quarantined.map(({ name }) => name);
  return { server, clock, cache, client, informer, events, quarantined, lines, gauge, names };
}

function nameOf({ type, object }: CacheEvent<Thing>): string {
  return `${type} ${object.metadata.name ?? ''} ${object.spec?.size ?? ''}`.trim();
}

const poison = { namespace: 'ns', name: 'poison' };

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'answered',
    (error: unknown) => (error as { code: string }).code,
  );
}

describe('Quarantine of a cache', () => {
  for (const streamingLists of [true, false]) {
    const how = streamingLists ? 'a streaming list' : 'a list';
    it(`skips an object that nests too deeply in ${how}, and caches all others`, async () => {
      const { server, clock, cache, events, names } = newCache({ streamingLists });
      server.put('before', { spec: { size: 1 } });
      server.put('poison', { spec: deep });
      server.put('after', { spec: { size: 2 } });
      await clock.advance(0);
      expect(cache.status()[0]).to.include({ synced: true, problem: undefined, objects: 2 });
      expect(events).to.deep.equal(['added before 1', 'added after 2']);
      expect(names()).to.deep.equal(['poison']);
      await cache.stop();
    });
  }

  it('skips an object that nests too deeply in a watch event, and continues after it', async () => {
    const { server, clock, cache, events, quarantined, lines, gauge } = newCache();
    await clock.advance(0);
    server.put('before', { spec: { size: 1 } });
    server.put('poison', { spec: deep });
    server.put('after', { spec: { size: 2 } });
    await clock.advance(0);
    expect(events).to.deep.equal(['added before 1', 'added after 2']);
    const [entry] = quarantined;
    expect(entry).to.include({ kind: 'Thing', ...poison, resourceVersion: '102' });
    expect(entry?.reason).to.match(/nests deeper than 500 levels/);
    expect(await gauge()).to.equal(1);
    server.disconnect();
    await clock.advance(60_000);
    expect(server.requests.at(-1)?.options.resourceVersion).to.equal('103');
    expect([quarantined.length, lines.length]).to.deep.equal([1, 1]);
    await cache.stop();
    expect(await gauge()).to.equal(0);
  });

  it('rejects only reads that could include a quarantined object', async () => {
    const { server, clock, cache, client, informer } = newCache();
    server.put('good', { spec: { size: 1 } });
    server.put('poison', { spec: deep });
    await clock.advance(0);
    expect(await codeOf(client.get(Thing, poison))).to.equal('Quarantined');
    expect(await codeOf(client.list(Thing))).to.equal('Quarantined');
    expect(await codeOf(client.list(Thing, { namespace: 'ns' }))).to.equal('Quarantined');
    expect(() => informer.get(poison))
      .to.throw('poison')
      .with.property('code', 'Quarantined');
    expect(await codeOf(client.list(Thing, { namespace: 'other' }))).to.equal('answered');
    expect(await codeOf(client.list(Thing, { labelSelector: 'a=b' }))).to.equal('answered');
    expect(await codeOf(client.get(Thing, { namespace: 'ns', name: 'good' }))).to.equal('answered');
    await cache.stop();
  });

  it('of an object ends with a valid version, and the next invalid version is reported again', async () => {
    const { server, clock, cache, client, events, quarantined, names } = newCache();
    server.put('poison', { spec: deep });
    await clock.advance(0);
    server.put('poison', { spec: { size: 1 } });
    await clock.advance(0);
    expect(names()).to.deep.equal([]);
    expect((await client.get(Thing, poison)).spec).to.deep.equal({ size: 1 });
    server.put('poison', { spec: deep });
    await clock.advance(0);
    expect(quarantined.map(({ resourceVersion }) => resourceVersion)).to.deep.equal(['101', '103']);
    expect(events).to.deep.equal(['added poison 1']);
    await cache.stop();
  });

  it('reports no deletion of an object that was valid before, but no longer serves its old version', async () => {
    const { server, clock, cache, client, events } = newCache();
    server.put('poison', { spec: { size: 1 } });
    await clock.advance(0);
    server.put('poison', { spec: deep });
    await clock.advance(0);
    expect(await codeOf(client.get(Thing, poison))).to.equal('Quarantined');
    expect(await codeOf(client.list(Thing))).to.equal('Quarantined');
    server.compact();
    server.disconnect();
    await clock.advance(60_000);
    expect(events).to.deep.equal(['added poison 1']);
    server.put('poison', { spec: { size: 2 } });
    await clock.advance(0);
    expect(events).to.deep.equal(['added poison 1', 'updated poison 2']);
    await cache.stop();
  });

  it('of an object ends with its deletion, shown by a watch event or a new list', async () => {
    for (const isMissed of [false, true]) {
      const { server, clock, cache, client, events, names } = newCache();
      server.put('poison', { spec: { size: 1 } });
      await clock.advance(0);
      server.put('poison', { spec: deep });
      await clock.advance(0);
      server.paused = isMissed;
      server.remove('poison');
      if (isMissed) {
        server.compact();
        server.paused = false;
        server.disconnect();
      }
      await clock.advance(60_000);
      expect(names()).to.deep.equal([]);
      expect(events).to.deep.equal(['added poison 1', 'deleted poison 1']);
      expect(await codeOf(client.get(Thing, poison))).to.equal('ApiError');
      await cache.stop();
    }
  });

  it('reports the deletion of a valid object that was replaced by an invalid object of the same name', async () => {
    const { server, clock, cache, events, names } = newCache();
    server.put('poison', { spec: { size: 1 } });
    await clock.advance(0);
    server.paused = true;
    server.remove('poison');
    server.put('poison', { spec: deep });
    server.compact();
    server.paused = false;
    server.disconnect();
    await clock.advance(60_000);
    expect(events).to.deep.equal(['added poison 1', 'deleted poison 1']);
    expect(names()).to.deep.equal(['poison']);
    await cache.stop();
  });

  it('serves a valid object that the client wrote over an invalid version before the watch shows it', async () => {
    const { server, clock, cache, client } = newCache();
    server.put('poison', { spec: deep });
    await clock.advance(0);
    server.paused = true;
    await client.update(server.put('poison', { spec: { size: 3 } }));
    expect((await client.get(Thing, poison)).spec?.size).to.equal(3);
    await cache.stop();
  });

  it('skips objects whose index values are not strings, because no list by index would find them', async () => {
    const indexers = {
      size: ({ spec }: Thing) => [spec?.size as unknown as string],
      color: ({ spec }: Thing) => [undefined, spec?.color],
    };
    const type = cachedType({ type: Thing, indexers });
    const { cache, server, informer, quarantined, clock } = newCache({ types: [type] });
    server.put('numbered', { spec: { size: 1 } });
    server.put('colored', { spec: { color: 'red' } });
    await clock.advance(0);
    const reasons = quarantined.map(({ name, reason }) => `${name}: ${reason}`);
    expect(reasons).to.deep.equal(['numbered: index size: want strings, got number']);
    expect(informer.byIndex('color', 'red')).to.have.length(1);
    await cache.stop();
  });

  it('skips objects for which a transform or an index function throws', async () => {
    const failOn = (bad: number, object: Thing): void => {
      if (object.spec?.size === bad) throw new Error(`bug ${bad}`);
    };
    const type = cachedType<Thing>({
      type: Thing,
      transform: (object) => {
        failOn(1, object);
        return object;
      },
      indexers: {
        size: (object) => {
          failOn(2, object);
          return [];
        },
      },
    });
    const { server, clock, cache, informer, events, quarantined } = newCache({ types: [type] });
    for (const size of [1, 2, 3]) server.put(`size-${size}`, { spec: { size } });
    await clock.advance(0);
    informer.addIndexer('late', (object) => {
      failOn(3, object);
      return [];
    });
    server.put('size-4', { spec: { size: 4 } });
    await clock.advance(0);
    expect(events).to.deep.equal(['added size-3 3', 'added size-4 4']);
    expect(quarantined.map(({ name, reason }) => `${name}: ${reason}`)).to.deep.equal([
      'size-1: transform threw: bug 1',
      'size-2: index size threw: bug 2',
      'size-3: index late threw: bug 3',
    ]);
    await cache.stop();
  });

  it('skips watch events without a named object, and continues the watch', async () => {
    const { server, clock, cache, events, quarantined } = newCache();
    await clock.advance(0);
    for (const object of [{ metadata: { uid: 'u' } }, { metadata: null }, null, 'text', 7]) {
      server.inject({ type: 'ADDED', object: object as unknown as Thing });
    }
    server.put('after', { spec: { size: 1 } });
    await clock.advance(0);
    expect(events).to.deep.equal(['added after 1']);
    expect(quarantined[0]).to.include({ name: '<unnamed>', reason: 'metadata.name is missing' });
    await cache.stop();
  });

  it('skips objects whose namespace or version is not a string, and continues the watch', async () => {
    const { server, clock, cache, events, quarantined } = newCache();
    await clock.advance(0);
    for (const metadata of [{ namespace: 7 }, { namespace: 'ns', resourceVersion: 500 }]) {
      const object = { metadata: { name: 'a', ...metadata } };
      server.inject({ type: 'ADDED', object: object as unknown as Thing });
    }
    server.put('after', { spec: { size: 1 } });
    await clock.advance(0);
    expect(events).to.deep.equal(['added after 1']);
    expect(quarantined.map(({ name, reason }) => `${name}: ${reason}`)).to.deep.equal([
      'a: metadata.namespace is not a string',
      'a: metadata.resourceVersion is not a string',
    ]);
    await cache.stop();
  });

  it('continues when the callback for quarantined objects throws', async () => {
    const onQuarantined = (): never => {
      throw new Error('bug');
    };
    const { server, clock, cache, events, lines, names } = newCache({ onQuarantined });
    server.put('poison', { spec: deep });
    await clock.advance(0);
    server.put('later', { spec: deep });
    server.put('after', { spec: { size: 1 } });
    await clock.advance(0);
    expect(events).to.deep.equal(['added after 1']);
    expect(names()).to.deep.equal(['poison', 'later']);
    expect(server.requests.map(({ verb }) => verb)).to.deep.equal(['watch']);
    expect(lines).to.include('Thing: onQuarantined threw');
    await cache.stop();
  });

  it('does not skip an object whose transform drops the deeply nested part', async () => {
    const type = cachedType<Thing>({
      type: Thing,
      transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
    });
    const { server, clock, cache, events } = newCache({ types: [type] });
    server.put('poison', { spec: deep });
    await clock.advance(0);
    expect(events).to.deep.equal(['added poison']);
    await cache.stop();
  });
});
