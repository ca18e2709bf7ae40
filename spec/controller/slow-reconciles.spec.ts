import { expect } from 'chai';
import { forwarding } from '../../lib/client/index.js';
import { controllerFor } from '../../lib/controller/controller.js';
import type { ReconcileContext } from '../../lib/controller/reconcile.js';
import { done, requeueAfter } from '../../lib/controller/result.js';
import { sleep } from '../../lib/system/clock.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { Thing } from '../cache/fake-server.js';
import { reportingOf } from '../../lib/controller/index.js';
import type { ControllerRuntime } from '../../lib/controller/options.js';
import { ControllerSetup } from './controller-setup.js';
import type { Part } from './controller-setup.js';
import { deferred } from './deferred.js';
import { FakeOwnership } from './fake-ownership.js';

describe('RunningController', () => {
  describe('the time-out of a reconcile', () => {
    async function timedOut(setup: ControllerSetup) {
      const runs: ReconcileContext[] = [];
      const held = deferred();
      const controller = controllerFor(Thing)
        .withOptions({ reconcileTimeoutMs: 1_000 })
        .complete(async (context) => {
          runs.push(context);
          if (context.key.name === 'stuck' && runs.length === 1) await held.promise;
          return done();
        });
      setup.things.put('stuck');
      const running = await setup.start(controller);
      setup.things.put('other');
      await setup.clock.advance(1_000);
      return { runs, held, running };
    }

    it('aborts the signal and frees the worker, but starts no other reconcile of the key', async () => {
      const setup = new ControllerSetup();
      const { runs, held, running } = await timedOut(setup);
      expect(runs[0]!.signal.reason).to.have.property('code', 'Timeout');
      expect(runs.map(({ key }) => key.name)).to.deep.equal(['stuck', 'other']);
      await setup.clock.advance(60_000);
      setup.things.put('stuck');
      await setup.clock.advance(0);
      expect(runs.length).to.equal(2);
      const { active, held: heldKeys } = running.status();
      expect(active).to.deep.equal([
        {
          cluster: '',
          key: 'ns/stuck',
          reconcileID: runs[0]!.reconcileID,
          lastedMs: 61_000,
          isTimedOut: true,
          heldMs: 60_000,
          triggers: runs[0]!.triggers,
        },
      ]);
      expect(heldKeys).to.deep.equal(active);
      held.resolve();
      await setup.clock.advance(0);
      expect(runs.map(({ key }) => key.name)).to.deep.equal(['stuck', 'other', 'stuck']);
      expect(running.status().active).to.deep.equal([]);
      await setup.stop(running);
    });

    it('makes the client refuse further writes, but not reads', async () => {
      const setup = new ControllerSetup();
      const { runs, held, running } = await timedOut(setup);
      const { client, key } = runs[0]!;
      const live = await client.get(Thing, key);
      const writes = [
        () => client.update(live),
        () => client.delete(Thing, key),
        () => client.live.create({ ...live, metadata: { name: 'new', namespace: 'ns' } }),
      ];
      for (const write of writes) {
        const error = await write().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).to.be.instanceOf(OperatorError).with.property('code', 'Timeout');
      }
      expect(setup.things.objects().length).to.equal(2);
      held.resolve();
      await setup.stop(running);
    });

    it('counts as a failure, whatever the reconciler returns later', async () => {
      const setup = new ControllerSetup();
      const { held, running } = await timedOut(setup);
      held.resolve();
      await setup.clock.advance(5);
      const outcomes = setup.events.map((event) => event.type === 'reconciled' && event.outcome);
      expect(outcomes).to.deep.equal(['timeout', 'success', 'success']);
      await setup.stop(running);
    });
  });

  describe('the client that reports a time-out', () => {
    async function timedOut(setup: ControllerSetup, runtime: Partial<ControllerRuntime> = {}) {
      const held = deferred();
      const runs: ReconcileContext[] = [];
      const controller = controllerFor(Thing)
        .withOptions({ reconcileTimeoutMs: 1_000 })
        .complete(async (context) => {
          runs.push(context);
          if (runs.length === 1) await held.promise;
          return done();
        });
      setup.things.put('a');
      const running = await setup.start(controller, runtime);
      await setup.clock.advance(1_000);
      const [context] = runs;
      if (context === undefined) throw new Error('nothing was reconciled');
      const report = () => {
        const { client, signal } = reportingOf(context) ?? context;
        const write = async () => client.update(await client.get(Thing, context.key));
        return { signal, write };
      };
      return { held, running, report };
    }

    it('can write while the handler continues, but not after it has ended', async () => {
      const setup = new ControllerSetup();
      const { held, running, report } = await timedOut(setup);
      const { signal, write } = report();
      expect(signal.aborted).to.equal(false);
      expect((await write()).metadata.name).to.equal('a');
      held.resolve();
      await setup.clock.advance(0);
      expect(await codeOf(write())).to.equal('Stopped');
      await setup.stop(running);
    });

    it('cannot write after the controller has lost the key or has stopped', async () => {
      const setup = new ControllerSetup();
      const ownership = new FakeOwnership('ns/a');
      const { running, report } = await timedOut(setup, { ownership });
      const { signal, write } = report();
      ownership.lose('ns/a');
      expect(await codeOf(write())).to.equal('Fenced');
      await setup.stop(running);
      expect(signal.reason).to.have.property('code', 'Stopped');
    });

    it('cannot write if it is created after the controller has stopped', async () => {
      const setup = new ControllerSetup();
      const { running, report } = await timedOut(setup);
      await setup.stop(running);
      expect(report().signal.reason).to.have.property('code', 'Stopped');
    });
  });

  it('logs an error that a handler throws after its time-out', async () => {
    const setup = new ControllerSetup();
    const held = deferred();
    const controller = controllerFor(Thing)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .complete(async () => {
        await held.promise;
        throw new Error('the disk is full');
      });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(1_500.25);
    held.resolve();
    await setup.clock.advance(0);
    const [line] = setup.logged.filter(({ level }) => level === 'warn');
    expect(line?.message).to.equal('reconcile ended after its time-out');
    expect(line?.fields['lastedMs']).to.equal(1_500);
    expect(line?.fields['error']).to.have.property('message', 'the disk is full');
    await setup.stop(running);
  });

  it('logs a time-out once if the handler ends when its signal aborts', async () => {
    const setup = new ControllerSetup();
    const controller = controllerFor(Thing)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .complete(async ({ clock, signal }) => {
        try {
          await sleep(clock, 5_000, signal);
        } catch (cause) {
          throw new Error('not done', { cause });
        }
        return done();
      });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(1_001);
    const told = setup.logged.filter(({ level }) => level === 'warn' || level === 'error');
    expect(told.map(({ message }) => message)).to.deep.equal(['reconcile failed: timeout']);
    await setup.stop(running);
  });

  describe('a reconcile that does not end', () => {
    /** Advances the clock. Returns, for each warning, how long the reconcile had lasted. */
    const warned = async (setup: ControllerSetup, ms: number): Promise<readonly unknown[]> => {
      setup.logged.length = 0;
      await setup.clock.advance(ms);
      const lines = setup.logged.filter(({ level }) => level === 'warn');
      // The cache warns about its quiet watches, too.
      return lines.flatMap(({ fields }) => fields['lastedMs'] ?? []);
    };

    it('is logged with its object after a minute, and again each time that its duration has doubled', async () => {
      const setup = new ControllerSetup();
      const held = deferred();
      const controller = controllerFor(Thing)
        .withOptions({ maxConcurrentReconciles: 2 })
        .complete(async ({ key }) => {
          if (key.name === 'stuck') await held.promise;
          return done();
        });
      setup.things.put('quick');
      const running = await setup.start(controller);
      await setup.clock.advance(25_000);
      setup.things.put('stuck');
      expect(await warned(setup, 59_999)).to.deep.equal([]);
      expect(await warned(setup, 1)).to.deep.equal([60_000]);
      expect(setup.logged[0]?.message).to.equal(
        'the reconcile has not ended, so its key waits: the handler still runs; give signal to each long call, and set reconcileTimeoutMs',
      );
      expect(setup.logged[0]?.fields).to.deep.include({
        ...{ controller: 'thing', kind: 'Thing', namespace: 'ns', name: 'stuck' },
      });
      expect(await warned(setup, 59_999)).to.deep.equal([]);
      expect(await warned(setup, 1)).to.deep.equal([120_000]);
      expect(await warned(setup, 840_000)).to.deep.equal([240_000, 480_000, 960_000]);
      held.resolve();
      expect(await warned(setup, 3_600_000)).to.deep.equal([]);
      await setup.stop(running);
      expect(setup.clock.pendingTimers).to.equal(0);
    });

    it('is logged on time although another reconcile began much earlier', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing)
        .withOptions({ maxConcurrentReconciles: 2 })
        .complete(() => new Promise(() => undefined));
      setup.things.put('early');
      const running = await setup.start(controller);
      await setup.clock.advance(130_000);
      setup.things.put('late');
      await setup.clock.advance(0);
      expect(await warned(setup, 110_000)).to.deep.equal([60_000, 240_000]);
      await setup.stop(running);
      expect(setup.clock.pendingTimers).to.equal(0);
    });

    it('is not logged while each of many reconciles ends within a minute', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(async ({ clock }) => {
        await new Promise<void>((resolve) => clock.setTimer(resolve, 59_000));
        return requeueAfter(1);
      });
      setup.things.put('a');
      const running = await setup.start(controller);
      expect(await warned(setup, 3_600_000)).to.deep.equal([]);
      await setup.stop(running);
    });

    it('is logged a minute after its time-out, if it has a time-out', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing)
        .withOptions({ reconcileTimeoutMs: 600_000 })
        .complete(() => new Promise(() => undefined));
      setup.things.put('a');
      const running = await setup.start(controller);
      expect(await warned(setup, 659_999)).to.deep.equal([]);
      expect(await warned(setup, 1)).to.deep.equal([660_000]);
      expect(setup.logged[0]?.message).to.include('the handler ignores its aborted signal');
      await setup.stop(running);
    });

    it('is logged with the writes that its handler left pending', async () => {
      const setup = new ControllerSetup();
      const client = {
        ...forwarding(setup.cached),
        create: () => new Promise<never>(() => undefined),
      };
      const controller = controllerFor(Thing).complete(async ({ client: own }) => {
        void own.create<Part>({ apiVersion: 'v1', kind: 'Part', metadata: { name: 'p' } });
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller, { client });
      expect(await warned(setup, 60_000)).to.deep.equal([60_000]);
      expect(setup.logged[0]?.message).to.equal(
        'the reconcile has not ended, so its key waits: pending create Part p',
      );
      void running.stop(0);
      await setup.cache.stop();
    });
  });
});

/** Returns the code of the error of `work`; undefined if it succeeds. */
async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}
