import { expect } from 'chai';
import { Registry } from 'prom-client';
import { controllerFor } from '../../lib/controller/controller.js';
import type { Mapped, Predicate } from '../../lib/controller/kind-source.js';
import type { Reconciler } from '../../lib/controller/reconcile.js';
import { done } from '../../lib/controller/result.js';
import { callbackSource, streamSource } from '../../lib/controller/sources.js';
import type { Fence } from '../../lib/client/client.js';
import { and, not, or } from '../../lib/controller/kind-source.js';
import type { Logger } from '../../lib/system/logger.js';
import { noTracer } from '../../lib/system/tracer.js';
import type { Tracer } from '../../lib/system/tracer.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { Thing, apiError } from '../cache/fake-server.js';
import { ControllerSetup, Part } from './controller-setup.js';

/** A mapper result that the compiler rejects. */
function nonsense(answer: unknown): Mapped {
  return answer as Mapped;
}

function throwing(value: Error): () => Promise<never> {
  return () => Promise.reject(value);
}

function fail(): never {
  throw new Error('trap');
}

function containingItself(): AggregateError {
  const error = new AggregateError([], 'round and round');
  error.errors.push(error);
  return error;
}

async function mapped(answer: () => unknown): Promise<{ seen: string[]; errors: string[] }> {
  const setup = new ControllerSetup();
  const seen: string[] = [];
  const controller = controllerFor(Thing)
    .watches(Part, () => nonsense(answer()))
    .complete(async ({ key }) => {
      seen.push(key.name);
      return done();
    });
  const running = await setup.start(controller);
  // Many reconciles take several turns of the event loop.
  const idle = async (): Promise<void> => {
    do await setup.clock.advance(0);
    while (running.status().depth > 0);
  };
  setup.parts.put('p');
  await idle();
  setup.things.put('after');
  await idle();
  await setup.stop(running);
  expect(seen.at(-1)).to.equal('after');
  const errors = setup.logged.filter(({ level }) => level === 'error');
  const messages = errors.map(({ fields }) => (fields['error'] as Error).message);
  return { seen: seen.slice(0, -1), errors: messages };
}

describe('a mapper of watches() with bad output', () => {
  const answers: readonly (readonly [string, unknown, RegExp])[] = [
    ['undefined', undefined, /got undefined/],
    ['null', null, /got null/],
    ['a string', 'ns/a', /got a string/],
    ['a number', 7, /got a number/],
    ['one key instead of an array', { name: 'a' }, /got an object/],
    ['a promise of undefined', Promise.resolve(), /got undefined/],
  ];
  for (const [title, answer, message] of answers) {
    it(`is reported when it returns ${title}, and the watch continues`, async () => {
      const { seen, errors } = await mapped(() => answer);
      expect(seen).to.deep.equal([]);
      expect(errors.length).to.equal(1);
      expect(errors[0]).to.match(message);
    });
  }

  it('is reported when its promise rejects', async () => {
    const { seen, errors } = await mapped(() => Promise.reject(new Error('no luck')));
    expect([seen, errors]).to.deep.equal([[], ['no luck']]);
  });

  it('enqueues the valid keys that it returns among invalid keys', async () => {
    const bad = [undefined, null, 'a', 7, [], {}, { name: '' }, { name: 7 }, { name: 'a/b' }];
    const worse = [
      { name: { toString: () => 'x' } },
      { name: 'a', namespace: 'ns', cluster: 'nowhere' },
    ];
    const namespace = 'ns';
    const all = [{ name: 'first', namespace }, ...bad, ...worse, { name: 'last', namespace }];
    const { seen, errors } = await mapped(() => all);
    expect(seen).to.deep.equal(['first', 'last']);
    const unknown = 'controller thing: there is no cluster nowhere: give keys without a cluster';
    expect(errors.slice(0, bad.length + 1)).to.deep.equal(
      [
        ...['undefined', 'object', 'a', 'number', '{}', '{}', '{"name":""}', '{"name":7}'],
        ...['{"name":"a/b"}', '{"name":"an object"}'],
      ].map(
        (key) =>
          `no object has the key ${key}; want { namespace, name } without slashes, and a name that is not empty`,
      ),
    );
    expect(errors.slice(bad.length + 1)).to.deep.equal([unknown]);
  });

  it('is reported with a remedy for a key without the namespace of a namespaced kind', async () => {
    const { seen, errors } = await mapped(() => [
      { name: 'all' },
      { name: 'empty', namespace: '' },
      { name: 'good', namespace: 'ns' },
    ]);
    const remedy = 'Thing is namespaced: return { namespace, name } or keyOf(object)';
    expect(seen).to.deep.equal(['good']);
    expect(errors).to.deep.equal(
      ['all', 'empty'].map(
        (key) => `watches(Part): the mapper returned the key ${key} without a namespace; ${remedy}`,
      ),
    );
  });

  it('is reported with a remedy when it returns an object instead of its key', async () => {
    const { errors } = await mapped(() => [{ kind: 'Thing', metadata: { name: 'a' } }]);
    expect(errors).to.deep.equal([
      'no object has the key {}; it is an object: return keyOf(object)',
    ]);
  });

  it('can return ten thousand keys', async () => {
    const keys = Array.from({ length: 10_000 }, (_, n) => ({ namespace: 'ns', name: `k${n}` }));
    const { seen, errors } = await mapped(() => keys);
    expect(new Set(seen).size).to.equal(10_000);
    expect(errors).to.deep.equal([]);
  });
});

