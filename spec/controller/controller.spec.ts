import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { controllerFor } from '../../lib/controller/controller-builder.js';
import { onEvents } from '../../lib/controller/predicates.js';
import type { ReconcileContext } from '../../lib/controller/reconciler.js';
import { done, requeueAfter } from '../../lib/controller/result.js';
import { TerminalError } from '../../lib/controller/terminal-error.js';
import type { Trigger } from '../../lib/controller/trigger.js';
import { keyString } from '../../lib/object/object-key.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { promMetrics } from '../../lib/system/prom-metrics.js';
import { Thing, apiError } from '../cache/fake-server.js';
import { ControllerSetup, Part } from './controller-setup.js';

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('Controller', () => {
  it('reconciles what exists and what changes, its own and what it owns', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .owns(Part)
      .complete(async ({ key }) => {
        seen.push(keyString(key));
        return done();
      });
    const owner = setup.things.put('a');
    const running = await setup.start(controller);
    expect(seen).to.deep.equal(['ns/a']);
    setup.things.put('b');
    const { name = '', uid = '' } = owner.metadata;
    const reference = { apiVersion: 'example.com/v9', kind: 'Thing', name, uid };
    setup.parts.put('p', { metadata: { ownerReferences: [{ ...reference, controller: true }] } });
    setup.parts.put('q', { metadata: { ownerReferences: [reference] } });
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['ns/a', 'ns/b', 'ns/a']);
    await setup.stop(running);
  });

  it('maps the old state, too: who lost a reference hears of it', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .watches(Part, ({ data = {} }) => (data['for'] ? [{ name: data['for'] }] : []))
      .complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
    setup.parts.put('p', { data: { for: 'x' } } as Partial<Thing>);
    const running = await setup.start(controller);
    setup.parts.put('p', { data: { for: 'y' } } as Partial<Thing>);
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['x', 'y', 'x']);
    await setup.stop(running);
  });

  it('lets what happens now go before what existed', async () => {
    const setup = new ControllerSetup();
    for (const name of ['a', 'b', 'c', 'd']) setup.things.put(name);
    const seen: string[] = [];
    const first = deferred();
    const controller = controllerFor(Thing).complete(async ({ key }) => {
      seen.push(key.name);
      if (seen.length === 1) await first.promise;
      return done();
    });
    const running = await setup.start(controller);
    setup.things.put('d');
    await setup.clock.advance(0);
    first.resolve();
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['a', 'd', 'b', 'c']);
    await setup.stop(running);
  });

  it('runs as many reconciles at once as it may, never two of a key', async () => {
    const setup = new ControllerSetup();
    let [now, most] = [0, 0];
    const keys = new Set<string>();
    const controller = controllerFor(Thing)
      .withOptions({ maxConcurrentReconciles: 3 })
      .complete(async ({ key }) => {
        expect(keys.has(key.name)).to.equal(false);
        keys.add(key.name);
        most = Math.max(most, ++now);
        await new Promise<void>((resolve) => setup.clock.setTimer(resolve, 10));
        now--;
        keys.delete(key.name);
        return done();
      });
    const running = await setup.start(controller);
    for (let n = 0; n < 20; n++) setup.things.put(`t${n % 5}`);
    await setup.clock.advance(1_000);
    expect([now, most]).to.deep.equal([0, 3]);
    await setup.stop(running);
  });

  it('says what triggered it', async () => {
    const setup = new ControllerSetup();
    const seen: (readonly Trigger[])[] = [];
    const outcomes = [
      () => requeueAfter(50),
      () => {
        throw new Error('no');
      },
      done,
      done,
    ];
    const controller = controllerFor(Thing).complete(async ({ triggers, trigger }) => {
      expect(trigger).to.equal(triggers[0]);
      seen.push(triggers);
      return (outcomes.shift() ?? done)();
    });
    setup.things.put('a', { spec: { size: 1 } });
    const running = await setup.start(controller);
    await setup.clock.advance(60);
    setup.things.put('a', { spec: { size: 2 } });
    await setup.clock.advance(0);
    const types = seen.map((triggers) => triggers.map(({ type }) => type));
    expect(types).to.deep.equal([['event'], ['requeue'], ['retry'], ['event']]);
    expect(seen[0]![0]).to.deep.include({ event: 'added', isInInitialList: true });
    expect(seen[2]![0]).to.deep.include({ failures: 1 });
    const last = seen[3]![0]!;
    expect(last.type === 'event' && last.changedFields).to.deep.equal(['spec.size']);
    expect(last.type === 'event' && last.object.uid).to.equal('uid-1');
    await setup.stop(running);
  });

  it('says what happened before what it had planned itself', async () => {
    const setup = new ControllerSetup();
    const seen: string[][] = [];
    const controller = controllerFor(Thing).complete(async ({ triggers }) => {
      seen.push(triggers.map(({ type }) => type));
      return seen.length === 1 ? requeueAfter(1_000) : done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    setup.things.put('a');
    await setup.clock.advance(5_000);
    expect(seen).to.deep.equal([['event'], ['event', 'requeue']]);
    await setup.stop(running);
  });

  it('caches managedFields of what it owns, so that it can be applied', async () => {
    const setup = new ControllerSetup();
    const managedFields = [{ manager: 'x' }];
    const seen: unknown[] = [];
    const controller = controllerFor(Thing)
      .owns(Part)
      .complete(async ({ client }) => {
        const { items } = await client.list(Part);
        seen.push(items[0]?.metadata.managedFields);
        return done();
      });
    setup.parts.put('p', { metadata: { managedFields } });
    setup.things.put('a');
    const running = await setup.start(controller);
    expect(seen).to.deep.equal([managedFields]);
    await setup.stop(running);
  });

  it('keeps what earlier links said of its options', () => {
    const named = controllerFor(Thing).withOptions({ name: 'x' });
    const again = named.withOptions({ name: undefined, maxConcurrentReconciles: 2 });
    expect(again.complete(async () => done()).name).to.equal('x');
    expect(controllerFor(Thing).complete(async () => done()).name).to.equal('thing');
  });

  for (const options of [
    { maxConcurrentReconciles: 0 },
    { maxConcurrentReconciles: 1.5 },
    { reconcileTimeoutMs: NaN },
    { name: '' },
  ]) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      const complete = (): unknown =>
        controllerFor(Thing)
          .withOptions(options)
          .complete(async () => done());
      expect(complete).to.throw('controller').with.property('code', 'InvalidOption');
    });
  }

  it('keeps ten triggers, and counts the rest', async () => {
    const setup = new ControllerSetup();
    const seen: [number, number][] = [];
    const first = deferred();
    const controller = controllerFor(Thing).complete(async ({ triggers, moreTriggers }) => {
      seen.push([triggers.length, moreTriggers]);
      if (seen.length === 1) await first.promise;
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    for (let n = 0; n < 15; n++) setup.things.put('a');
    await setup.clock.advance(0);
    first.resolve();
    await setup.clock.advance(0);
    expect(seen).to.deep.equal([
      [1, 0],
      [10, 5],
    ]);
    await setup.stop(running);
  });

  it('retries what throws after a growing delay, and starts over after a success', async () => {
    const setup = new ControllerSetup();
    const timesMs: number[] = [];
    const controller = controllerFor(Thing).complete(async () => {
      timesMs.push(setup.clock.monotonicMs());
      if (timesMs.length === 4) return requeueAfter(1_000);
      throw new Error('not yet');
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(1_050);
    expect(timesMs).to.deep.equal([0, 5, 15, 35, 1_035, 1_040, 1_050]);
    expect(setup.lines('error')[0]).to.equal('reconcile failed: error');
    await setup.stop(running);
  });

  it('retries a conflict quietly, and a terminal error not at all', async () => {
    const registry = new Registry();
    const setup = new ControllerSetup();
    const outcomes = [apiError(409, 'Conflict', 'update'), new TerminalError('bad spec')];
    const controller = controllerFor(Thing).complete(async () => {
      throw outcomes.shift() ?? new Error('one too many');
    });
    setup.things.put('a');
    const running = await setup.start(controller, { metrics: promMetrics(registry) });
    await setup.clock.advance(100_000);
    expect(outcomes).to.deep.equal([]);
    expect(setup.lines('error')).to.deep.equal(['reconcile failed: terminal']);
    const text = await registry.metrics();
    for (const line of [
      'controller_runtime_reconcile_total{controller="thing",result="requeue"} 1',
      'controller_runtime_reconcile_total{controller="thing",result="error"} 1',
      'controller_runtime_reconcile_total{controller="thing",result="success"} 0',
      'controller_runtime_reconcile_errors_total{controller="thing"} 1',
      'controller_runtime_terminal_reconcile_errors_total{controller="thing"} 1',
      'controller_runtime_max_concurrent_reconciles{controller="thing"} 1',
      'operator_builder_reconcile_conflicts_total{controller="thing"} 1',
    ]) {
      expect(text).to.include(line);
    }
    await setup.stop(running);
  });

  it('waits as long as the server asks before it retries', async () => {
    const setup = new ControllerSetup();
    const context = { verb: 'list', kind: 'Part', status: 429, retryAfterMs: 9_000 };
    const tooMany = Object.assign(apiError(429, 'TooManyRequests'), { context });
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      if (++runs === 1) throw new AggregateError([new Error('other'), tooMany]);
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(8_999);
    expect(runs).to.equal(1);
    await setup.clock.advance(1);
    expect(runs).to.equal(2);
    await setup.stop(running);
  });

  it('fails a reconcile that returns nothing, and goes on', async () => {
    const setup = new ControllerSetup();
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      return (++runs === 1 ? undefined : done()) as never;
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(10);
    expect(runs).to.equal(2);
    await setup.stop(running);
  });

  it('survives what predicates and mappers throw; the event then matters', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const fail = (): never => {
      throw new Error('bug');
    };
    const controller = controllerFor(Thing, { predicate: fail })
      .watches(Part, fail)
      .watches(Part, async () => fail())
      .complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
    const running = await setup.start(controller);
    setup.parts.put('p');
    setup.things.put('a');
    await setup.clock.advance(0);
    setup.things.put('b');
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['a', 'b']);
    expect(setup.lines('error').sort()).to.deep.equal([
      'mapper of source Part threw',
      'mapper of source Part threw',
      'predicate of source Thing threw',
      'predicate of source Thing threw',
    ]);
    await setup.stop(running);
  });

  it('hears only what its predicates let pass', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const predicate = onEvents<Thing>({ updated: ({ object }) => (object.spec?.size ?? 0) > 1 });
    const controller = controllerFor(Thing, { predicate }).complete(async ({ key, client }) => {
      const { spec } = await client.get(Thing, key);
      seen.push(`${key.name} ${spec?.size ?? 0}`);
      return done();
    });
    const running = await setup.start(controller);
    for (const size of [0, 1, 2]) {
      setup.things.put('a', { spec: { size } });
      await setup.clock.advance(0);
    }
    expect(seen).to.deep.equal(['a 0', 'a 2']);
    await setup.stop(running);
  });

  describe('time-out', () => {
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

    it('aborts the signal and frees the worker, but not the key', async () => {
      const setup = new ControllerSetup();
      const { runs, held, running } = await timedOut(setup);
      expect(runs[0]!.signal.reason).to.have.property('code', 'Timeout');
      expect(runs.map(({ key }) => key.name)).to.deep.equal(['stuck', 'other']);
      await setup.clock.advance(60_000);
      setup.things.put('stuck');
      await setup.clock.advance(0);
      expect(runs.length).to.equal(2);
      expect(running.status().active).to.deep.equal([
        {
          key: 'ns/stuck',
          reconcileID: runs[0]!.reconcileID,
          lastedMs: 61_000,
          isTimedOut: true,
        },
      ]);
      held.resolve();
      await setup.clock.advance(0);
      expect(runs.map(({ key }) => key.name)).to.deep.equal(['stuck', 'other', 'stuck']);
      expect(running.status().active).to.deep.equal([]);
      await setup.stop(running);
    });

    it('refuses writes from then on, reads go on', async () => {
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

    it('counts as a failure, whatever the handler does later', async () => {
      const setup = new ControllerSetup();
      const { held, running } = await timedOut(setup);
      held.resolve();
      await setup.clock.advance(5);
      const outcomes = setup.events.map((event) => event.type === 'reconciled' && event.outcome);
      expect(outcomes).to.deep.equal(['timeout', 'success', 'success']);
      await setup.stop(running);
    });
  });

  describe('stop', () => {
    it('lets reconciles end, begins none, and leaves nothing behind', async () => {
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

    it('aborts what does not end within the grace period', async () => {
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

    it('can be made sooner', async () => {
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

    it('names the keys of what does not end at all', async () => {
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing).complete(() => new Promise(() => undefined));
      setup.things.put('a');
      const running = await setup.start(controller);
      await setup.stop(running);
      const [line] = setup.logged.filter(({ level }) => level === 'error');
      expect(line?.fields['keys']).to.deep.equal(['ns/a']);
    });

    it('leaves no listener on the signal', async () => {
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

  it('refuses keys that no object can have, and goes on', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const bad = [{ name: '' }, { name: 'a/b' }, { name: 'a', namespace: 'x/y' }];
    const controller = controllerFor(Thing)
      .watches(Part, () => bad)
      .complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
    const running = await setup.start(controller);
    setup.parts.put('p');
    setup.things.put('good');
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['good']);
    for (const key of bad) {
      expect(() => running.enqueue(key))
        .to.throw()
        .with.property('code', 'InvalidValue');
    }
    running.enqueue({ name: 'mine' });
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['good', 'mine']);
    await setup.stop(running);
  });

  it('survives sources that fail to sync or to stop, and starts none when one fails to start', async () => {
    const setup = new ControllerSetup();
    const fail = (): never => {
      throw new Error('bug');
    };
    const bad = { name: 'bad', start: () => ({ whenSynced: async () => fail(), stop: fail }) };
    const described = controllerFor(Thing);
    const running = await setup.start(described.from(bad).complete(async () => done()));
    await running.stop(0);
    expect(setup.lines('error')).to.deep.equal([
      'a source can not be synced: nothing is reconciled',
      'a source did not stop',
    ]);
    const worse = described.from({ name: 'worse', start: fail }).complete(async () => done());
    const error = await setup.start(worse).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'bug');
    await setup.clock.advance(0);
    expect(setup.cache.status()).to.deep.equal([]);
    await setup.cache.stop();
  });

  it('watches in standby, and reconciles once it is activated', async () => {
    const setup = new ControllerSetup();
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      runs++;
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { standby: true });
    expect([runs, running.status().depth, running.status().isActive]).to.deep.equal([0, 1, false]);
    await running.activate();
    await setup.clock.advance(0);
    expect([runs, running.status().isActive]).to.deep.equal([1, true]);
    await setup.stop(running);
  });

  it('runs without a kind that is not served, and hears of it when it is', async () => {
    const setup = new ControllerSetup();
    const unknown = (): OperatorError => new OperatorError('UnknownKind', 'no Part');
    setup.parts.failures['watch'] = [unknown(), unknown()];
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .watches(Part, ({ metadata }) => [{ name: `of ${metadata.name ?? ''}` }])
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

  describe('hot loop', () => {
    it('slows down what a reconcile asks for itself', async () => {
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

    it('is named with what changes, and slowed down', async () => {
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
      const running = await setup.start(controller);
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
      expect(loops[0]!.writesPerMinute).to.be.above(1_000);
      const runs = setup.events.filter((event) => event.type === 'reconciled').length;
      expect(runs).to.be.below(30);
      await setup.stop(running);
    }).timeout(20_000);
  });
});
