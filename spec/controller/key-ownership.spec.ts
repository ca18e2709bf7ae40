import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { callbackSource } from '../../lib/controller/sources.js';
import { done, requeueAfter } from '../../lib/controller/result.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup, Part } from './controller-setup.js';
import { deferred } from './deferred.js';
import { FakeOwnership } from './fake-ownership.js';
import { noting, ownedBy } from './key-ownership-setup.js';
import type { Handler } from './key-ownership-setup.js';

describe('a controller that owns only some keys', () => {
  it('reconciles owned keys only', async () => {
    const setup = new ControllerSetup();
    const ownership = new FakeOwnership('ns/a');
    const { controller, seen } = noting();
    for (const name of ['a', 'b']) setup.things.put(name);
    const running = await setup.start(controller, { ownership });
    setup.things.put('b');
    setup.parts.put('p', ownedBy('b'));
    running.enqueue({ namespace: 'ns', name: 'b' });
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['ns/a event']);
    expect(running.status().depth).to.equal(0);
    await setup.stop(running);
    expect(ownership.listeners).to.equal(0);
  });

  describe('when it acquires keys', () => {
    it('reconciles every object of its kind whose key it owns, with an acquired trigger', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership();
      const { controller, seen } = noting();
      for (const name of ['a', 'b', 'c']) setup.things.put(name);
      const running = await setup.start(controller, { ownership });
      expect(seen).to.deep.equal([]);
      ownership.acquire('ns/a', 'ns/c');
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['ns/a acquired', 'ns/c acquired']);
      await setup.stop(running);
    });

    it('reconciles current events before acquired keys', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/new');
      const first = deferred();
      const { controller, seen } = noting(async ({ key }) => {
        if (key.name === 'a') await first.promise;
        return done();
      }, 1);
      for (const name of ['a', 'b', 'c']) setup.things.put(name);
      const running = await setup.start(controller, { ownership });
      ownership.acquire('ns/a', 'ns/b', 'ns/c');
      await setup.clock.advance(0);
      setup.things.put('new');
      await setup.clock.advance(0);
      first.resolve();
      await setup.clock.advance(0);
      expect(seen[1]).to.equal('ns/new event');
      expect(seen.length).to.equal(4);
      await setup.stop(running);
    });

    it('applies predicates to acquired objects, as at the start', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership();
      const seen: string[] = [];
      const predicate = ({ object }: { object: Thing }): boolean => object.spec?.color === 'red';
      const controller = controllerFor(Thing, { predicate }).complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
      setup.things.put('a', { spec: { color: 'red' } });
      setup.things.put('b', { spec: { color: 'blue' } });
      const running = await setup.start(controller, { ownership });
      ownership.acquire('ns/a', 'ns/b');
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['a']);
      await setup.stop(running);
    });

    it('reconciles a key whose object is gone but still has dependents', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership();
      const { controller, seen } = noting();
      setup.parts.put('orphan', ownedBy('gone'));
      const running = await setup.start(controller, { ownership });
      ownership.acquire('ns/gone');
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['ns/gone acquired']);
      await setup.stop(running);
    });

    it('reconciles a key once if its object was deleted while another process owned the key', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership();
      const { controller, seen } = noting();
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      setup.things.remove('a');
      await setup.clock.advance(0);
      ownership.acquire('ns/a');
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['ns/a acquired']);
      ownership.acquire();
      await setup.clock.advance(0);
      expect(seen.length).to.equal(1);
      await setup.stop(running);
    });

    it('reconciles a key without an object that a source enqueued while the controller did not own the key', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/mine');
      const hook = callbackSource<string>({ mapper: (name) => [{ namespace: 'ns', name }] });
      const seen: string[] = [];
      const controller = controllerFor(Thing)
        .from(hook)
        .complete(async ({ key, trigger }) => {
          seen.push(`${key.name} ${trigger.type}`);
          return done();
        });
      const running = await setup.start(controller, { ownership });
      expect([await hook.notify('mine'), await hook.notify('other')]).to.deep.equal([1, 0]);
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['mine source']);
      ownership.acquire('ns/other');
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['mine source', 'other acquired']);
      await setup.stop(running);
    });

    it('does not reconcile an owner for a dependent deleted before if the owner exists and the predicate excludes it', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership();
      const seen: string[] = [];
      const controller = controllerFor(Thing, { predicate: () => false })
        .owns(Part)
        .complete(async ({ key }) => {
          seen.push(key.name);
          return done();
        });
      setup.things.put('there');
      for (const name of ['there', 'gone']) setup.parts.put(`of-${name}`, ownedBy(name));
      const running = await setup.start(controller, { ownership });
      for (const name of ['there', 'gone']) setup.parts.remove(`of-${name}`);
      await setup.clock.advance(0);
      ownership.acquire('ns/there', 'ns/gone');
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['gone']);
      await setup.stop(running);
    });

    describe('after it released and acquired again keys of deleted objects', () => {
      /** Runs only `handler` once the object is deleted. */
      async function deleted(handler: Handler) {
        const setup = new ControllerSetup();
        const ownership = new FakeOwnership('ns/a', 'ns/b');
        const { controller, seen } = noting(handler, 1);
        setup.things.put('a');
        setup.things.put('b');
        const running = await setup.start(controller, { ownership });
        const reacquired = async (): Promise<string[]> => {
          seen.length = 0;
          ownership.acquire('ns/a');
          await setup.clock.advance(60_000);
          await setup.stop(running);
          return seen.filter((line) => line.startsWith('ns/a'));
        };
        return { setup, ownership, running, reacquired };
      }

      for (const [title, release] of [
        ['', true],
        [', and was lost without a notification', false],
      ] as const) {
        it(`reconciles a key that waited for a worker${title}`, async () => {
          const held = deferred();
          let isHeld = false;
          const { setup, ownership, running, reacquired } = await deleted(async ({ key }) => {
            if (key.name === 'b' && isHeld) await held.promise;
            return done();
          });
          isHeld = true;
          running.enqueue({ namespace: 'ns', name: 'b' });
          setup.things.remove('a');
          await setup.clock.advance(0);
          expect(running.status().depth).to.equal(1);
          if (release) await ownership.release(0, 'ns/a');
          else ownership.lose('ns/a');
          held.resolve();
          await setup.clock.advance(0);
          expect(await reacquired()).to.deep.equal(['ns/a acquired']);
        });
      }

      it('reconciles a key that waited for its back-off', async () => {
        const { setup, ownership, running, reacquired } = await deleted(async ({ client, key }) => {
          if (key.name === 'a' && ownership.owns(key)) await client.get(Thing, key);
          return done();
        });
        setup.things.remove('a');
        await setup.clock.advance(200);
        expect(running.status().delayed).to.equal(1);
        await ownership.release(0, 'ns/a');
        expect((await reacquired())[0]).to.equal('ns/a acquired');
      });

      for (const [title, end] of [
        ['fails', () => Promise.reject(new Error('no'))],
        ['requests a requeue', async () => requeueAfter(10)],
      ] as const) {
        it(`reconciles a key whose reconcile ${title} after the release`, async () => {
          const held = deferred();
          let isHeld = false;
          const { setup, ownership, reacquired } = await deleted(async ({ key }) => {
            if (key.name !== 'a' || !isHeld) return done();
            isHeld = false;
            await held.promise;
            return end();
          });
          isHeld = true;
          setup.things.remove('a');
          await setup.clock.advance(0);
          const releasing = ownership.release(1_000, 'ns/a');
          held.resolve();
          await setup.clock.advance(0);
          await releasing;
          expect(await reacquired()).to.deep.equal(['ns/a acquired']);
        });
      }

      it('reconciles only released keys without an object, and each only once', async () => {
        const { setup, ownership, running, reacquired } = await deleted(async () => done());
        running.enqueue({ namespace: 'ns', name: 'b' }, { afterMs: 1_000 });
        await setup.clock.advance(0);
        await ownership.release(0, 'ns/a', 'ns/b');
        expect(await reacquired()).to.deep.equal(['ns/a acquired']);
      });
    });

    it('waits until the sources are synced before it reconciles acquired keys', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership();
      const { controller, seen } = noting();
      setup.things.put('a');
      setup.things.paused = true;
      const running = await setup.start(controller, { ownership });
      ownership.acquire('ns/a');
      running.enqueue({ namespace: 'ns', name: 'a' });
      await setup.clock.advance(0);
      expect(seen).to.deep.equal([]);
      setup.things.resume();
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['ns/a source']);
      await setup.stop(running);
    });
  });
});