describe('a reconcile with a faulty reconciler, logger, fence or tracer', () => {
  const handlers: readonly (readonly [string, () => unknown, string])[] = [
    ['throws undefined', throwing(undefined as never), 'undefined was thrown, not an error'],
    ['throws null', throwing(null as never), 'null was thrown, not an error'],
    ['throws an empty string', throwing('' as never), 'an empty string was thrown, not an error'],
    ['throws a string', throwing('no luck' as never), 'threw no luck'],
    ['throws a number', throwing(7 as never), 'threw a value of type number'],
    [
      'throws a bare object',
      throwing(Object.create(null) as Error),
      'threw a value of type object',
    ],
    [
      'throws an error without a message',
      throwing(Object.assign(new Error('x'), { message: undefined })),
      'undefined',
    ],
    [
      'throws an error whose message getter throws',
      throwing(Object.defineProperty(new Error('x'), 'message', { get: fail })),
      'unreadable value',
    ],
    ['throws a proxy', throwing(new Proxy(new Error('x'), { getPrototypeOf: fail })), 'unreadable'],
    ['throws an error that contains itself', throwing(containingItself()), 'round and round'],
    [
      'returns a bigint',
      async () => ({ type: 'requeueAfter', afterMs: 5n }),
      'got a value of type bigint',
    ],
    ['returns a string', async () => 'done', 'want a result, got a string'],
    ['returns nothing', async () => undefined, 'want a result, got nothing'],
    ['returns an invalid delay', async () => ({ type: 'requeueAfter', afterMs: NaN }), 'NaN'],
    [
      'throws synchronously',
      () => {
        throw new TypeError('bug');
      },
      'bug',
    ],
  ];
  for (const [title, handler, message] of handlers) {
    it(`is retried and reported when the reconciler ${title}`, async () => {
      const setup = new ControllerSetup();
      let runs = 0;
      const reconciler = (() => (++runs === 1 ? handler() : Promise.resolve(done()))) as Reconciler;
      setup.things.put('a');
      const running = await setup.start(controllerFor(Thing).complete(reconciler));
      const [last] = running.status().lastErrors;
      expect(last).to.include({ cluster: '', key: 'ns/a', outcome: 'error', failures: 1 });
      expect(last?.message).to.include(message);
      const [line] = setup.logged.filter(({ level }) => level === 'error');
      expect(line?.fields['error']).to.not.be.oneOf([undefined, null, '']);
      expect(running.status().nextDelayed).to.deep.equal([
        { cluster: '', key: 'ns/a', priority: -100, inMs: 5 },
      ]);
      await setup.clock.advance(5);
      expect(runs).to.equal(2);
      expect(running.status().lastErrors).to.deep.equal([]);
      await setup.stop(running);
    });
  }

  it("is retried when the logger throws on the reconciler's error", async () => {
    const setup = new ControllerSetup();
    const fussy = (logger: Logger): Logger => ({
      ...logger,
      child: () => fussy(logger),
      error: fail,
    });
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      if (++runs === 1) throw new Error('odd');
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { logger: fussy(setup.logger()) });
    expect(running.status().active).to.deep.equal([]);
    await setup.clock.advance(1_000);
    expect(runs).to.equal(2);
    await setup.stop(running);
  });

  it('is retried when a fence throws before the reconciler runs', async () => {
    const setup = new ControllerSetup();
    let asked = 0;
    const term = (): Fence => (++asked === 1 ? fail() : { check: () => undefined });
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      runs++;
      return done();
    });
    setup.things.put('a');
    const fence = { check: () => undefined, term };
    const running = await setup.start(controller, { fence });
    expect(running.status().lastErrors[0]).to.include({ key: 'ns/a', message: 'trap' });
    await setup.clock.advance(5);
    expect(runs).to.equal(1);
    await setup.stop(running);
  });

  it('is retried when a tracer throws before the reconciler runs', async () => {
    const setup = new ControllerSetup();
    let spans = 0;
    const span: Tracer['span'] = (...args) => (++spans === 1 ? fail() : noTracer.span(...args));
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      runs++;
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { tracer: { ...noTracer, span } });
    expect([runs, running.status().active]).to.deep.equal([0, []]);
    await setup.clock.advance(5);
    expect(runs).to.equal(1);
    await setup.stop(running);
  });

  it('is reported when it never ends, is not started again for its key, and does not stop other keys', async () => {
    const registry = new Registry();
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .complete(({ key }) => {
        seen.push(key.name);
        return key.name === 'stuck' ? new Promise(() => undefined) : Promise.resolve(done());
      });
    setup.things.put('stuck');
    const running = await setup.start(controller, { metrics: promMetrics(registry) });
    for (const name of ['same', 'stuck']) setup.things.put(name);
    setup.things.put('other', {}, 'elsewhere');
    await setup.clock.advance(31_000);
    expect(seen).to.deep.equal(['stuck', 'same', 'other']);
    const { held, isActive } = running.status();
    expect(isActive).to.equal(true);
    expect(held).to.have.lengthOf(1);
    expect(held[0]).to.include({ key: 'ns/stuck', isTimedOut: true, heldMs: 30_000 });
    expect(held[0]?.triggers[0]).to.include({ type: 'event', event: 'added' });
    const text = await registry.metrics();
    expect(text).to.include('operator_builder_held_keys{controller="thing"} 1');
    expect(text).to.include('controller_runtime_active_workers{controller="thing"} 0');
    await setup.stop(running);
  });
});

