import { expect } from 'chai';
import { Registry } from 'prom-client';
import { Cache } from '../../lib/cache/cache.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import type { CacheOptions } from '../../lib/cache/cache-options.js';
import { forgetCacheMetrics } from '../../lib/cache/index.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { withMetricLabels } from '../../lib/system/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing, apiError } from './fake-server.js';

function newCache(options: Partial<CacheOptions> = {}, server = new FakeServer()) {
  const clock = new VirtualClock();
  const cache = new Cache({ client: server.client(), clock, ...options });
  return { cache, server, clock };
}

describe('The metrics of a cache', () => {
  it('count cached objects, lists and errors', async () => {
    const registry = new Registry();
    const { cache, server, clock } = newCache({ metrics: promMetrics(registry) });
    server.put('a');
    server.failures['watch'] = [apiError(500)];
    cache.informer(Thing);
    cache.start();
    await clock.advance(5_000);
    const text = await registry.metrics();
    expect(text).to.include('operator_builder_cache_objects{kind="Thing"} 1');
    expect(text).to.include('operator_builder_cache_relists_total{kind="Thing"} 1');
    expect(text).to.match(/cache_watch_errors_total\{kind="Thing",code="ApiError"\} 1/);
    await cache.stop();
  });

  it('count watch events by their type', async () => {
    const registry = new Registry();
    const { cache, server, clock } = newCache({ metrics: promMetrics(registry) });
    cache.informer(Thing);
    cache.start();
    await clock.advance(0);
    server.put('a');
    server.put('b');
    server.remove('a');
    await clock.advance(0);
    const text = await registry.metrics();
    expect(text).to.match(/cache_watch_events_total\{kind="Thing",type="ADDED"\} 2/);
    expect(text).to.match(/cache_watch_events_total\{kind="Thing",type="DELETED"\} 1/);
    await cache.stop();
  });

  it('can be removed for one cluster, and remain for other clusters', async () => {
    const registry = new Registry();
    const metrics = promMetrics(registry);
    const samplesOf = async (cluster: string): Promise<string[]> =>
      (await registry.metrics())
        .split('\n')
        .filter((line) => line.includes(`cluster="${cluster}"`));
    for (const cluster of ['east', 'west']) {
      const { cache, server, clock } = newCache({
        metrics: withMetricLabels(metrics, { cluster }),
      });
      server.put('a');
      cache.start();
      cache.informer(Thing);
      await clock.advance(0);
      await cache.stop();
    }
    const west = await samplesOf('west');
    expect(await samplesOf('east')).to.have.lengthOf(west.length);
    expect(west).to.have.length.above(5);
    await forgetCacheMetrics(metrics, { cluster: 'east' });
    expect(await samplesOf('east')).to.deep.equal([]);
    expect(await samplesOf('west')).to.deep.equal(west);
  });

  it('distinguish kinds with the same name', async () => {
    const registry = new Registry();
    const { cache, server, clock } = newCache({ metrics: promMetrics(registry) });
    server.put('a');
    server.put('b');
    cache.informer(Thing);
    const other = cache.informer({ ...Thing, group: 'other.example.com' });
    cache.start();
    await clock.advance(0);
    const objects = async (): Promise<readonly string[]> =>
      (await registry.metrics()).match(/^operator_builder_cache_objects\{.*$/gm) ?? [];
    const name = 'operator_builder_cache_objects';
    expect(await objects()).to.deep.equal([
      `${name}{kind="Thing"} 2`,
      `${name}{kind="Thing (other.example.com/v1)"} 2`,
    ]);
    other.release();
    await clock.advance(0);
    expect((await objects())[0]).to.equal(`${name}{kind="Thing"} 2`);
    await cache.stop();
  });

  it('count the events that the watch repeats and the cache drops', async () => {
    const registry = new Registry();
    const { cache, server, clock } = newCache({ metrics: promMetrics(registry) });
    const things = cache.informer(Thing);
    const seen: string[] = [];
    things.addHandler(({ type }) => seen.push(type));
    cache.start();
    await clock.advance(0);
    const object = server.put('a');
    await clock.advance(0);
    const dropped = 'operator_builder_cache_dropped_events_total{kind="Thing"}';
    expect(await registry.metrics()).to.include(`${dropped} 0`);
    server.inject({ type: 'ADDED', object });
    await clock.advance(0);
    expect(seen).to.deep.equal(['added']);
    expect(await registry.metrics()).to.include(`${dropped} 1`);
    await cache.stop();
  });

  it('estimate the size of the cache in bytes, and show the time since the last watch event', async () => {
    const registry = new Registry();
    const { cache, server, clock } = newCache({ metrics: promMetrics(registry) });
    const valueOf = async (name: string): Promise<number> =>
      Number(new RegExp(`cache_${name}{kind="Thing"} (.*)`).exec(await registry.metrics())?.[1]);
    for (let n = 0; n < 1_000; n++) server.put(`t-${n}`, { spec: { color: 'x'.repeat(1_000) } });
    cache.informer(Thing);
    cache.start();
    await clock.advance(0);
    expect(await valueOf('bytes')).to.be.within(1_000_000, 2_000_000);
    await clock.advance(7_000);
    expect(await valueOf('watch_silence_seconds')).to.equal(7);
    server.bookmark();
    await clock.advance(0);
    expect(await valueOf('watch_silence_seconds')).to.equal(0);
    await cache.stop();
    expect([await valueOf('bytes'), await valueOf('objects')]).to.deep.equal([0, 0]);
  });

  it("show the delay from a client's write to its watch event", async () => {
    const registry = new Registry();
    const { cache, server, clock } = newCache({ metrics: promMetrics(registry) });
    const client = cachedClient(server.client(), cache, { clock });
    cache.informer(Thing);
    cache.start();
    await clock.advance(0);
    server.paused = true;
    const metadata = { name: 'a', namespace: 'ns' };
    await client.create<Thing>({ apiVersion: 'example.com/v1', kind: 'Thing', metadata });
    await clock.advance(3_000);
    server.resume();
    await clock.advance(0);
    expect(await registry.metrics()).to.include('cache_watch_lag_seconds_sum{kind="Thing"} 3');
    await cache.stop();
  });
});
