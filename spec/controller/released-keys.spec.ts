import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { done, requeueAfter, TerminalError } from '../../lib/controller/result.js';
import type { Result } from '../../lib/controller/result.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';
import type { Part } from './controller-setup.js';
import { deferred } from './deferred.js';
import { FakeOwnership } from './fake-ownership.js';
import { codeOf, noting, watched } from './key-ownership-setup.js';

describe('a controller that owns only some keys', () => {
  describe('when it releases keys', () => {
    it('drops queued and delayed keys, and completes the release at once', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a', 'ns/b', 'ns/c');
      const first = deferred();
      const { controller, seen } = noting(async ({ key }) => {
        if (key.name === 'a') await first.promise;
        return requeueAfter(500);
      }, 1);
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      setup.things.put('b');
      running.enqueue({ namespace: 'ns', name: 'c' }, { afterMs: 100 });
      await setup.clock.advance(0);
      expect([running.status().depth, running.status().delayed]).to.deep.equal([1, 1]);
      const isReleased = watched(setup, ownership.release(10_000, 'ns/b', 'ns/c'));
      expect(await isReleased()).to.equal(true);
      expect([running.status().depth, running.status().delayed]).to.deep.equal([0, 0]);
      first.resolve();
      await setup.clock.advance(600);
      expect(seen).to.deep.equal(['ns/a event', 'ns/a requeue']);
      await setup.stop(running);
    });

    it('does not reconcile a queued key that it no longer owns, also without a notification', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a', 'ns/b');
      const first = deferred();
      const { controller, seen } = noting(async () => {
        await first.promise;
        return done();
      }, 1);
      setup.things.put('a');
      setup.things.put('b');
      const running = await setup.start(controller, { ownership });
      ownership.lose('ns/b');
      first.resolve();
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['ns/a event']);
      expect(running.status().active).to.deep.equal([]);
      await setup.stop(running);
    });

    it('waits for a running reconcile, and neither retries nor requeues it', async () => {
      for (const end of ['done', 'requeue', 'throw', 'changed'] as const) {
        const setup = new ControllerSetup();
        const ownership = new FakeOwnership('ns/a');
        const held = deferred();
        const { controller, seen } = noting(async () => {
          await held.promise;
          if (end === 'throw') throw new Error('no');
          return end === 'requeue' ? requeueAfter(10) : done();
        });
        setup.things.put('a');
        const running = await setup.start(controller, { ownership });
        if (end === 'changed') setup.things.put('a');
        await setup.clock.advance(0);
        const isReleased = watched(setup, ownership.release(10_000, 'ns/a'));
        setup.things.put('a');
        expect(await isReleased(9_000)).to.equal(false);
        held.resolve();
        expect(await isReleased()).to.equal(true);
        await setup.clock.advance(100_000);
        expect(seen, end).to.deep.equal(['ns/a event']);
        expect(running.status().lastErrors).to.deep.equal([]);
        await setup.stop(running);
      }
    });

    it('aborts a reconcile that exceeds the grace period, with the reason Fenced', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      let reason: unknown;
      const { controller } = noting(async ({ signal }) => {
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(signal.reason as Error);
          });
        });
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      const isReleased = watched(setup, ownership.release(5_000, 'ns/a'));
      expect(await isReleased(4_999)).to.equal(false);
      expect(await isReleased(1)).to.equal(true);
      expect(codeOf(reason)).to.equal('Fenced');
      expect(setup.lines('error')).to.deep.equal([]);
      await setup.stop(running);
    });

    it('completes the release although a reconcile never ends, whose writes it refuses and whose key it does not start again', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a', 'ns/b');
      const held = deferred();
      const refused: unknown[] = [];
      const { controller, seen } = noting(async ({ key, client }) => {
        if (key.name !== 'a' || seen.length > 1) return done();
        await held.promise;
        await client.update(setup.things.objects()[0]!).catch((error: unknown) => {
          refused.push(codeOf(error));
        });
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      const isReleased = watched(setup, ownership.release(100, 'ns/a'));
      expect(await isReleased(100)).to.equal(false);
      expect(await isReleased(1_000)).to.equal(true);
      expect(running.status().active.map(({ key }) => key)).to.deep.equal(['ns/a']);
      // The process acquires the key again while the old reconcile still runs: a second one must not start.
      ownership.acquire('ns/a');
      setup.things.put('b');
      await setup.clock.advance(0);
      expect(seen).to.deep.equal(['ns/a event', 'ns/b event']);
      held.resolve();
      await setup.clock.advance(0);
      expect(refused).to.deep.equal(['Fenced']);
      expect(seen[2]).to.equal('ns/a acquired');
      expect(running.status().active).to.deep.equal([]);
      await setup.stop(running);
    });

    it('waits for a write in flight, and does not pass the aborted signal on to the write', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const sent = deferred<undefined>();
      const signals: (AbortSignal | undefined)[] = [];
      const client: typeof setup.cached = {
        ...setup.cached,
        delete: async (_type, _key, options) => {
          signals.push(options?.signal);
          return sent.promise;
        },
      };
      const { controller } = noting(async (context) => {
        const { signal } = new AbortController();
        await context.client.delete(Thing, context.key, { signal });
        return new Promise<Result>(() => undefined);
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership, client });
      const isReleased = watched(setup, ownership.release(0, 'ns/a'));
      expect(await isReleased(5_000)).to.equal(false);
      expect(signals[0]?.aborted).to.equal(false);
      sent.resolve(undefined);
      expect(await isReleased()).to.equal(true);
      await setup.stop(running);
    });

    it('waits for a write that the reconciler did not await, as stop() does', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const landed = deferred();
      let writes = 0;
      const client: typeof setup.cached = {
        ...setup.cached,
        create: async (object) => {
          writes++;
          await landed.promise;
          return object;
        },
      };
      const { controller, seen } = noting(async (context) => {
        const part: Part = { apiVersion: 'v1', kind: 'Part', metadata: { name: 'p' } };
        await Promise.all([Promise.reject(new Error('no')), context.client.create(part)]);
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership, client });
      await setup.clock.advance(10);
      expect([writes, seen.length, running.status().active.length]).to.deep.equal([1, 1, 1]);
      const isReleased = watched(setup, ownership.release(60_000, 'ns/a'));
      const isStopped = watched(setup, running.stop(60_000));
      expect([await isReleased(30_000), await isStopped()]).to.deep.equal([false, false]);
      landed.resolve();
      expect([await isReleased(), await isStopped()]).to.deep.equal([true, true]);
      await setup.cache.stop();
      expect(setup.clock.pendingTimers).to.equal(0);
    });

    it('waits for the response of a write in flight after the grace period too', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const answered = deferred();
      let wasCutOff: boolean | undefined;
      const client: typeof setup.cached = {
        ...setup.cached,
        delete: async (_type, _key, { signal } = {}) => {
          await answered.promise;
          wasCutOff = signal?.aborted;
          return undefined;
        },
      };
      const { controller } = noting(async (context) => {
        await context.client.delete(Thing, context.key, { signal: context.signal });
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership, client });
      const isReleased = watched(setup, ownership.release(5_000, 'ns/a'));
      expect(await isReleased(20_000)).to.equal(false);
      answered.resolve();
      expect(await isReleased()).to.equal(true);
      expect(wasCutOff).to.equal(false);
      await setup.stop(running);
    });

    it('aborts a write in flight one second after the grace period of a stop', async () => {
      const setup = new ControllerSetup();
      let reason: unknown;
      const client: typeof setup.cached = {
        ...setup.cached,
        delete: (_type, _key, { signal } = {}) =>
          new Promise((_, reject) => {
            signal?.addEventListener('abort', () => {
              reason = signal.reason;
              reject(signal.reason as Error);
            });
          }),
      };
      const { controller } = noting(async (context) => {
        context.client.delete(Thing, context.key).catch(() => undefined);
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller, { client });
      const isStopped = watched(setup, running.stop(5_000));
      expect(await isStopped(5_999)).to.equal(false);
      expect(await isStopped(1)).to.equal(true);
      expect(codeOf(reason)).to.equal('Stopped');
      await setup.cache.stop();
    });

    it('does not wait for a reconcile that already timed out', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const controller = controllerFor(Thing)
        .withOptions({ reconcileTimeoutMs: 100 })
        .complete(() => new Promise(() => undefined));
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      await setup.clock.advance(100);
      const isReleased = watched(setup, ownership.release(60_000, 'ns/a'));
      expect(await isReleased()).to.equal(true);
      expect(running.status().held.length).to.equal(1);
      await setup.stop(running);
    });

    it('discards the triggers of queued keys, and their errors', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const types: string[][] = [];
      const { controller } = noting(async ({ triggers }) => {
        types.push(triggers.map(({ type }) => type));
        throw types.length === 1 ? new Error('no') : new TerminalError('never');
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      await ownership.release(0, 'ns/a');
      expect(running.status().lastErrors).to.deep.equal([]);
      ownership.acquire('ns/a');
      await setup.clock.advance(100);
      expect(types).to.deep.equal([['event'], ['acquired']]);
      expect(running.status().lastErrors.length).to.equal(1);
      await ownership.release(0, 'ns/a');
      expect(running.status().lastErrors).to.deep.equal([]);
      await setup.stop(running);
    });

    it('discards the back-off of a key whose reconcile fails after the release', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const held = deferred();
      const { controller, seen } = noting(async () => {
        if (seen.length === 3) await held.promise;
        // The controller is not notified of this loss. It drops the key at the end of the reconcile.
        if (seen.length === 3) ownership.lose('ns/a');
        throw new Error('no');
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      await setup.clock.advance(100);
      held.resolve();
      await setup.clock.advance(100);
      ownership.acquire('ns/a');
      await setup.clock.advance(1);
      expect(seen.length).to.equal(4);
      expect(running.status().lastErrors[0]).to.include({ failures: 1 });
      await setup.stop(running);
    });

    it('discards the back-off, so that an acquired key starts at the base delay', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const timesMs: number[] = [];
      const { controller } = noting(async () => {
        timesMs.push(setup.clock.monotonicMs());
        throw new Error('no');
      });
      setup.things.put('a');
      const running = await setup.start(controller, { ownership });
      await setup.clock.advance(1_000);
      const isReleased = watched(setup, ownership.release(0, 'ns/a'));
      expect(await isReleased()).to.equal(true);
      timesMs.length = 0;
      ownership.acquire('ns/a');
      await setup.clock.advance(5);
      expect(timesMs).to.deep.equal([1_000, 1_005]);
      await setup.stop(running);
    });
  });

  it('checks ownership of the key before each write', async () => {
    const setup = new ControllerSetup();
    const ownership = new FakeOwnership('ns/a');
    const codes: unknown[] = [];
    const { controller } = noting(async ({ client }) => {
      const live = setup.things.objects()[0]!;
      await client.update(live);
      ownership.lose('ns/a');
      for (const each of [client, client.live]) {
        await each.delete(Thing, { name: 'a', namespace: 'ns' }).catch((error: unknown) => {
          codes.push(codeOf(error));
        });
      }
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { ownership });
    expect(codes).to.deep.equal(['Fenced', 'Fenced']);
    expect(setup.things.objects().length).to.equal(1);
    expect(ownership.asked[0]).to.match(/^ns\/a: update Thing/);
    await setup.stop(running);
  });

  it('also checks before a write whether the process still leads, in the term in which the reconcile began', async () => {
    const setup = new ControllerSetup();
    const asked: string[] = [];
    let term = 1;
    const fence = {
      check: () => undefined,
      term: () => {
        const mine = term;
        return { check: (what: string) => void asked.push(`${what} in term ${mine}`) };
      },
    };
    const { controller } = noting(async ({ client, key }) => {
      term++;
      await client.update(setup.things.objects()[0]!);
      await client.live.delete(Thing, key);
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { fence });
    expect(asked.slice(0, 2)).to.deep.equal([
      'update Thing ns/a in term 1',
      'delete Thing ns/a in term 1',
    ]);
    await setup.stop(running);
  });

  it('retries a fenced write without an error log', async () => {
    const setup = new ControllerSetup();
    const ownership = new FakeOwnership('ns/a');
    const { controller, seen } = noting(async ({ client, key }) => {
      if (setup.things.objects().length === 0) return done();
      if (seen.length === 1) ownership.lose('ns/a');
      const removing = client.delete(Thing, key);
      ownership.acquire('ns/a');
      await removing;
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { ownership });
    await setup.clock.advance(10);
    expect(setup.things.objects()).to.deep.equal([]);
    expect(setup.lines('error')).to.deep.equal([]);
    expect(setup.events[0]).to.include({ outcome: 'waiting' });
    await setup.stop(running);
  });
});