describe('a failing listener to controller events', () => {
  it('is logged when it throws or rejects, and reconciles continue', async () => {
    const listeners: readonly (() => unknown)[] = [fail, async () => fail()];
    for (const onEvent of listeners) {
      const setup = new ControllerSetup();
      setup.things.put('a');
      setup.things.put('b');
      const controller = controllerFor(Thing).complete(async () => done());
      const running = await setup.start(controller, { onEvent });
      const line = 'the listener to controller events threw at reconciled';
      expect(setup.lines('error')).to.deep.equal([line, line]);
      await setup.stop(running);
    }
  });

  it("does not keep the controller's own listener from receiving events", async () => {
    const setup = new ControllerSetup();
    const own: string[] = [];
    setup.things.put('a');
    const controller = controllerFor(Thing)
      .withOptions({ onEvent: ({ type }) => own.push(type) })
      .complete(async () => done());
    const running = await setup.start(controller, { onEvent: fail });
    expect(own).to.deep.equal(['reconciled']);
    expect(setup.lines('error')).to.have.length(1);
    await setup.stop(running);
  });
});

describe('a predicate with bad output', () => {
  for (const [title, answer] of [
    ['returns a promise', () => Promise.resolve(false)],
    ['returns a rejected promise', () => Promise.reject(new Error('no'))],
  ] as const) {
    for (const [how, wrap] of [
      ['alone', (predicate: Predicate) => predicate],
      ['in and()', (predicate: Predicate) => and(predicate)],
      ['in or()', (predicate: Predicate) => or(predicate)],
      ['in not()', (predicate: Predicate) => not(predicate)],
    ] as const) {
      it(`is reported when it ${title}, ${how}, and the controller reconciles the object of the event`, async () => {
        const setup = new ControllerSetup();
        const unhandled: unknown[] = [];
        const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
        process.on('unhandledRejection', onUnhandled);
        let runs = 0;
        const predicate = wrap(answer as unknown as Predicate);
        const controller = controllerFor(Thing, { predicate }).complete(async () => {
          runs++;
          return done();
        });
        setup.things.put('a');
        const running = await setup.start(controller);
        expect(runs).to.equal(1);
        const [line] = setup.logged.filter(({ level }) => level === 'error');
        expect(line?.message).to.equal('predicate of source Thing threw');
        expect(line?.fields['error']).to.have.property('code', 'InvalidValue');
        await setup.stop(running);
        await new Promise((resolve) => setImmediate(resolve));
        process.off('unhandledRejection', onUnhandled);
        expect(unhandled, 'a rejection that ends the process').to.deep.equal([]);
      });
    }
  }
});

