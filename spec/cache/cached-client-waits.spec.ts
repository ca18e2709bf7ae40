import { expect } from 'chai';
import { Cache } from '../../lib/cache/cache.js';
import { cachedType } from '../../lib/cache/cache-options.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import type { Client } from '../../lib/client/client.js';
import { isStaleWrite } from '../../lib/client/index.js';
import { isConflict, isNotFound } from '../../lib/object/api-error.js';
import { Pod } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { Setup, a, failure } from './cached-client-setup.js';
import { FakeServer, Thing } from './fake-server.js';

describe('cachedClient', () => {
  describe('after its own writes', () => {
    it('waits in a read after the eviction of a Pod until the watch shows the eviction', async () => {
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

    it('does not wait in a read after the eviction of a Pod outside the selectors', async () => {
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

    it('waits only in the first read if an object is deleted and replaced while the cache is filled', async () => {
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

    it('includes written objects in lists only if they match the selector', async () => {
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

    it('waits in lists after a deleteCollection, or lists once from the server', async () => {
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
      it(`waits in a read after a deleteCollection in ${where}, or reads from the server`, async () => {
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

    it('waits in a read after a deleteCollection of objects that the watch has not shown yet', async () => {
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
  });

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

    it('waits for the watch if the conflict is a failed test of a JSON patch', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      setup.server.paused = true;
      const { metadata } = await setup.client.get(Thing, a);
      setup.server.put('a', { spec: { size: 2 } });
      const value = metadata.resourceVersion;
      const test = { op: 'test', path: '/metadata/resourceVersion', value } as const;
      const patch = { type: 'json', operations: [test] } as const;
      expect(isStaleWrite(await failure(setup.client.patch(Thing, a, patch)))).to.equal(true);
      const read = setup.client.get(Thing, a);
      expect(await setup.settle(read, 500)).to.equal('pending');
      setup.server.resume();
      expect(await setup.settle(read)).to.have.nested.property('spec.size', 2);
      await setup.cache.stop();
    });

    it('reads from the server when the watch takes too long', async () => {
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

    it('ends its wait when the signal of the call aborts, and leaves no timer', async () => {
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

    it('waits after a write to an object that no longer exists, until the watch shows its deletion', async () => {
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

    it('waits after a delete with the UID of an object that another object has replaced', async () => {
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
      // The cache already contains the server's object, so the read does not wait.
      await failure(setup.client.delete(Thing, a, { preconditions }));
      expect(await setup.settle(setup.client.get(Thing, a))).to.have.nested.property(
        'metadata.uid',
        uid,
      );
      await setup.cache.stop();
    });

    it('also waits when a conflict of versions shows that the cache lacks an object', async () => {
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

    it('also waits when a create shows that the cache lacks an object', async () => {
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
