import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { controllerFor } from '../../lib/controller/controller.js';
import type { ControllerBuilder } from '../../lib/controller/controller.js';
import { done, requeueAfter, TerminalError } from '../../lib/controller/result.js';
import type { Source } from '../../lib/controller/sources.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup, Part } from './controller-setup.js';
import { deferred } from './deferred.js';

describe('RunningController', () => {
  it('reconciles no key before its sources are synced, even if it is activated', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const synced = deferred();
    const slow: Source = {
      name: 'slow',
      start: (context) => {
        context.enqueue({ name: 'early' }, { trigger: { type: 'source', source: 'slow' } });
        return { whenSynced: () => synced.promise, stop: async () => undefined };
      },
    };
    const controller = controllerFor(Thing)
      .from(slow)
      .complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
    const running = await setup.start(controller);
    await setup.clock.advance(1_000);
    expect([seen, running.status().isActive]).to.deep.equal([[], false]);
    synced.resolve();
    await setup.clock.advance(0);
    expect([seen, running.status().isActive]).to.deep.equal([['early'], true]);
    await setup.stop(running);
  });

  it('runs while the server does not serve a watched kind, and handles events of the kind as soon as the server serves it', async () => {
    const setup = new ControllerSetup();
    const unknown = (): OperatorError => new OperatorError('UnknownKind', 'no Part');
    setup.parts.failures['watch'] = [unknown(), unknown()];
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .watches(Part, ({ metadata }) => [{ namespace: 'ns', name: `of ${metadata.name ?? ''}` }])
      .complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
    setup.things.put('a');
    setup.parts.put('p');
    const running = await setup.start(controller);
    expect(seen).to.deep.equal(['a']);
    await setup.clock.advance(10_000);
    expect(seen).to.deep.equal(['a', 'of p']);
    await setup.stop(running);
  });

  it('stops although sources fail to sync or to stop, and stops all sources if one fails to start', async () => {
    const setup = new ControllerSetup();
    const fail = (): never => {
      throw new Error('bug');
    };
    const bad = { name: 'bad', start: () => ({ whenSynced: async () => fail(), stop: fail }) };
    const described = controllerFor(Thing);
    const running = await setup.start(described.from(bad).complete(async () => done()));
    await running.stop(0);
    expect(setup.lines('error')).to.deep.equal([
      'source cannot be synced; the controller reconciles nothing',
      'a source did not stop',
    ]);
    const worse = described.from({ name: 'worse', start: fail }).complete(async () => done());
    const error = await setup.start(worse).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'bug');
    await setup.clock.advance(0);
    expect(setup.cache.status()).to.deep.equal([]);
    await setup.cache.stop();
  });

  it('waits for the sync of many sources without a warning from Node', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): number => warnings.push(name);
    process.on('warning', onWarning);
    const setup = new ControllerSetup();
    const watching = Array.from({ length: 20 }).reduce<ControllerBuilder>(
      (builder) => builder.watches(Part, () => []),
      controllerFor(Thing),
    );
    const running = await setup.start(watching.complete(async () => done()));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    await setup.stop(running);
    expect(warnings).not.to.include('MaxListenersExceededWarning');
  });

  it('reconciles a key once that is added several times in one tick', async () => {
    const setup = new ControllerSetup();
    const seen: unknown[] = [];
    const controller = controllerFor(Thing).complete(async ({ key, triggers }) => {
      seen.push([key.name, triggers.length]);
      return done();
    });
    const running = await setup.start(controller);
    for (const name of ['a', 'a', 'b', 'a']) running.enqueue({ name });
    await setup.clock.advance(0);
    expect(seen).to.deep.equal([
      ['a', 3],
      ['b', 1],
    ]);
    await setup.stop(running);
  });

  it('passes each trigger to exactly one reconcile', async () => {
    for (let turns = 0; turns < 10; turns++) {
      const setup = new ControllerSetup();
      const counts: number[] = [];
      const controller = controllerFor(Thing).complete(async ({ triggers }) => {
        counts.push(
          triggers.filter((each) => each.type === 'source' && each.source === 'enqueue').length,
        );
        return done();
      });
      const running = await setup.start(controller);
      running.enqueue({ name: 'a' });
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      running.enqueue({ name: 'a' });
      await setup.clock.advance(0);
      expect(counts, `after ${turns} turns`).to.deep.equal(turns === 0 ? [2] : [1, 1]);
      await setup.stop(running);
    }
  });

  it('keeps the shortest delay of keys added before the sources synced', async () => {
    const setup = new ControllerSetup();
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      runs++;
      return done();
    });
    setup.things.paused = true;
    const running = await setup.start(controller);
    for (const afterMs of [5_000, 100, 7_000]) running.enqueue({ name: 'x' }, { afterMs });
    setup.things.resume();
    await setup.clock.advance(99);
    expect(runs).to.equal(0);
    await setup.clock.advance(1);
    expect(runs).to.equal(1);
    await setup.stop(running);
  });

  it('resets the back-off after a terminal error', async () => {
    const setup = new ControllerSetup();
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      throw ++runs === 4 ? new TerminalError('never') : new Error('no');
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(100);
    expect(runs).to.equal(4);
    setup.things.put('a');
    await setup.clock.advance(0);
    expect(running.status().nextDelayed[0]?.inMs).to.equal(5);
    await setup.stop(running);
  });

  describe('the warning about short requeues', () => {
    const warnings = (setup: ControllerSetup): readonly string[] => setup.lines('warn');

    it('is logged once after a hundred short requeues in a row, and says that requeueAfter takes milliseconds', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(async () => requeueAfter(5));
      setup.things.put('a');
      const running = await setup.start(controller);
      await setup.clock.advance(499);
      expect(warnings(setup)).to.deep.equal([]);
      await setup.clock.advance(1);
      const line =
        'the handler repeatedly requests a requeue after 5 ms; requeueAfter takes milliseconds: requeueAfter(5000) waits 5 s';
      expect(warnings(setup)).to.deep.equal([line]);
      expect(setup.logged.at(-1)?.fields).to.deep.include({ kind: 'Thing', name: 'a' });
      setup.things.put('b');
      await setup.clock.advance(2_000);
      expect(warnings(setup)).to.deep.equal([line]);
      await setup.stop(running);
    });

    it('is not logged for requeues after 100 ms', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(async () => requeueAfter(100));
      setup.things.put('a');
      const running = await setup.start(controller);
      await setup.clock.advance(15_000);
      expect(warnings(setup)).to.deep.equal([]);
      await setup.stop(running);
    });

    it('is not logged for a short requeue whose wait ends early because of events', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(async () => requeueAfter(50));
      setup.things.put('a');
      const running = await setup.start(controller);
      for (let n = 0; n < 150; n++) {
        await setup.clock.advance(20);
        setup.things.put('a', { spec: { size: n } });
      }
      expect(warnings(setup)).to.deep.equal([]);
      await setup.stop(running);
    });

    it('is logged although an event causes a reconcile between the requeues, but not if a reconcile between them returns done()', async () => {
      for (const [between, count] of [
        [requeueAfter(5), 1],
        [done(), 0],
      ] as const) {
        const setup = new ControllerSetup();
        let isBetween = false;
        const controller = controllerFor(Thing).complete(async () => {
          return isBetween ? between : requeueAfter(5);
        });
        setup.things.put('a');
        const running = await setup.start(controller);
        await setup.clock.advance(303);
        isBetween = true;
        setup.things.put('a', { spec: { size: 1 } });
        await setup.clock.advance(0);
        isBetween = false;
        setup.things.put('a', { spec: { size: 2 } });
        await setup.clock.advance(300);
        expect(warnings(setup)).to.have.length(count);
        await setup.stop(running);
      }
    });
  });

  describe('stop', () => {
    it('waits for running reconciles, starts no more, and leaves no timer or watch behind', async () => {
      const setup = new ControllerSetup();
      const stopping = new AbortController();
      const ends = deferred();
      const seen: string[] = [];
      const controller = controllerFor(Thing).complete(async ({ key, client }) => {
        seen.push(key.name);
        await ends.promise;
        await client.update(setup.things.put(key.name));
        return requeueAfter(1_000);
      });
      setup.things.put('a');
      setup.things.put('b');
      const running = await setup.start(controller, { signal: stopping.signal });
      stopping.abort();
      let isStopped = false;
      void running.stop().then(() => (isStopped = true));
      await setup.clock.advance(1_000);
      expect(isStopped).to.equal(false);
      ends.resolve();
      await setup.clock.advance(0);
      expect(isStopped).to.equal(true);
      expect(seen).to.deep.equal(['a']);
      expect(setup.lines('error')).to.deep.equal([]);
      await setup.cache.stop();
      expect(setup.clock.pendingTimers).to.equal(0);
      expect(setup.things.watches + setup.parts.watches).to.equal(0);
    });

    it('starts no reconcile of a key that the queue has just handed out', async () => {
      for (let turns = 0; turns < 10; turns++) {
        const setup = new ControllerSetup();
        const begun: boolean[] = [];
        let isStopping = false;
        const controller = controllerFor(Thing).complete(async () => {
          begun.push(isStopping);
          return done();
        });
        const running = await setup.start(controller);
        running.enqueue({ name: 'a' });
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        isStopping = true;
        await setup.stop(running);
        expect(begun, `after ${turns} turns`).to.not.include(true);
      }
    });

    it('aborts reconciles that exceed the grace period', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(async ({ signal }) => {
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller);
      let isStopped = false;
      void running.stop(5_000).then(() => (isStopped = true));
      await setup.clock.advance(4_999);
      expect(isStopped).to.equal(false);
      await setup.clock.advance(1);
      expect(isStopped).to.equal(true);
      expect(setup.lines('error')).to.deep.equal([]);
      expect(setup.events.at(-1)).to.include({ outcome: 'error', againInMs: undefined });
      await setup.cache.stop();
    });

    it('shortens the grace period when it is called again', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(async ({ signal }) => {
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
        return done();
      });
      setup.things.put('a');
      const running = await setup.start(controller);
      let isStopped = false;
      void running.stop().then(() => (isStopped = true));
      await setup.clock.advance(100);
      expect(isStopped).to.equal(false);
      void running.stop(0);
      await setup.clock.advance(0);
      expect(isStopped).to.equal(true);
      await setup.cache.stop();
    });

    it('logs the keys of reconciles that never end', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(() => new Promise(() => undefined));
      setup.things.put('a');
      const running = await setup.start(controller);
      await setup.stop(running);
      const [line] = setup.logged.filter(({ level }) => level === 'error');
      expect(line?.fields['keys']).to.deep.equal(['ns/a']);
    });

    it('does not wait for reconciles that timed out, and logs their keys', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing)
        .withOptions({ reconcileTimeoutMs: 100 })
        .complete(() => new Promise(() => undefined));
      setup.things.put('a');
      const running = await setup.start(controller);
      await setup.clock.advance(600_000);
      let isStopped = false;
      void running.stop().then(() => (isStopped = true));
      await setup.clock.advance(0);
      expect(isStopped).to.equal(true);
      const [line] = setup.logged.filter(({ fields }) => fields['keys'] !== undefined);
      expect(line?.fields['keys']).to.deep.equal(['ns/a']);
      await setup.cache.stop();
    });

    it('removes its listener from the signal', async () => {
      const { signal } = new AbortController();
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(async () => done());
      for (let n = 0; n < 50; n++) setup.things.put(`t${n}`);
      const running = await setup.start(controller, { signal });
      expect(setup.events.length).to.equal(50);
      expect(getEventListeners(signal, 'abort').length).to.equal(1);
      await setup.stop(running);
      expect(getEventListeners(signal, 'abort').length).to.equal(0);
    });
  });

  describe('hot loop detection', () => {
    it('delays a reconcile that triggers itself', async () => {
      const setup = new ControllerSetup();
      let runs = 0;
      const controller = controllerFor(Thing)
        .withOptions({ hotLoop: { maxWrites: 5, windowMs: 10_000, baseDelayMs: 1_000 } })
        .complete(async ({ client }) => {
          runs++;
          const live = setup.parts.objects()[0] ?? setup.parts.put('p');
          await client.update({ ...live, spec: { size: runs } });
          return requeueAfter(1);
        });
      setup.things.put('a');
      const running = await setup.start(controller);
      await setup.clock.advance(2_000);
      expect(runs).to.be.within(6, 8);
      await setup.stop(running);
    });

    it('counts and delays a hot loop, and reports it with the changed fields', async () => {
      const registry = new Registry();
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing)
        .withOptions({ hotLoop: { maxRepeats: 5, windowMs: 10_000, baseDelayMs: 100 } })
        .complete(async ({ key, client }) => {
          const thing = await client.get(Thing, key);
          if (thing.spec?.color !== 'red')
            await client.update({ ...thing, spec: { color: 'red' } });
          return done();
        });
      setup.things.put('a', { spec: { color: 'blue' } });
      const running = await setup.start(controller, { metrics: promMetrics(registry) });
      for (let ms = 0; ms < 60_000; ms += 10) {
        const [thing] = setup.things.objects();
        const managedFields = [{ manager: 'painter', time: '2026-01-01T00:00:00Z' }];
        const metadata = { managedFields };
        if (thing?.spec?.color !== 'blue') {
          setup.things.put('a', { spec: { color: 'blue' }, metadata });
        }
        await setup.clock.advance(10);
      }
      const loops = setup.events.filter((event) => event.type === 'hotLoop');
      expect(loops.length).to.be.within(1, 2);
      expect(loops[0]).to.deep.include({
        controller: 'thing',
        key: 'ns/a',
        paths: ['spec.color'],
        managers: ['painter'],
        delayMs: 100,
      });
      expect(loops[0]!.object).to.deep.include({ kind: 'Thing', name: 'a' });
      expect(await registry.metrics()).to.include(
        `operator_builder_hot_loops_total{controller="thing"} ${loops.length}`,
      );
      // Seven writes in the window of ten seconds.
      expect(loops[0]!.writesPerMinute).to.equal(42);
      const runs = setup.events.filter((event) => event.type === 'reconciled').length;
      // About the allowed rate passes: 5 times in 10 s.
      expect(runs).to.be.below(40);
      await setup.stop(running);
    });
  });
});
