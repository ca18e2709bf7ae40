import { expect } from 'chai';
import fc from 'fast-check';
import { Cache } from '../../lib/cache/cache.js';
import { cachedType } from '../../lib/cache/cache-options.js';
import type { CachedType } from '../../lib/cache/cache-options.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import type { CachingClient, Client } from '../../lib/client/client.js';
import { dryRun, fenced, namespaced, waitFor, withFieldManager } from '../../lib/client/index.js';
import { isConflict, isNotFound } from '../../lib/object/api-error.js';
import { ConfigMap, Pod } from '../../lib/object/kinds.js';
import type { OperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { embeddedClient } from '../client/embedded-client.js';
import { failureOf } from '../client/scripted-transport.js';
import { tries } from '../sample.js';
import { FakeServer, Thing, apiError } from './fake-server.js';

const a = { namespace: 'ns', name: 'a' };

class Setup {
  readonly clock = new VirtualClock();
  readonly server = new FakeServer();
  readonly cache: Cache;
  readonly client: Client;

  constructor(type: Partial<CachedType<Thing>> = {}) {
    const client = this.server.client();
    const types = [cachedType({ ...type, type: Thing })];
    this.cache = new Cache({ client, clock: this.clock, types });
    this.client = cachedClient(client, this.cache, { clock: this.clock });
  }

  /** Fills the cache and clears the recorded requests. */
  async sync(): Promise<void> {
    this.cache.informer(Thing);
    this.cache.start();
    await this.clock.advance(0);
    this.server.requests.length = 0;
  }

  /** Returns the result or error of a call while time advances. */
  async settle<T>(call: Promise<T>, ms = 0): Promise<T | 'pending'> {
    const none = this.clock.advance(ms).then(() => 'pending' as const);
    return Promise.race([call, none]);
  }

  async names(options: Parameters<Client['list']>[1] = {}): Promise<string[]> {
    const { items } = await this.client.list(Thing, options);
    return items.map(({ metadata }) => metadata.name ?? '');
  }

  verbs(): string[] {
    return this.server.requests.map(({ verb }) => verb);
  }
}

async function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('cachedClient', () => {
  describe('reads', () => {
    it("get and list from the cache without an API call, in the server's order", async () => {
      const setup = new Setup();
      for (const name of ['b', 'a', 'c']) setup.server.put(name);
      setup.server.put('z', {}, 'a-ns');
      await setup.sync();
      expect((await setup.client.get(Thing, a)).metadata.uid).to.equal('uid-2');
      expect(await setup.names()).to.deep.equal(['z', 'a', 'b', 'c']);
      expect(await setup.names({ namespace: 'ns' })).to.deep.equal(['a', 'b', 'c']);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it("throw a 404 like the server's for a missing object", async () => {
      const setup = new Setup();
      await setup.sync();
      const error = await failure(setup.client.get(Thing, a));
      expect(isNotFound(error)).to.equal(true);
      expect(error).to.have.property(
        'message',
        'get Thing ns/a: 404 NotFound: things.example.com "a" not found',
      );
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('select by labels, by name and by controller', async () => {
      const setup = new Setup();
      const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'o', controller: true };
      setup.server.put('a', { metadata: { labels: { app: 'web' } } });
      setup.server.put('b', { metadata: { labels: { app: 'db' }, ownerReferences: [owner] } });
      setup.server.put('b', { metadata: { ownerReferences: [owner] } }, 'other');
      await setup.sync();
      expect(await setup.names({ labelSelector: 'app in (web)' })).to.deep.equal(['a']);
      const matchLabels = { app: 'db' };
      expect(await setup.names({ labelSelector: { matchLabels } })).to.deep.equal(['b']);
      const missing = await failureOf(setup.names({ labelSelector: null as never }));
      expect(missing).to.have.property('code', 'InvalidSelector');
      expect(await setup.names({ fieldSelector: 'metadata.name=b' })).to.deep.equal(['b', 'b']);
      expect(await setup.names({ controllerUid: 'o' })).to.deep.equal(['b', 'b']);
      expect(await setup.names({ controllerUid: 'o', namespace: 'ns' })).to.deep.equal(['b']);
      expect(await setup.names({ controllerUid: 'none' })).to.deep.equal([]);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('go to the server when the cache cannot answer', async () => {
      const setup = new Setup({ namespaces: ['ns'] });
      setup.server.put('a');
      const call = async (read: () => Promise<unknown>): Promise<number> => {
        setup.server.requests.length = 0;
        await failure(read());
        return setup.server.requests.length;
      };
      const { client } = setup;
      const get = (): Promise<unknown> => client.get(Thing, a);
      expect(await call(get), 'no informer').to.equal(1);
      await setup.sync();
      expect(await call(get)).to.equal(0);
      expect(await call(() => client.get(Thing, a, { resourceVersion: '0' }))).to.equal(0);
      expect(await call(() => client.get(Thing, a, { resourceVersion: '7' }))).to.equal(1);
      expect(await call(() => client.get(Thing, a, { subresource: 'status' }))).to.equal(1);
      expect(await call(() => client.get(Thing, { ...a, namespace: 'other' }))).to.equal(1);
      await setup.cache.stop();
    });

    it('get an object outside the cached selectors from the server', async () => {
      const setup = new Setup({ labelSelector: 'app=web' });
      setup.server.put('a');
      await setup.sync();
      expect((await setup.client.get(Thing, a)).metadata.name).to.equal('a');
      expect(setup.verbs()).to.deep.equal(['get']);
      await setup.cache.stop();
    });

    it('return metadata only on request, even if whole objects are cached', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      const thing = await setup.client.get(Thing, a, { metadataOnly: true });
      expect(Object.keys(thing)).to.deep.equal(['apiVersion', 'kind', 'metadata']);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('of metadata come from a cache of metadata; all others go to the server', async () => {
      const setup = new Setup({ indexers: { size: ({ spec }) => [String(spec?.size)] } });
      setup.server.put('a', { spec: { size: 1 } });
      setup.cache.informer(Thing, { metadataOnly: true });
      setup.cache.start();
      await setup.clock.advance(0);
      setup.server.requests.length = 0;
      const metadataOnly = true;
      expect((await setup.client.get(Thing, a, { metadataOnly })).metadata.name).to.equal('a');
      expect(await setup.names({ metadataOnly })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal([]);
      expect((await setup.client.get(Thing, a)).spec).to.deep.equal({ size: 1 });
      expect(await setup.names()).to.deep.equal(['a']);
      expect(await setup.names({ metadataOnly, index: { size: '1' } })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal(['get', 'list', 'list']);
      await setup.cache.stop();
    });

    it('return pages from the cache', async () => {
      const setup = new Setup();
      setup.server.put('a');
      await setup.sync();
      const sizes: number[] = [];
      for await (const { items } of setup.client.pages(Thing)) sizes.push(items.length);
      expect(sizes).to.deep.equal([1]);
      await setup.cache.stop();
    });
  });

  describe('lists by an index', () => {
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
    const byColor = ({ spec }: Thing): (string | undefined)[] => [spec?.color];

    it('without an API call, including writes that the watch has not shown yet', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { color: 'red' } });
      setup.server.put('b', { spec: { color: 'blue' } });
      setup.cache.index(Thing, 'color', byColor);
      await setup.sync();
      setup.server.paused = true;
      const red = { index: { color: 'red' } };
      expect(await setup.names(red)).to.deep.equal(['a']);
      const metadata = { namespace: 'ns', name: 'c' };
      await setup.client.create<Thing>({ ...thing, metadata, spec: { color: 'red' } });
      const b = await setup.client.get(Thing, { namespace: 'ns', name: 'b' });
      await setup.client.update<Thing>({ ...b, spec: { color: 'red' } });
      expect(await setup.names(red)).to.deep.equal(['a', 'b', 'c']);
      await setup.client.update<Thing>({ ...(await setup.client.get(Thing, a)), spec: {} });
      await setup.client.delete(Thing, metadata);
      expect(await setup.names(red)).to.deep.equal(['b']);
      expect(await setup.names({ index: { color: 'blue' } })).to.deep.equal([]);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('by several indexes at once, combined with namespace, labels and controller', async () => {
      const indexers = { size: ({ spec }: Thing) => [String(spec?.size)] };
      const setup = new Setup({ indexers });
      const controller = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'o', controller: true };
      const metadata = { labels: { app: 'web' }, ownerReferences: [controller] };
      setup.server.put('a', { metadata, spec: { size: 1, color: 'red' } });
      setup.server.put('b', { spec: { size: 1, color: 'red' } });
      setup.server.put('c', { spec: { size: 2, color: 'red' } });
      setup.server.put('a', { spec: { size: 1, color: 'red' } }, 'other');
      setup.cache.index(Thing, 'color', byColor);
      await setup.sync();
      const index = { color: 'red', size: '1' };
      expect(await setup.names({ index, namespace: 'ns' })).to.deep.equal(['a', 'b']);
      expect(await setup.names({ index, labelSelector: 'app=web' })).to.deep.equal(['a']);
      expect(await setup.names({ index, controllerUid: 'o' })).to.deep.equal(['a']);
      expect(await setup.names({ index: { ...index, namespace: 'other' } })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('by an index that is declared after the start', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { color: 'red' } });
      await setup.sync();
      setup.cache.index(Thing, 'color', byColor);
      setup.cache.index(Thing, 'color', byColor);
      expect(await setup.names({ index: { color: 'red' } })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal([]);
      const other = (): void => setup.cache.index(Thing, 'color', () => []);
      expect(other).to.throw('another index color').with.property('code', 'InvalidOption');
      await setup.cache.stop();
    });

    it('from the server with the same result when the cache cannot answer', async () => {
      const setup = new Setup({ namespaces: ['ns'], indexers: { color: byColor } });
      setup.server.put('a', { spec: { color: 'red' } }, 'other');
      setup.server.put('b', { spec: { color: 'blue' } }, 'other');
      const red = { namespace: 'other', index: { color: 'red' } };
      expect(await setup.names(red), 'no informer').to.deep.equal(['a']);
      await setup.sync();
      expect(await setup.names(red)).to.deep.equal(['a']);
      const { items } = await setup.client.list(Thing, { ...red, metadataOnly: true });
      expect(items.map((item) => Object.keys(item))).to.deep.equal([
        ['apiVersion', 'kind', 'metadata'],
      ]);
      for await (const page of setup.client.pages(Thing, red)) {
        expect(page.items.map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
      }
      expect(setup.verbs()).to.deep.equal(['list', 'list', 'list']);
      await setup.cache.stop();
    });

    it('and rejects an unknown index, naming the known ones, and a value that is not a string', async () => {
      const setup = new Setup({ indexers: { color: byColor } });
      await setup.sync();
      const unknown = await failure(setup.client.list(Thing, { index: { colour: 'red' } }));
      expect(unknown).to.have.property('code', 'InvalidOption');
      expect(unknown).to.have.property(
        'message',
        'list Thing: no index colour; the known ones are namespace, controllerUid, keptOwnerUid, color',
      );
      const index = { color: undefined as unknown as string };
      expect(await failure(setup.client.list(Thing, { index })))
        .to.have.property('message')
        .that.equals('list Thing: index color: want a string, got undefined');
      await setup.cache.stop();
    });

    it('and rejects while a quarantined object may belong to the list', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { color: 'red' } });
      setup.cache.index(Thing, 'color', ({ spec }) => {
        if (spec?.size === 0) throw new Error('no size');
        return [spec?.color];
      });
      await setup.sync();
      setup.server.put('a', { spec: { color: 'red', size: 0 } });
      await setup.clock.advance(0);
      const refused = await failure(setup.client.list(Thing, { index: { color: 'red' } }));
      expect(refused).to.have.property('code', 'Quarantined');
      await setup.cache.stop();
    });
  });

  describe('reads its writes', () => {
    it('while the watch is behind: created, updated and deleted objects', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      setup.server.paused = true;
      const thing = await setup.client.get(Thing, a);
      await setup.client.update({ ...thing, spec: { size: 2 } });
      expect((await setup.client.get(Thing, a)).spec).to.deep.equal({ size: 2 });
      await setup.client.create({ ...thing, metadata: { namespace: 'ns', name: 'b' } });
      expect(await setup.names()).to.deep.equal(['a', 'b']);
      await setup.client.delete(Thing, a);
      expect(isNotFound(await failure(setup.client.get(Thing, a)))).to.equal(true);
      expect(await setup.names()).to.deep.equal(['b']);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('and later writes of others, once the watch has caught up', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      setup.server.paused = true;
      const thing = await setup.client.get(Thing, a);
      await setup.client.update({ ...thing, spec: { size: 2 } });
      setup.server.put('a', { spec: { size: 3 } });
      setup.server.resume();
      await setup.clock.advance(0);
      expect((await setup.client.get(Thing, a)).spec).to.deep.equal({ size: 3 });
      setup.server.remove('a');
      await setup.clock.advance(0);
      expect(await setup.names()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('and hides a deleted object, but not its successor of the same name', async () => {
      const setup = new Setup();
      setup.server.put('a');
      await setup.sync();
      setup.server.paused = true;
      await setup.client.delete(Thing, a);
      const created = await setup.client.create<Thing>({
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata: a,
      });
      expect((await setup.client.get(Thing, a)).metadata.uid).to.equal(created.metadata.uid);
      setup.server.resume();
      await setup.clock.advance(0);
      expect((await setup.client.get(Thing, a)).metadata.uid).to.equal(created.metadata.uid);
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(0);
      await setup.cache.stop();
    });

    it('as frozen objects, while the write itself returns a mutable one', async () => {
      const setup = new Setup();
      await setup.sync();
      setup.server.paused = true;
      const created = await setup.client.create<Thing>({
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata: a,
        spec: { size: 1 },
      });
      created.spec!.size = 2;
      const read = await setup.client.get(Thing, a);
      expect(read.spec).to.deep.equal({ size: 1 });
      expect(Object.isFrozen(read.spec)).to.equal(true);
      await setup.cache.stop();
    });

    it('and discards them once the watch has caught up, by any event', async () => {
      const setup = new Setup({ labelSelector: 'app=web' });
      await setup.sync();
      setup.server.paused = true;
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
      await setup.client.create<Thing>({ ...thing, metadata: a });
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(1);
      setup.server.resume();
      await setup.clock.advance(0);
      // No event within the cache's selection has occurred.
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(1);
      setup.server.bookmark();
      await setup.clock.advance(0);
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(0);
      await setup.cache.stop();
    });

    it('and discards them after the server was restored from a backup', async () => {
      const setup = new Setup();
      await setup.sync();
      setup.server.paused = true;
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
      await setup.client.create<Thing>({ ...thing, metadata: a });
      setup.server.rollBack();
      setup.server.resume();
      await setup.clock.advance(0);
      expect(await setup.names()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('and treats an object as deleted once its last finalizer is removed', async () => {
      const setup = new Setup();
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      const metadata = { deletionTimestamp, finalizers: ['example.com/wait'] };
      const thing = setup.server.put('a', { metadata });
      await setup.sync();
      setup.server.paused = true;
      await setup.client.update({ ...thing, metadata: { ...thing.metadata, finalizers: [] } });
      expect(isNotFound(await failure(setup.client.get(Thing, a)))).to.equal(true);
      await setup.cache.stop();
    });

    it('that were answered while the cache was filled', async () => {
      const setup = new Setup();
      setup.server.put('a');
      setup.server.put('b');
      setup.server.eventsLeft = 0;
      await setup.sync();
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
      await setup.client.create<Thing>({ ...thing, metadata: { ...a, name: 'c' } });
      await setup.client.update<Thing>({ ...thing, metadata: a, spec: { size: 2 } });
      await setup.client.delete(Thing, { ...a, name: 'b' });
      setup.server.requests.length = 0;
      // The two objects of the list, as they were at its start, and its end.
      setup.server.eventsLeft = 3;
      setup.server.resume();
      await setup.clock.advance(0);
      expect((await setup.client.get(Thing, a)).spec).to.deep.equal({ size: 2 });
      const c = await setup.client.get(Thing, { ...a, name: 'c' });
      expect(c.metadata.name).to.equal('c');
      expect(setup.verbs(), 'from the cache').to.deep.equal([]);
      expect(await setup.settle(setup.names(), 1_000)).to.deep.equal(['a', 'c']);
      setup.server.eventsLeft = Infinity;
      setup.server.resume();
      await setup.clock.advance(0);
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(0);
      await setup.cache.stop();
    });

    it('and remembers none of those that a later list shows, however often lists fail', async () => {
      const setup = new Setup();
      const size = (): number | undefined => setup.cache.peek(Thing)?.overlay.size;
      const create = (name: string): Promise<Thing> =>
        setup.client.create<Thing>({
          ...{ apiVersion: 'example.com/v1', kind: 'Thing' },
          metadata: { ...a, name },
        });
      setup.server.eventsLeft = 0;
      setup.server.failures['list'] = [apiError(500)];
      await setup.sync();
      await create('a');
      expect(size(), 'during the first list').to.equal(1);
      await setup.clock.advance(30_000);
      setup.server.eventsLeft = Infinity;
      await create('b');
      expect(size(), 'between two lists').to.equal(1);
      await setup.clock.advance(2_000);
      expect(size(), 'after the start of the second list').to.equal(0);
      await setup.clock.advance(60_000);
      expect(await setup.names()).to.deep.equal(['a', 'b']);
      await setup.cache.stop();
    });

    it('but ignores dry runs', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      setup.server.paused = true;
      const thing = await setup.client.get(Thing, a);
      const dryRun = true;
      await setup.client.update({ ...thing, spec: { size: 2 } }, { dryRun });
      await setup.client.delete(Thing, a, { dryRun });
      await setup.client.deleteCollection(Thing, { dryRun });
      expect((await setup.client.get(Thing, a)).spec).to.deep.equal({ size: 1 });
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('when it waits for a later state, which no former one is', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { color: 'red' } });
      await setup.sync();
      setup.server.paused = true;
      setup.server.put('a', { spec: { color: 'blue' } });
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: a };
      await setup.client.update<Thing>({ ...thing, spec: { color: 'red' } });
      const waiting = waitFor<Thing>(setup.client, thing, {
        until: (now) => now?.spec?.color === 'blue',
        clock: setup.clock,
      });
      await setup.clock.advance(0);
      setup.server.resume();
      expect(await setup.settle(waiting)).to.equal('pending');
      const { resourceVersion } = setup.server.put('a', { spec: { color: 'blue' } }).metadata;
      const seen = await setup.settle(waiting);
      expect(seen).to.have.nested.property('metadata.resourceVersion', resourceVersion);
      await setup.cache.stop();
    });

    it('which evict a Pod: a read waits for the watch', async () => {
      const [server, clock] = [new FakeServer(Pod), new VirtualClock()];
      const cache = new Cache({ client: server.client(), clock });
      const evicting: Client = {
        ...server.client(),
        create: async (object) => {
          server.remove(object.metadata.name ?? '');
          return { apiVersion: 'v1', kind: 'Status', metadata: {} } as never;
        },
      };
      const client = cachedClient(evicting, cache, { clock });
      server.put('a');
      cache.informer(Pod);
      cache.start();
      await clock.advance(0);
      server.paused = true;
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: a };
      await client.create(eviction, { subresource: 'eviction' });
      const read = failure(client.get(Pod, a));
      await clock.advance(500);
      server.resume();
      await clock.advance(0);
      expect(isNotFound(await read)).to.equal(true);
      expect(server.requests.map(({ verb }) => verb)).to.deep.equal(['watch']);
      await cache.stop();
    });

    it('which evict a Pod that the selectors exclude: no read waits', async () => {
      const [server, clock] = [new FakeServer(Pod), new VirtualClock()];
      const types = [cachedType({ type: Pod, labelSelector: 'app=web' })];
      const cache = new Cache({ client: server.client(), clock, types });
      const evicting: Client = {
        ...server.client(),
        create: async () => ({ apiVersion: 'v1', kind: 'Status', metadata: {} }) as never,
      };
      const client = cachedClient(evicting, cache, { clock });
      server.put('a');
      cache.informer(Pod);
      cache.start();
      await clock.advance(0);
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: a };
      await client.create(eviction, { subresource: 'eviction' });
      expect((await client.list(Pod)).items).to.deep.equal([]);
      expect(server.requests.map(({ verb }) => verb)).to.deep.equal(['watch']);
      await cache.stop();
    });

    it('which delete, while the cache is filled, an object that is replaced: one read waits', async () => {
      for (const [preconditions, verbs] of [
        [{}, ['get']],
        [{ uid: 'uid-2' }, []],
      ] as const) {
        const setup = new Setup();
        const { server, client } = setup;
        server.streamingLists = false;
        server.pageSize = 1;
        server.put('a');
        server.put('b');
        const b = { ...a, name: 'b' };
        let deleted: Promise<unknown> | undefined;
        server.beforePage = () => {
          if (deleted !== undefined) return;
          deleted = client.delete(Thing, b, { preconditions });
          server.put('b');
        };
        await setup.sync();
        await deleted;
        const read = client.get(Thing, b);
        expect(await setup.settle(read, 1_000)).to.have.nested.property('metadata.uid', 'uid-3');
        const again = client.get(Thing, b);
        expect(await setup.settle(again)).to.have.nested.property('metadata.uid', 'uid-3');
        expect(setup.verbs()).to.deep.equal(verbs);
        await setup.cache.stop();
      }
    });

    it('in lists only if they match the selector', async () => {
      const setup = new Setup({ labelSelector: 'app=web' });
      await setup.sync();
      setup.server.paused = true;
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
      const labels = { app: 'web', tier: 'x' };
      await setup.client.create<Thing>({ ...thing, metadata: { ...a, labels } });
      await setup.client.create<Thing>({ ...thing, metadata: { ...a, name: 'b' } });
      expect(await setup.names()).to.deep.equal(['a']);
      expect(await setup.names({ labelSelector: 'tier=y' })).to.deep.equal([]);
      expect((await setup.client.get(Thing, { ...a, name: 'b' })).metadata.name).to.equal('b');
      await setup.cache.stop();
    });

    it('after a deleteCollection: lists wait for the watch, or query the server once', async () => {
      const setup = new Setup();
      for (const name of ['a', 'b']) setup.server.put(name, { metadata: { labels: { app: 'x' } } });
      setup.server.put('c');
      await setup.sync();
      setup.server.paused = true;
      const labelSelector = { matchLabels: { app: 'x' } };
      await setup.client.deleteCollection(Thing, { namespace: 'ns', labelSelector });
      const list = setup.names();
      expect(await setup.settle(list, 500)).to.equal('pending');
      setup.server.resume();
      expect(await setup.settle(list)).to.deep.equal(['c']);
      setup.server.paused = true;
      await setup.client.deleteCollection(Thing);
      expect(await setup.settle(setup.names(), 1_000)).to.deep.equal([]);
      expect(await setup.settle(setup.names())).to.deep.equal(['c']);
      expect(setup.verbs()).to.deep.equal(['list']);
      await setup.cache.stop();
    });

    for (const [where, namespace] of [
      ['the namespace', 'ns'],
      ['all namespaces', undefined],
      ['all namespaces, by an empty string', ''],
    ] as const) {
      it(`after a deleteCollection in ${where}: a read waits, or queries the server`, async () => {
        const setup = new Setup();
        setup.server.put('a');
        setup.server.put('a', {}, 'other');
        await setup.sync();
        setup.server.paused = true;
        await setup.client.deleteCollection(Thing, { namespace });
        const seen = failure(setup.client.get(Thing, a));
        expect(await setup.settle(seen, 500)).to.equal('pending');
        expect(isNotFound(await setup.settle(seen, 1_000))).to.equal(true);
        const kept = namespace === 'ns' ? ['a'] : [];
        expect(await setup.settle(setup.names({ namespace: 'other' }), 1_000)).to.deep.equal(kept);
        setup.server.resume();
        await setup.clock.advance(0);
        expect(await setup.names()).to.deep.equal(kept);
        await setup.cache.stop();
      });
    }

    it('after a deleteCollection of objects that the watch has not shown yet', async () => {
      const setup = new Setup();
      setup.server.put('old', { metadata: { labels: { app: 'y' } } });
      setup.server.put('kept', { metadata: { labels: { app: 'x' } } });
      await setup.sync();
      setup.server.paused = true;
      const relabel = async (name: string, app: string): Promise<void> => {
        const { metadata, ...rest } = await setup.client.get(Thing, { ...a, name });
        await setup.client.update({ ...rest, metadata: { ...metadata, labels: { app } } });
      };
      const labels = { app: 'x' };
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
      await setup.client.create<Thing>({ ...thing, metadata: { ...a, labels } });
      await relabel('old', 'x');
      await relabel('kept', 'y');
      setup.server.requests.length = 0;
      const labelSelector = { matchLabels: { app: 'x' } };
      await setup.client.deleteCollection(Thing, { namespace: 'ns', labelSelector });
      expect((await setup.client.get(Thing, { ...a, name: 'kept' })).metadata.name).to.equal(
        'kept',
      );
      expect(setup.verbs()).to.deep.equal([]);
      for (const name of ['a', 'old']) {
        const seen = failure(setup.client.get(Thing, { ...a, name }));
        expect(isNotFound(await setup.settle(seen, 1_000)), name).to.equal(true);
      }
      setup.server.resume();
      await setup.clock.advance(0);
      expect(await setup.names()).to.deep.equal(['kept']);
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(0);
      await setup.cache.stop();
    });

    it('under any order of writes and watch events', async () => {
      const names = fc.constantFrom('a', 'b', 'c');
      const step = fc.record({
        do: fc.constantFrom('write', 'write', 'delete', 'other', 'otherDelete', 'pause', 'resume'),
        name: names,
      });
      const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (script) => {
        const setup = new Setup();
        await setup.sync();
        const written = new Map<string, string | undefined>();
        for (const { do: what, name } of script) {
          await carryOut(setup, { what, name, written });
          await verify(setup, written);
        }
        setup.server.resume();
        await setup.clock.advance(0);
        const cached = (await setup.client.list(Thing)).items;
        const live = setup.server.objects();
        const versions = (things: readonly Thing[]): (string | undefined)[] =>
          things.map(({ metadata }) => metadata.resourceVersion).sort();
        expect(versions(cached)).to.deep.equal(versions(live));
        expect(setup.cache.peek(Thing)?.overlay.size).to.equal(0);
        await setup.cache.stop();
        expect(setup.clock.pendingTimers).to.equal(0);
      });
      await fc.assert(property, { numRuns: tries(60) });
    });

    interface Step {
      readonly what: string;
      readonly name: string;
      /** Last version that this client wrote, by name; undefined: deleted. */
      readonly written: Map<string, string | undefined>;
    }

    async function carryOut({ server, client, clock }: Setup, step: Step): Promise<void> {
      const { what, name, written } = step;
      const live = server.objects().find(({ metadata }) => metadata.name === name);
      const key = { namespace: 'ns', name };
      if (what === 'pause') server.paused = true;
      if (what === 'resume') server.resume();
      if (what === 'other') server.put(name);
      if (what === 'otherDelete' && live !== undefined) server.remove(name);
      if (what === 'delete' && live !== undefined) {
        await client.delete(Thing, key);
        written.set(name, undefined);
      }
      if (what === 'write') {
        const thing: Thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: key };
        const answer = await (live === undefined ? client.create(thing) : client.update(thing));
        written.set(name, answer.metadata.resourceVersion);
      }
      await clock.advance(0);
    }

    /** Expects that a read is never older than the last write. */
    async function verify({ client }: Setup, written: Step['written']): Promise<void> {
      const { items } = await client.list(Thing);
      for (const [name, version] of written) {
        const got = await client.get(Thing, { namespace: 'ns', name }).catch(() => undefined);
        const listed = items.find(({ metadata }) => metadata.name === name);
        expect(listed?.metadata.resourceVersion).to.equal(got?.metadata.resourceVersion);
        if (version === undefined || got === undefined) continue;
        expect(Number(got.metadata.resourceVersion)).to.be.at.least(Number(version));
      }
    }
  });

  it('refuses invalid calls as the wrapped client does', async () => {
    const { client } = embeddedClient();
    const cached = cachedClient(client, new Cache({ client }));
    const none = undefined as never;
    const calls: ((client: Client) => Promise<unknown>)[] = [
      (c) => c.get(none, a),
      (c) => c.get(null as never, a),
      (c) => c.list(none),
      (c) => c.list(null as never),
      (c) => c.delete(null as never, a),
      (c) => c.create(none),
      (c) => c.update({ apiVersion: 'v1', kind: 'Node' } as never),
      (c) => c.update({ apiVersion: 'v1', kind: 'Scale', metadata: a }, { subresource: 'scale' }),
      (c) => c.apply(null as never, { fieldManager: 'me' }),
      (c) => c.patch(ConfigMap, a, none),
      (c) => c.patch(ConfigMap, a, { type: 'merge' } as never),
      (c) => c.patch(ConfigMap, none, { type: 'merge', body: {} }),
      (c) => c.delete(ConfigMap, none),
    ];
    for (const call of calls) {
      const refusals = [client, cached].map((each) => failure(call(each)));
      const [expected, got] = (await Promise.all(refusals)) as [OperatorError, OperatorError];
      expect(expected.code).to.match(/^Invalid/);
      expect([got.code, got.message]).to.deep.equal([expected.code, expected.message]);
    }
  });

  const wrappers: readonly (readonly [string, (client: Client) => Client])[] = [
    ['namespaced', (client) => namespaced(client, 'ns')],
    ['withFieldManager', (client) => withFieldManager(client, 'me')],
    ['fenced', (client) => fenced(client, { check: () => undefined })],
    ['dryRun', (client) => dryRun(client)],
  ];
  for (const [name, wrap] of wrappers) {
    it(`can be wrapped by ${name}, which wraps its live client too`, async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      setup.server.paused = true;
      setup.server.put('a', { spec: { size: 2 } });
      const client: CachingClient = wrap(setup.client);
      const sizes = [client, client.live].map(
        async (one) => (await one?.get(Thing, a))?.spec?.size,
      );
      expect(await Promise.all(sizes)).to.deep.equal([1, 2]);
      await setup.cache.stop();
    });
  }

  describe('after a conflict', () => {
    async function conflict(): Promise<{ setup: Setup; seen: Thing }> {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      setup.server.paused = true;
      const seen = await setup.client.get(Thing, a);
      setup.server.put('a', { spec: { size: 2 } });
      const error = await failure(setup.client.update({ ...seen, spec: { size: 9 } }));
      expect(isConflict(error)).to.equal(true);
      return { setup, seen };
    }

    it('waits for the watch', async () => {
      const { setup } = await conflict();
      const read = setup.client.get(Thing, a);
      expect(await setup.settle(read, 500)).to.equal('pending');
      setup.server.resume();
      expect(await setup.settle(read)).to.have.nested.property('spec.size', 2);
      expect(setup.verbs()).to.deep.equal([]);
      expect(setup.clock.pendingTimers).to.equal(1);
      await setup.cache.stop();
    });

    it('queries the server when the watch takes too long', async () => {
      const { setup } = await conflict();
      const read = setup.client.get(Thing, a);
      expect(await setup.settle(read, 2_000)).to.have.nested.property('spec.size', 2);
      expect(await setup.settle(setup.client.get(Thing, a))).to.have.nested.property(
        'spec.size',
        1,
      );
      expect(setup.verbs()).to.deep.equal(['get']);
      await setup.cache.stop();
    });

    it('ends with the signal of the call, and leaves no timer', async () => {
      const { setup } = await conflict();
      const { signal } = new AbortController();
      const ended = new AbortController();
      const read = failure(setup.client.get(Thing, a, { signal: ended.signal }));
      ended.abort(new Error('enough'));
      expect(await read).to.have.property('message', 'enough');
      expect(signal.aborted).to.equal(false);
      await setup.cache.stop();
      expect(setup.clock.pendingTimers).to.equal(0);
    });

    it('waits after a write to an object that is gone, until the watch shows that', async () => {
      const setup = new Setup();
      setup.server.put('a');
      await setup.sync();
      setup.server.paused = true;
      const seen = await setup.client.get(Thing, a);
      setup.server.remove('a');
      expect(isNotFound(await failure(setup.client.update(seen)))).to.equal(true);
      const read = failure(setup.client.get(Thing, a));
      expect(await setup.settle(read, 500)).to.equal('pending');
      setup.server.resume();
      expect(isNotFound(await setup.settle(read))).to.equal(true);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('waits after a delete of a UID that another object has replaced', async () => {
      const setup = new Setup();
      setup.server.put('a');
      await setup.sync();
      setup.server.paused = true;
      const { metadata } = await setup.client.get(Thing, a);
      setup.server.remove('a');
      const { uid } = setup.server.put('a').metadata;
      const preconditions = { uid: metadata.uid ?? '' };
      const error = await failure(setup.client.delete(Thing, a, { preconditions }));
      expect(isConflict(error)).to.equal(true);
      const read = setup.client.get(Thing, a);
      expect(await setup.settle(read, 500)).to.equal('pending');
      setup.server.resume();
      expect(await setup.settle(read)).to.have.nested.property('metadata.uid', uid);
      // The cache knows the object that the server has: nothing to wait for.
      await failure(setup.client.delete(Thing, a, { preconditions }));
      expect(await setup.settle(setup.client.get(Thing, a))).to.have.nested.property(
        'metadata.uid',
        uid,
      );
      await setup.cache.stop();
    });

    it('also waits when a version conflict shows an object that the cache lacks', async () => {
      const setup = new Setup();
      await setup.sync();
      setup.server.paused = true;
      const former = setup.server.put('a');
      const preconditions = { uid: 'another' };
      await failure(setup.client.delete(Thing, a, { preconditions }));
      const absent = await setup.settle(failure(setup.client.get(Thing, a)));
      expect(isNotFound(absent), 'a UID conflict shows nothing').to.equal(true);
      const { metadata } = setup.server.put('a');
      expect(isConflict(await failure(setup.client.update(former)))).to.equal(true);
      const read = setup.client.get(Thing, a);
      expect(await setup.settle(read, 500)).to.equal('pending');
      setup.server.resume();
      const seen = await setup.settle(read);
      expect(seen).to.have.nested.property('metadata.resourceVersion', metadata.resourceVersion);
      await setup.cache.stop();
    });

    it('also waits when a create finds an object that the cache lacks', async () => {
      const setup = new Setup();
      await setup.sync();
      setup.server.paused = true;
      const { metadata, ...rest } = setup.server.put('a');
      await failure(setup.client.create({ ...rest, metadata: { ...a } }));
      const read = setup.client.get(Thing, a);
      expect(await setup.settle(read, 500)).to.equal('pending');
      setup.server.resume();
      expect(await setup.settle(read)).to.have.nested.property('metadata.uid', metadata.uid);
      await setup.cache.stop();
    });
  });
});
