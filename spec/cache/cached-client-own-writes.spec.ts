import { expect } from 'chai';
import fc from 'fast-check';
import { waitFor } from '../../lib/client/index.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { tries } from '../sample.js';
import { Setup, a, failure } from './cached-client-setup.js';
import { Thing, apiError } from './fake-server.js';

describe('cachedClient', () => {
  describe('after its own writes', () => {
    it('reads created, updated and deleted objects as they were written while the watch is behind', async () => {
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

    it('reads later writes of other clients when the watch has caught up', async () => {
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

    it('hides a deleted object, but not a new object of the same name', async () => {
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

    it('reads written objects as frozen objects, although the write itself returns a mutable object', async () => {
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

    it('discards the written objects when the watch has caught up, also by a bookmark', async () => {
      const setup = new Setup({ labelSelector: 'app=web' });
      await setup.sync();
      setup.server.paused = true;
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
      await setup.client.create<Thing>({ ...thing, metadata: a });
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(1);
      setup.server.resume();
      await setup.clock.advance(0);
      // The cache does not select the new object, so its watch has delivered no event.
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(1);
      setup.server.bookmark();
      await setup.clock.advance(0);
      expect(setup.cache.peek(Thing)?.overlay.size).to.equal(0);
      await setup.cache.stop();
    });

    it('discards the written objects after the server was restored from a backup', async () => {
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

    it('treats an object as deleted when its last finalizer is removed', async () => {
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

    it('reads objects whose writes were answered while the cache was being filled', async () => {
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
      // The first events are the two objects of the list, as they were at its start, and the end of the list.
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

    it('discards the written objects that a later list shows, however often lists fail', async () => {
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

    it('does not read the result of a dry run', async () => {
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

    it('waits for a state after the written object, although an earlier state that arrives late would match', async () => {
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

    it('reads the written objects in any order of writes and watch events', async () => {
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
});
