import { expect } from 'chai';
import fc from 'fast-check';
import { Cache } from '../../lib/cache/cache.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import { controllerFor } from '../../lib/controller/controller.js';
import type { ReconcileContext } from '../../lib/controller/reconcile.js';
import { parseWorkKey, workKeyOf } from '../../lib/controller/keys.js';
import { done, requeueAfter, TerminalError } from '../../lib/controller/result.js';
import type { Result } from '../../lib/controller/result.js';
import type { ControllerCluster } from '../../lib/controller/running-cluster.js';
import type { RunningController } from '../../lib/controller/running-controller.js';
import { callbackSource } from '../../lib/controller/sources.js';
import type { Source } from '../../lib/controller/sources.js';
import { keyString } from '../../lib/object/object-key.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing } from '../cache/fake-server.js';
import { deferred } from './deferred.js';
import { FakeOwnership } from './fake-ownership.js';

/** Named fake servers, each with its own cache. */
class Clusters {
  readonly clock = new VirtualClock();
  readonly servers = new Map<string, FakeServer>();
  readonly seen: string[] = [];
  readonly #caches: Cache[] = [];

  named(name: string): ControllerCluster {
    const server = new FakeServer();
    const client = server.client();
    const cache = new Cache({ client, clock: this.clock, random: seededRandom(1) });
    this.servers.set(name, server);
    this.#caches.push(cache);
    cache.start();
    return { name, cache, client: cachedClient(client, cache, { clock: this.clock }) };
  }

  server(name: string): FakeServer {
    return this.servers.get(name)!;
  }

  /** Records which key is reconciled on which cluster. */
  controller(
    handler: (context: ReconcileContext) => Promise<Result> = async () => done(),
    maxConcurrentReconciles = 1,
  ) {
    return controllerFor(Thing)
      .withOptions({ maxConcurrentReconciles })
      .complete(async (context) => {
        this.seen.push(`${context.cluster} ${keyString(context.key)}`);
        return handler(context);
      });
  }

  async stop(running: RunningController): Promise<void> {
    await Promise.all([running.stop(0), this.clock.advance(2_000)]);
    await Promise.all(this.#caches.map((cache) => cache.stop()));
    expect(this.clock.pendingTimers).to.equal(0);
  }
}

describe('a controller on several clusters', () => {
  for (const [title, end] of [
    ['requests a requeue', async () => requeueAfter(10)],
    ['fails', () => Promise.reject(new Error('no'))],
  ] as const) {
    it(`reconciles for a new cluster with the name of a removed one only after the old reconcile ${title}`, async () => {
      const setup = new Clusters();
      const east = setup.named('east');
      setup.server('east').put('a');
      const held = deferred();
      const controller = setup.controller(async () => {
        if (setup.seen.length > 1) return done();
        await held.promise;
        return end();
      });
      const clusters = [east, setup.named('west')];
      const running = controller.start({ clusters, clock: setup.clock });
      await setup.clock.advance(0);
      const removing = running.removeCluster('east', 60_000);
      const again = setup.named('east');
      setup.server('east').paused = true;
      setup.server('east').put('a');
      running.addCluster(again);
      await setup.clock.advance(0);
      held.resolve();
      await setup.clock.advance(1_000);
      await removing;
      const before = running.status();
      expect([setup.seen, before.delayed, before.lastErrors]).to.deep.equal([['east ns/a'], 0, []]);
      setup.server('east').resume();
      await setup.clock.advance(1_000);
      expect(setup.seen).to.deep.equal(['east ns/a', 'east ns/a']);
      await setup.stop(running);
    });
  }

  it('ignores a mapper that resolves after its cluster is removed', async () => {
    const setup = new Clusters();
    const clusters = [setup.named('east'), setup.named('west')];
    const answer = deferred<readonly { name: string }[]>();
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .watches(Thing, () => answer.promise)
      .complete(async ({ key, cluster }) => {
        seen.push(`${cluster} ${key.name}`);
        return done();
      });
    const running = controller.start({ clusters, clock: setup.clock });
    setup.server('east').put('a');
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['east a']);
    await running.removeCluster('east');
    running.addCluster(setup.named('east'));
    await setup.clock.advance(0);
    answer.resolve([{ name: 'late' }]);
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['east a']);
    await setup.stop(running);
  });

  it('discards the triggers of a cluster that is removed before its sources are synced', async () => {
    const setup = new Clusters();
    const counts: number[] = [];
    const controller = setup.controller(async ({ triggers }) => {
      counts.push(triggers.length);
      return done();
    });
    const clusters = [setup.named('east'), setup.named('west')];
    const first = setup.server('east');
    first.paused = true;
    const running = controller.start({ clusters, clock: setup.clock });
    await setup.clock.advance(0);
    running.enqueue({ cluster: 'east', name: 'a' });
    await running.removeCluster('east');
    running.addCluster(setup.named('east'));
    running.enqueue({ cluster: 'east', name: 'a' });
    await setup.clock.advance(0);
    expect(counts).to.deep.equal([1]);
    first.resume();
    await setup.stop(running);
  });

