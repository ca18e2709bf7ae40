import { expect } from 'chai';
import { Registry } from 'prom-client';
import { Cache } from '../../lib/cache/cache.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import { controllerFor } from '../../lib/controller/controller.js';
import { done, TerminalError } from '../../lib/controller/result.js';
import type { ControllerCluster } from '../../lib/controller/running-cluster.js';
import type { Source } from '../../lib/controller/sources.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';
import { deferred } from './deferred.js';
import { FakeOwnership } from './fake-ownership.js';

function clusterOf(server: FakeServer, name: string, clock: VirtualClock): ControllerCluster {
  const client = server.client();
  const cache = new Cache({ client, clock, random: seededRandom(1) });
  cache.start();
  return { name, cache, client: cachedClient(client, cache, { clock }) };
}

describe('the start of a controller', () => {
  it('reconciles nothing and watches nothing if its signal is aborted already', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const controller = controllerFor(Thing).complete(async ({ key }) => {
      seen.push(key.name);
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { signal: AbortSignal.abort() });
    await setup.clock.advance(1_000);
    expect([seen, running.status().isActive]).to.deep.equal([[], false]);
    expect(setup.things.watches).to.equal(0);
    expect(setup.lines('info')).to.deep.equal(['controller stopped']);
    await setup.stop(running);
  });

  it('stops the sources of every cluster if two clusters share a name', async () => {
    const clock = new VirtualClock();
    const server = new FakeServer();
    const stopped: string[] = [];
    const source: Source = {
      name: 'hook',
      start: ({ cluster }) => ({ stop: () => void stopped.push(cluster) }),
    };
    const controller = controllerFor(Thing)
      .from(source)
      .complete(async () => done());
    const clusters = ['east', 'west', 'east'].map((name) => clusterOf(server, name, clock));
    expect(() => controller.start({ clusters, clock })).to.throw(
      'cluster "east" exists already: give each its own name',
    );
    await clock.advance(0);
    expect(stopped).to.deep.equal(['east', 'west']);
    expect(server.watches).to.equal(0);
    await Promise.all(clusters.map(({ cache }) => cache.stop()));
    expect(clock.pendingTimers).to.equal(0);
  });

  it('drops only the keys of a cluster whose sources fail to start', async () => {
    const clock = new VirtualClock();
    const server = new FakeServer();
    const seen: string[] = [];
    const eager: Source = {
      name: 'eager',
      start: (context) => {
        context.enqueue({ name: 'a' }, { trigger: { type: 'source', source: 'eager' } });
        return { stop: () => undefined };
      },
    };
    let isBroken = false;
    const broken: Source = {
      name: 'broken',
      start: ({ cluster }) => {
        if (isBroken) throw new Error(`no feed of ${cluster}`);
        return { stop: () => undefined };
      },
    };
    const controller = controllerFor(Thing)
      .from(eager)
      .from(broken)
      .complete(async ({ cluster, key, triggers }) => {
        seen.push(`${cluster} ${key.name} ${triggers.length}`);
        return done();
      });
    const [east, west] = ['east', 'west'].map((name) => clusterOf(server, name, clock));
    const running = controller.start({ clusters: [east!], clock });
    isBroken = true;
    expect(() => running.addCluster(west!)).to.throw('no feed of west');
    isBroken = false;
    running.addCluster(west!);
    await clock.advance(0);
    expect(seen.toSorted()).to.deep.equal(['east a 1', 'west a 1']);
    await running.stop(0);
    await Promise.all([east!, west!].map(({ cache }) => cache.stop()));
  });
});

describe('a source that cannot be synced', () => {
  for (const [title, names, logged] of [
    ['is logged if it belongs to the only cluster', [''], undefined],
    [
      'is logged with the name of its cluster if there are several clusters',
      ['east', 'west'],
      'east',
    ],
  ] as const) {
    it(title, async () => {
      const setup = new ControllerSetup();
      const { clock } = setup;
      const source: Source = {
        name: 'feed',
        start: ({ cluster }) => ({
          whenSynced: async () => {
            if (cluster !== 'west') throw new Error('no feed');
          },
          stop: () => undefined,
        }),
      };
      const controller = controllerFor(Thing)
        .from(source)
        .complete(async () => done());
      const clusters = names.map((name) => clusterOf(new FakeServer(), name, clock));
      const running = controller.start({ clusters, clock, logger: setup.logger() });
      await clock.advance(0);
      const [line, ...others] = setup.logged.filter(({ level }) => level === 'error');
      expect(others).to.deep.equal([]);
      expect(line?.message).to.equal('source cannot be synced; the controller reconciles nothing');
      const { error, ...fields } = line?.fields ?? {};
      expect(error).to.have.property('message', 'no feed');
      const place = logged === undefined ? {} : { cluster: logged };
      expect(fields).to.deep.equal({ controller: 'thing', ...place });
      await Promise.all([running.stop(0), clock.advance(2_000)]);
      await Promise.all(clusters.map(({ cache }) => cache.stop()));
    });
  }
});

describe('a key that is released before the sources are synced', () => {
  it('is not queued and not counted until it is acquired again', async () => {
    const setup = new ControllerSetup();
    const registry = new Registry();
    const ownership = new FakeOwnership('a', 'b');
    const synced = deferred();
    const feed: Source = {
      name: 'feed',
      start: (context) => {
        const trigger = { type: 'source', source: 'feed' } as const;
        for (const name of ['a', 'b']) context.enqueue({ name }, { trigger });
        return { whenSynced: () => synced.promise, stop: () => undefined };
      },
    };
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .from(feed)
      .complete(async ({ key, trigger }) => {
        seen.push(`${key.name} ${trigger.type}`);
        return done();
      });
    const running = await setup.start(controller, { ownership, metrics: promMetrics(registry) });
    await ownership.release(0, 'a');
    synced.resolve();
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['b source']);
    const labels = 'name="thing",controller="thing"';
    expect(await registry.metrics()).to.include(`workqueue_adds_total{${labels}} 1`);
    ownership.acquire('a');
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['b source', 'a acquired']);
    await setup.stop(running);
  });
});

describe('the status of a controller', () => {
  it('lists the last errors of the hundred keys that failed last, the latest first', async () => {
    const setup = new ControllerSetup();
    const controller = controllerFor(Thing).complete(async ({ key }) => {
      throw new TerminalError(`no ${key.name}`);
    });
    const running = await setup.start(controller);
    const names = Array.from({ length: 101 }, (_, index) => `t${index}`);
    for (const name of names) {
      running.enqueue({ name });
      await setup.clock.advance(1);
    }
    const listed = (): string[] => running.status().lastErrors.map(({ key }) => key);
    expect(listed()).to.deep.equal(names.slice(1).reverse());
    running.enqueue({ name: 't50' });
    await setup.clock.advance(1);
    expect(listed()).to.have.length(100);
    expect(listed().slice(0, 2)).to.deep.equal(['t50', 't100']);
    await setup.stop(running);
  });
});
