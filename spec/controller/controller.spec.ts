import { inspect } from 'node:util';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { controllerFor } from '../../lib/controller/controller.js';
import { onEvents } from '../../lib/controller/kind-source.js';
import {
  done,
  requeueAfter,
  TerminalError,
  UnfinishedFailure,
} from '../../lib/controller/result.js';
import type { Trigger } from '../../lib/controller/trigger.js';
import { keyString } from '../../lib/object/object-key.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup, Part } from './controller-setup.js';
import { deferred } from './deferred.js';

describe('Controller', () => {
  it('reconciles existing and changed objects of its kind, and the owners of owned objects', async () => {
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

  it('maps the old state of a changed object too, so that its previous owner is reconciled', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .watches(Part, ({ data = {} }) =>
        data['for'] ? [{ namespace: 'ns', name: data['for'] }] : [],
      )
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

  it('reconciles current events before objects that existed at the start', async () => {
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

  it('lets timers and sockets run while many reconciles are ready', async () => {
    const setup = new ControllerSetup();
    for (let n = 0; n < 100; n++) setup.things.put(`thing-${n}`);
    let [reconciled, turns] = [0, 0];
    const turn = (): void => {
      if (++turns < 1_000 && reconciled < 100) setImmediate(turn);
    };
    const finished = deferred();
    const controller = controllerFor(Thing).complete(async () => {
      if (reconciled === 0) setImmediate(turn);
      for (const until = performance.now() + 1; performance.now() < until;);
      if (++reconciled === 100) finished.resolve();
      return done();
    });
    const running = await setup.start(controller);
    await finished.promise;
    // 100 ms of work yields to the event loop at least every 10 ms plus one reconcile.
    expect(turns).to.be.greaterThan(4);
    await setup.stop(running);
  });

  it('runs up to maxConcurrentReconciles at once, never two of one key', async () => {
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

  it('passes the triggers to the reconciler', async () => {
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

  it('lists the retry or the requeue, whichever comes first, as the trigger after an UnfinishedFailure', async () => {
    const setup = new ControllerSetup();
    const seen: unknown[] = [];
    const delays = [60_000, 1];
    const controller = controllerFor(Thing).complete(async ({ triggers }) => {
      seen.push(triggers.map(({ type }) => type));
      const afterMs = delays.shift();
      if (afterMs === undefined) return done();
      const cause = seen.length === 1 ? new Error('busy') : new TerminalError('no');
      throw new UnfinishedFailure(cause, afterMs);
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(120_000);
    expect(seen).to.deep.equal([['event'], ['retry'], ['requeue']]);
    await setup.stop(running);
  });

  it('marks the triggers of objects of the initial list', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const controller = controllerFor(Thing).complete(async ({ key, triggers }) => {
      for (const trigger of triggers) {
        if (trigger.type !== 'event') continue;
        seen.push(`${key.name} ${trigger.event} ${trigger.isInInitialList ? 'initial' : 'later'}`);
      }
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    setup.things.put('b');
    await setup.clock.advance(0);
    setup.things.put('b', { spec: { size: 2 } });
    await setup.clock.advance(0);
    setup.things.remove('b');
    await setup.clock.advance(0);
    const later = ['b added later', 'b updated later', 'b deleted later'];
    expect(seen).to.deep.equal(['a added initial', ...later]);
    await setup.stop(running);
  });

  it('does not list a requeue as a trigger before it is due', async () => {
    const setup = new ControllerSetup();
    const seen: string[][] = [];
    const controller = controllerFor(Thing).complete(async ({ triggers }) => {
      seen.push(triggers.map(({ type }) => type));
      return seen.length < 3 ? requeueAfter(1_000) : done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    await setup.clock.advance(999);
    setup.things.put('a');
    await setup.clock.advance(999);
    expect(seen).to.deep.equal([['event'], ['event']]);
    await setup.clock.advance(1);
    expect(seen.slice(2)).to.deep.equal([['requeue']]);
    await setup.stop(running);
  });

  it('lists an event before a requeue that becomes due while no worker is free', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const held = deferred();
    const controller = controllerFor(Thing).complete(async ({ key, triggers }) => {
      seen.push(`${key.name} ${triggers.map(({ type }) => type).join(' ')}`);
      if (key.name === 'b') await held.promise;
      return seen.length === 1 ? requeueAfter(1_000) : done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    setup.things.put('b');
    await setup.clock.advance(0);
    setup.things.put('a');
    await setup.clock.advance(1_000);
    held.resolve();
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['a event', 'b event', 'a event requeue']);
    await setup.stop(running);
  });

  it('caches managedFields of owned kinds, so that their objects can be applied', async () => {
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

  it('keeps options of an earlier call of withOptions when a later call passes undefined', () => {
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
    it(`rejects the options ${inspect(options)}`, () => {
      const complete = (): unknown =>
        controllerFor(Thing)
          .withOptions(options)
          .complete(async () => done());
      expect(complete).to.throw('controller').with.property('code', 'InvalidOption');
    });
  }

  it('passes at most ten triggers to a reconcile, and the number of the triggers that it left out', async () => {
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

  it('counts and reports a requeue with its delay', async () => {
    const registry = new Registry();
    const setup = new ControllerSetup();
    const controller = controllerFor(Thing).complete(async () => requeueAfter(1_000));
    setup.things.put('a');
    const running = await setup.start(controller, { metrics: promMetrics(registry) });
    expect(setup.events).to.have.length(1);
    expect(setup.events[0]).to.include({ outcome: 'requeueAfter', againInMs: 1_000 });
    expect(await registry.metrics()).to.include(
      'controller_runtime_reconcile_total{controller="thing",result="requeue_after"} 1',
    );
    await setup.stop(running);
  });

  it('logs and counts predicates and mappers that throw, and handles the event for which a predicate failed', async () => {
    const registry = new Registry();
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
    const running = await setup.start(controller, { metrics: promMetrics(registry) });
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
    const text = await registry.metrics();
    for (const source of ['Part', 'Thing']) {
      expect(text).to.include(
        `operator_builder_source_errors_total{controller="thing",source="${source}"} 2`,
      );
    }
    await setup.stop(running);
  });

  it('reconciles only events that its predicate passes', async () => {
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

  it('rejects an enqueue of invalid keys, and reconciles valid keys', async () => {
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
});