  it('removes the errors of a removed cluster from its status', async () => {
    const setup = new Clusters();
    const clusters = [setup.named('east'), setup.named('west')];
    for (const { name } of clusters) setup.server(name).put('a');
    const controller = setup.controller(() => Promise.reject(new TerminalError('never')));
    const running = controller.start({ clusters, clock: setup.clock });
    await setup.clock.advance(0);
    await running.removeCluster('east');
    expect(running.status().lastErrors.map(({ cluster }) => cluster)).to.deep.equal(['west']);
    await setup.stop(running);
  });

  it("reconciles objects of the same name in each cluster, with that cluster's client", async () => {
    const setup = new Clusters();
    const clusters = [setup.named('east'), setup.named('west')];
    setup.server('east').put('a', { spec: { size: 1 } });
    setup.server('west').put('a', { spec: { size: 2 } });
    const sizes: Record<string, number | undefined> = {};
    const controller = setup.controller(async ({ client, key, cluster, trigger }) => {
      const { spec } = await client.get(Thing, key);
      sizes[cluster] = spec?.size;
      expect(trigger).to.include({ type: 'event', cluster });
      return done();
    });
    const running = controller.start({ clusters, clock: setup.clock });
    await running.activate();
    await setup.clock.advance(0);
    expect(sizes).to.deep.equal({ east: 1, west: 2 });
    await setup.stop(running);
  });

  it('reconciles keys of the clusters in turn, and within a cluster keys of its namespaces in turn', async () => {
    const setup = new Clusters();
    const clusters = [setup.named('big'), setup.named('small')];
    for (const namespace of ['n1', 'n2', 'n3', 'n4']) setup.server('big').put('a', {}, namespace);
    for (const name of ['a', 'b']) setup.server('small').put(name, {}, 'n');
    const running = setup.controller().start({ clusters, clock: setup.clock, standby: true });
    await setup.clock.advance(0);
    await running.activate();
    await setup.clock.advance(0);
    const turns = setup.seen.map((each) => each.split(' ')[0]);
    expect(turns.slice(0, 2).toSorted()).to.deep.equal(['big', 'small']);
    expect(turns.slice(2, 4).toSorted()).to.deep.equal(['big', 'small']);
    expect(setup.seen.length).to.equal(6);
    await setup.stop(running);
  });

