import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import type { Controller } from '../../lib/controller/controller.js';
import type { ReconcileContext } from '../../lib/controller/reconcile.js';
import { callbackSource } from '../../lib/controller/sources.js';
import { done, requeueAfter, TerminalError } from '../../lib/controller/result.js';
import type { Result } from '../../lib/controller/result.js';
import type { OwnerReference } from '../../lib/object/kubernetes-object.js';
import { keyString } from '../../lib/object/object-key.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup, Part } from './controller-setup.js';
import { deferred } from './deferred.js';
import { FakeOwnership } from './fake-ownership.js';

type Handler = (context: ReconcileContext) => Promise<Result>;

/** Records keys and their triggers, then runs the spec's reconciler. */
function noting(handler: Handler = async () => done(), maxConcurrentReconciles = 4) {
  const seen: string[] = [];
  const controller: Controller = controllerFor(Thing)
    .owns(Part)
    .withOptions({ maxConcurrentReconciles })
    .complete(async (context) => {
      seen.push(`${keyString(context.key)} ${context.trigger.type}`);
      return handler(context);
    });
  return { controller, seen };
}

function ownedBy(name: string): Partial<Thing> {
  const owner: OwnerReference = { apiVersion: 'example.com/v1', kind: 'Thing', name, uid: 'x' };
  return { metadata: { ownerReferences: [{ ...owner, controller: true }] } };
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Reports whether a promise has settled after all due work. */
function watched(setup: ControllerSetup, promise: Promise<void>) {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  return async (ms = 0): Promise<boolean> => {
    await setup.clock.advance(ms);
    return isSettled;
  };
}

describe('a controller that owns some keys', () => {
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

    it('reconciles once a key whose object was deleted under another owner', async () => {
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

    it('reconciles a key without an object that a source enqueued while it was unowned', async () => {
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

    it('does not reconcile an existing owner for a dependent that was deleted before', async () => {
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

    describe('after it released keys of deleted objects', () => {
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
        [', lost without notice', false],
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

      it('reconciles no other key without an object, and none twice', async () => {
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

  describe('when it releases keys', () => {
    it('drops queued and delayed keys, and resolves at once', async () => {
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

    it('does not start a queued key that was lost without notice', async () => {
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

    it('resolves despite a reconcile that never ends, refuses its writes and holds its key', async () => {
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
      // The key returns while the old reconcile still runs: never two at once.
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

    it('waits for a write in flight, and does not pass the aborted signal on to it', async () => {
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

    it('waits for a write that the reconciler did not await, as does stop()', async () => {
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

    it('discards the back-off of a key whose reconcile fails after the loss', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const held = deferred();
      const { controller, seen } = noting(async () => {
        if (seen.length === 3) await held.promise;
        // Lost without notice: only the end of the reconcile drops the key.
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

  it('also checks the process fence, in the term in which the reconcile began', async () => {
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