describe('a faulty source', () => {
  it("is listed in the controller's status while its stream is broken", async () => {
    const setup = new ControllerSetup();
    let opened = 0;
    const source = streamSource<string>({
      name: 'feed',
      open: async function* (signal) {
        if (++opened === 1) throw new Error('reset by peer');
        yield 'x';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
      mapper: (name) => [{ name }],
    });
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .from(source)
      .complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
    const running = await setup.start(controller);
    const feed = () => running.status().clusters[0]?.sources.find((s) => s.source === 'feed');
    expect(feed()?.problem).to.have.property('message', 'reset by peer');
    await setup.clock.advance(5_000);
    expect(seen).to.deep.equal(['x']);
    expect(feed()).to.include({ synced: true, parked: false, problem: undefined });
    await setup.stop(running);
  });

  it('does not delay other keys without end when it enqueues the same keys repeatedly', async () => {
    const setup = new ControllerSetup();
    const source = callbackSource<string>({
      name: 'change',
      mapper: (name) => [{ name, namespace: 'flood' }],
    });
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .from(source)
      .complete(async ({ key }) => {
        seen.push(key.name);
        await new Promise<void>((resolve) => setup.clock.setTimer(resolve, 1));
        return done();
      });
    const running = await setup.start(controller);
    for (let n = 0; n < 50_000; n++) void source.notify(`k${n % 100}`);
    setup.things.put('quiet');
    await setup.clock.advance(0);
    expect(running.status().depth).to.be.at.most(101);
    await setup.clock.advance(5);
    expect(seen.indexOf('quiet')).to.be.within(1, 3);
    await setup.clock.advance(200);
    expect(seen.length).to.be.within(101, 102);
    await setup.stop(running);
  });
});

describe('a permission that is revoked at run time', () => {
  it('is listed in the status as missing until it is granted again', async () => {
    const setup = new ControllerSetup();
    const seen: string[] = [];
    const controller = controllerFor(Thing).complete(async ({ key }) => {
      seen.push(key.name);
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller);
    const thing = () => running.status().clusters[0]?.sources[0];
    expect(thing()).to.include({ source: 'Thing', synced: true, problem: undefined });
    const forbidden = () => apiError(403, 'Forbidden', 'watch');
    setup.things.failures['watch'] = Array.from({ length: 100 }, forbidden);
    setup.things.failures['list'] = Array.from({ length: 100 }, forbidden);
    setup.things.disconnect();
    await setup.clock.advance(60_000);
    expect(thing()?.problem).to.have.property('reason', 'Forbidden');
    setup.things.put('b');
    await setup.clock.advance(60_000);
    expect(seen).to.deep.equal(['a']);
    // Cached objects are still reconciled.
    running.enqueue({ namespace: 'ns', name: 'a' });
    await setup.clock.advance(0);
    expect(seen).to.deep.equal(['a', 'a']);
    setup.things.failures['watch'] = [];
    setup.things.failures['list'] = [];
    await setup.clock.advance(60_000);
    expect(thing()).to.include({ synced: true, problem: undefined });
    expect(seen).to.deep.equal(['a', 'a', 'b']);
    await setup.stop(running);
  });
});