  it('does not wait for a cluster that does not respond', async () => {
    const setup = new Clusters();
    const clusters = [setup.named('up'), setup.named('down')];
    setup.server('down').paused = true;
    for (const name of ['up', 'down']) setup.server(name).put('a');
    const running = setup.controller().start({ clusters, clock: setup.clock });
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['up ns/a']);
    const synced = running.status().clusters.map((each) => [each.cluster, each.synced]);
    expect(synced).to.deep.equal([
      ['up', true],
      ['down', false],
    ]);
    setup.server('down').resume();
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['up ns/a', 'down ns/a']);
    await setup.stop(running);
  });

  it('starts without clusters and adds one while it runs', async () => {
    const setup = new Clusters();
    const running = setup.controller().start({ clusters: [], clock: setup.clock });
    await running.activate();
    expect(running.status().isActive).to.equal(true);
    const added = setup.named('late');
    setup.server('late').put('a');
    running.addCluster(added);
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['late ns/a']);
    await setup.stop(running);
    expect(() => running.addCluster(added))
      .to.throw()
      .with.property('code', 'Stopped');
  });

  it('can add a cluster again after its sources failed to start', async () => {
    const setup = new Clusters();
    let isBroken = true;
    const source: Source = {
      name: 'odd',
      start: () => {
        if (isBroken) throw new Error('not yet');
        return { stop: () => undefined };
      },
    };
    const controller = controllerFor(Thing)
      .from(source)
      .complete(async ({ cluster, key }) => {
        setup.seen.push(`${cluster} ${key.name}`);
        return done();
      });
    const running = controller.start({ clusters: [], clock: setup.clock });
    const cluster = setup.named('late');
    setup.server('late').put('a');
    expect(() => running.addCluster(cluster)).to.throw('not yet');
    isBroken = false;
    running.addCluster(cluster);
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['late a']);
    await setup.stop(running);
  });

  it('rejects a duplicate cluster name and a name that contains a slash', async () => {
    const setup = new Clusters();
    const running = setup.controller().start({ clusters: [setup.named('a')], clock: setup.clock });
    for (const name of ['a', 'a/b']) {
      expect(() => running.addCluster(setup.named(name)))
        .to.throw()
        .with.property('code', 'InvalidOption');
    }
    await setup.stop(running);
  });

  it('drops the queued keys of a removed cluster, lets its reconciles finish and starts no more', async () => {
    const setup = new Clusters();
    const clusters = [setup.named('stay'), setup.named('go')];
    for (const name of ['a', 'b']) setup.server('go').put(name);
    const held = deferred();
    const controller = setup.controller(async ({ cluster }) => {
      if (cluster === 'go') await held.promise;
      throw new Error('again');
    });
    const running = controller.start({ clusters, clock: setup.clock });
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['go ns/a']);
    let isRemoved = false;
    void running.removeCluster('go', 10_000).then(() => (isRemoved = true));
    setup.server('go').put('c');
    await setup.clock.advance(9_000);
    expect([isRemoved, running.status().depth]).to.deep.equal([false, 0]);
    held.resolve();
    await setup.clock.advance(60_000);
    expect(isRemoved).to.equal(true);
    expect(setup.seen).to.deep.equal(['go ns/a']);
    expect(setup.server('go').watches).to.equal(0);
    await running.removeCluster('go');
    setup.server('stay').put('x');
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['go ns/a', 'stay ns/x']);
    await setup.stop(running);
  });

  it('never reconciles a key twice at once when its cluster is removed and added again', async () => {
    const setup = new Clusters();
    const running = setup
      .controller(async ({ signal }) => {
        if (setup.seen.length === 1) await held.promise;
        expect(signal.aborted).to.equal(setup.seen.length === 1);
        return done();
      }, 2)
      .start({ clusters: [setup.named('c')], clock: setup.clock });
    const held = deferred();
    setup.server('c').put('a');
    await setup.clock.advance(0);
    const removed = running.removeCluster('c', 0);
    await setup.clock.advance(1_000);
    await removed;
    running.addCluster(setup.named('c'));
    setup.server('c').put('a');
    await setup.clock.advance(0);
    expect(setup.seen.length).to.equal(1);
    held.resolve();
    await setup.clock.advance(0);
    expect(setup.seen.length).to.equal(2);
    await setup.stop(running);
  });

  it('accepts keys that name a cluster and rejects an unknown cluster', async () => {
    const setup = new Clusters();
    const hook = callbackSource<{ cluster?: string }>({
      mapper: ({ cluster }) => [{ name: 'x', ...(cluster !== undefined && { cluster }) }],
    });
    const controller = controllerFor(Thing)
      .from(hook)
      .complete(async ({ cluster, key }) => {
        setup.seen.push(`${cluster} ${key.name}`);
        return done();
      });
    const clusters = [setup.named('east'), setup.named('west')];
    const running = controller.start({ clusters, clock: setup.clock });
    await setup.clock.advance(0);
    await hook.notify({ cluster: 'west' });
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['west x']);
    await hook.notify({});
    await setup.clock.advance(0);
    expect(setup.seen.slice(1).sort()).to.deep.equal(['east x', 'west x']);
    running.enqueue({ cluster: 'east', namespace: 'n', name: 'mine' });
    await setup.clock.advance(0);
    expect(setup.seen.at(-1)).to.equal('east mine');
    for (const key of [{ name: 'mine' }, { name: 'mine', cluster: 'north' }]) {
      expect(() => running.enqueue(key))
        .to.throw('want east or west')
        .with.property('code', 'InvalidValue');
    }
    await setup.stop(running);
  });

  it('checks in each cluster separately whether it owns a key', async () => {
    const setup = new Clusters();
    const ownership = new FakeOwnership('east:ns/a');
    const clusters = [setup.named('east'), setup.named('west')];
    for (const name of ['east', 'west']) setup.server(name).put('a');
    const running = setup.controller().start({ clusters, clock: setup.clock, ownership });
    await setup.clock.advance(0);
    expect(setup.seen).to.deep.equal(['east ns/a']);
    ownership.acquire('west:ns/a');
    await setup.clock.advance(0);
    expect(setup.seen).to.include('west ns/a');
    await setup.stop(running);
  });
});

describe('the text form of a key with a cluster', () => {
  it('can be parsed to the same key again', () => {
    const part = fc.string({ minLength: 1 }).filter((text) => !text.includes('/'));
    const property = fc.property(
      fc.option(part, { nil: '' }),
      fc.option(part, { nil: undefined }),
      part,
      (cluster, namespace, name) => {
        const work = workKeyOf({ cluster, namespace, name });
        expect(parseWorkKey(work.text)).to.deep.equal(work);
        expect(work.cluster).to.equal(cluster);
      },
    );
    fc.assert(property);
  });
});
