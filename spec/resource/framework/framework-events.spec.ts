import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { forwarding } from '../../../lib/client/index.js';
import { callbackSource } from '../../../lib/controller/index.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { Event } from '../../../lib/object/kinds.js';
import { feedEvents } from '../../../lib/resource/framework/feed-events.js';
import { sleep } from '../../../lib/system/clock.js';
import { promMetrics } from '../../../lib/prometheus/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { crdOf, typeOf } from './suite/gadget.js';
import type { Gadget } from './suite/gadget.js';
import { Scene, finalizersOf, installKinds, scenes } from './suite/scene.js';

/** Stream that the spec feeds. */
class Feed<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  #wake: () => void = () => undefined;
  #failure: Error | undefined;

  push(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift() as Item;
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

describe('a framework that gets events from the informers of another library', () => {
  const open = scenes(embeddedTarget);

  it('reconciles the objects passed to updateFunc and deleteFunc although the framework has not been started', async () => {
    const scene = await open();
    const framework = scene.framework();
    const object = await scene.create('a');
    await framework.updateFunc(object, object);
    expect(scene.calls).to.deep.equal(['r1 created a']);
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([framework.finalizer]);
    await scene.delete('a');
    await framework.deleteFunc(await scene.get('a'));
    expect(scene.calls).to.deep.equal(['r1 created a', 'r1 deleted a']);
    expect(await scene.isGone('a')).to.equal(true);
    await framework.deleteFunc(object);
    expect(scene.calls).to.have.length(2);
  });

  it('processes calls for one object one after the other, and calls for different objects concurrently', async () => {
    const scene = await open();
    const active: string[] = [];
    const together: string[] = [];
    const r1 = scene.resource('r1', {
      created: async (_, { metadata: { name = '' } }) => {
        active.push(name);
        together.push(active.toSorted().join());
        for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
        active.splice(active.indexOf(name), 1);
      },
    });
    const framework = scene.framework({ resources: [r1] });
    const objects = [await scene.create('a'), await scene.create('b')];
    const twice = [...objects, ...objects];
    await Promise.all(twice.map((object) => framework.updateFunc(undefined, object)));
    expect(scene.calls).to.have.length(4);
    expect(together).to.include('a,b');
    expect(together.some((names) => names.includes('a,a') || names.includes('b,b'))).to.equal(
      false,
    );
  });

  it('logs and records a failing reconcile, and throws nothing to the informer', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', {
      created: () => {
        throw new Error('the disk is full');
      },
    });
    const framework = scene.framework({ resources: [r1] });
    await framework.updateFunc(undefined, await scene.create('a'));
    const note = 'set all, resource r1, ensureCreated: the disk is full';
    expect(scene.recorded()).to.deep.equal([`Warning ResourceFailed: ${note}`]);
    expect(scene.lines.filter((line) => line.startsWith('error'))).to.deep.equal([
      `error: reconcile failed Gadget ${scene.namespace}/a: ${note}`,
    ]);
  });

  it('never reconciles an object twice at the same time, whether a queue or a call requests it', async () => {
    const scene = await open();
    let [active, most] = [0, 0];
    const r1 = scene.resource('r1', {
      created: async ({ clock }) => {
        most = Math.max(most, ++active);
        await sleep(clock, 100);
        active--;
      },
    });
    const framework = scene.framework({ resources: [r1] });
    const object = await scene.create('a');
    const ending = new AbortController();
    const [one, two] = [new Feed<Gadget>(), new Feed<Gadget>()];
    const called = framework.updateFunc(undefined, object);
    // Each call finds that no controller runs, and starts one.
    const streams = [one, two].map((updates) =>
      framework.processEvents({ updates }, ending.signal),
    );
    for (let round = 0; round < 10; round++) {
      for (const feed of [one, two]) feed.push(object);
      await scene.pass(60);
    }
    await scene.until(() => scene.calls.length > 4);
    ending.abort();
    await scene.pass(1_000);
    await Promise.all([called, ...streams]);
    expect(most).to.equal(1);
  });

  it('passes frozen objects to resources, like a cache', async () => {
    const scene = await open();
    const spoil = (_: unknown, object: Gadget): void => {
      (object.metadata as { uid: string }).uid = 'another';
    };
    const r1 = scene.resource('r1', { created: spoil });
    const framework = scene.framework({ resources: [r1] });
    await framework.updateFunc(undefined, await scene.create('a'));
    expect(scene.recorded().join()).to.include("read only property 'uid'");
  });

  it('keeps no reference to the items of a stream that it has processed', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const seen: WeakRef<object>[] = [];
    const feed = new Feed<Gadget>();
    const ending = new AbortController();
    const updated = (object: Gadget): Promise<void> => {
      seen.push(new WeakRef(object));
      return Promise.resolve();
    };
    const ignored = (): undefined => undefined;
    const visitor = { updated, deleted: updated, failed: ignored, cleanUpFailed: ignored };
    const ended = feedEvents({ updates: feed }, visitor, ending.signal);
    for (let n = 0; n < 50; n++) {
      feed.push({ apiVersion: 'v1', kind: 'Gadget', metadata: { name: `a-${n}` } });
      await new Promise((done) => setImmediate(done));
    }
    collect();
    const kept = seen.filter((each) => each.deref() !== undefined);
    ending.abort();
    await ended;
    expect(seen).to.have.length(50);
    // An unfinished stack frame may still refer to the last object.
    expect(kept.length).to.be.below(3);
  });

  it('closes a stream when it cannot process one of its items', async () => {
    let isLeft = false;
    async function* stream(): AsyncGenerator<Gadget> {
      try {
        for (;;) yield await Promise.resolve({ apiVersion: 'v1', kind: 'Gadget', metadata: {} });
      } finally {
        isLeft = true;
      }
    }
    const updated = (): Promise<void> => Promise.reject(new Error('it has no name'));
    const ignored = (): undefined => undefined;
    const visitor = { updated, deleted: updated, failed: ignored, cleanUpFailed: ignored };
    const { signal } = new AbortController();
    const error = await feedEvents({ updates: stream() }, visitor, signal).catch(String);
    expect([error, isLeft]).to.deep.equal(['Error: it has no name', true]);
  });

  it('requests no further item of a stream if the signal is aborted while it processes an item', async () => {
    const ending = new AbortController();
    let [asked, isLeft] = [0, false];
    const next = (): Promise<IteratorResult<Gadget>> => {
      asked++;
      const value = { apiVersion: 'v1', kind: 'Gadget', metadata: { name: `a-${asked}` } };
      return Promise.resolve({ value, done: false });
    };
    const iterator = {
      next,
      return: () => {
        isLeft = true;
        return Promise.resolve({ value: undefined, done: true } as const);
      },
    };
    const seen: string[] = [];
    const updated = async ({ metadata: { name = '' } }: Gadget): Promise<void> => {
      seen.push(name);
      await Promise.resolve();
      if (seen.length === 2) ending.abort();
    };
    const ignored = (): undefined => undefined;
    const visitor = { updated, deleted: updated, failed: ignored, cleanUpFailed: ignored };
    const updates = { [Symbol.asyncIterator]: () => iterator };
    await feedEvents({ updates }, visitor, ending.signal);
    expect([asked, isLeft, seen]).to.deep.equal([2, true, ['a-1', 'a-2']]);
  });

  it('installs the CRD of its option crd before it processes events', async () => {
    const scene = await open();
    const framework = scene.framework({ crd: crdOf('Gadget') });
    const object = await scene.create('a');
    await scene.operator.requests();
    const ending = new AbortController();
    const updates = new Feed<Gadget>();
    const ended = framework.processEvents({ updates }, ending.signal);
    updates.push(object);
    await scene.until(() => scene.calls.includes('r1 created a'));
    const requests = (await scene.operator.requests()).map(({ resource }) => resource);
    const first = requests.indexOf('customresourcedefinitions');
    expect(first).to.be.within(0, requests.indexOf('gadgets') - 1);
    ending.abort();
    await ended;
  });

  it('logs the error of closing a stream', async () => {
    const scene = await open();
    const ending = new AbortController();
    async function* stream(): AsyncGenerator<Gadget> {
      try {
        yield await scene.create('a');
        ending.abort();
        yield await scene.get('a');
      } finally {
        await Promise.reject(new Error('the connection does not close'));
      }
    }
    await scene.framework().processEvents({ updates: stream() }, ending.signal);
    const line =
      'warn: framework shop: the clean-up of a stream of events failed the connection does not close';
    await scene.until(() => scene.lines.includes(line));
  });

  it('leaves no timer for recorded Events after its streams have ended', async () => {
    const target = await embeddedTarget();
    const scene = await Scene.open(target);
    await installKinds(target);
    const { clock } = target;
    if (!(clock instanceof VirtualClock)) throw new Error('the embedded server has one');
    const before = clock.pendingTimers;
    const r1 = scene.resource('r1', {
      created: () => {
        throw new Error('the disk is full');
      },
    });
    const framework = scene.framework({ resources: [r1], recorder: undefined });
    const ending = new AbortController();
    const updates = new Feed<Gadget>();
    const ended = framework.processEvents({ updates }, ending.signal);
    updates.push(await scene.create('a'));
    await scene.until(
      async () =>
        (await scene.admin.list(Event, { namespace: scene.namespace })).items[0]?.series !==
        undefined,
    );
    ending.abort();
    await scene.pass(1_000);
    await ended;
    expect(clock.pendingTimers).to.equal(before);
    await target.close();
  });

  it('adds the objects passed to updateFunc to its queue while it runs', async () => {
    const scene = await open();
    const { framework } = scene.run();
    const object = await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.calm();
    const before = scene.calls.length;
    await framework.updateFunc(undefined, object);
    await scene.until(() => scene.calls.length > before);
  });

  it('starts no watch itself when it is given an informer', async () => {
    const scene = await open();
    const informer = callbackSource<KubernetesObject>({
      mapper: ({ metadata: { namespace = '', name = '' } }) => [{ namespace, name }],
    });
    scene.run({ informer });
    const object = await scene.create('a');
    await scene.calm();
    expect(scene.calls).to.deep.equal([]);
    await informer.notify(object);
    await scene.until(() => scene.calls.includes('r1 created a'));
    const verbs = (await scene.operator.requests()).map(({ verb }) => verb);
    expect(verbs).not.to.include.members(['watch']);
    expect(verbs).not.to.include.members(['list']);
  });

  it('processes streams of events, retries failures, and counts errors', async () => {
    const scene = await open();
    let isBroken = true;
    const r1 = scene.resource('r1', {
      created: () => {
        if (isBroken) throw new Error('not yet');
      },
    });
    const registry = new Registry();
    const framework = scene.framework({ resources: [r1], metrics: promMetrics(registry) });
    const [updates, deletes, errors] = [new Feed<Gadget>(), new Feed<Gadget>(), new Feed<Error>()];
    const ending = new AbortController();
    const events = { updates, deletes, errors };
    const ended = framework.processEvents(events, ending.signal);
    updates.push(await scene.create('a'));
    errors.push(new Error('the watch broke'));
    await scene.until(() => scene.calls.length > 3);
    isBroken = false;
    await scene.calm();
    expect(scene.lines).to.include('error: framework shop: the informer failed the watch broke');
    await scene.delete('a');
    deletes.push(await scene.get('a'));
    await scene.until(() => scene.isGone('a'));
    ending.abort();
    await scene.pass(1_000);
    await ended;
    const text = await registry.metrics();
    const errorsCounted = Number(
      /operatorkit_framework_event\{event="error"\} (\d+)/.exec(text)?.[1],
    );
    expect(errorsCounted).to.be.above(3);
  });

  it('counts each error of its informer once in the metric of watch events, with the label "error"', async () => {
    const scene = await open();
    const registry = new Registry();
    const framework = scene.framework({ metrics: promMetrics(registry) });
    const errors = new Feed<Error>();
    const ending = new AbortController();
    const ended = framework.processEvents({ errors }, ending.signal);
    for (const message of ['the watch broke', 'and again']) errors.push(new Error(message));
    await scene.until(() => scene.lines.some((line) => line.includes('and again')));
    ending.abort();
    await scene.pass(1_000);
    await ended;
    expect(await registry.metrics()).to.include('operatorkit_framework_event{event="error"} 2');
  });

  it('throws the error that a stream throws', async () => {
    const scene = await open();
    const [updates, deletes] = [new Feed<Gadget>(), new Feed<Gadget>()];
    const ended = scene
      .framework()
      .processEvents({ updates, deletes }, new AbortController().signal)
      .catch((error: unknown) => error);
    await scene.pass(0);
    updates.fail(new Error('the stream broke'));
    await scene.pass(2_000);
    expect(String(await ended)).to.include('the stream broke');
  });

  it('watches the kinds that its option configure adds while it processes streams', async () => {
    const scene = await open();
    const framework = scene.framework({
      configure: (controller) =>
        controller.watches({ apiVersion: 'v1', kind: 'ConfigMap' }, ({ metadata }) => [
          { namespace: scene.namespace, name: metadata.name ?? '' },
        ]),
    });
    const ending = new AbortController();
    const ended = framework.processEvents({}, ending.signal);
    await scene.create('a');
    const metadata = { namespace: scene.namespace, name: 'a' };
    await scene.admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await scene.until(() => scene.calls.includes('r1 created a'));
    ending.abort();
    await scene.pass(1_000);
    await ended;
    // The controller of the stream has ended, so this call reconciles directly.
    const before = scene.calls.length;
    await framework.updateFunc(undefined, await scene.get('a'));
    expect(scene.calls).to.have.length(before + 1);
  });

  it('reads the object again on the next call after a failed read', async () => {
    const scene = await open();
    let left = 1;
    const { client } = scene.operator;
    const flaky = {
      ...forwarding(client),
      get: ((type, key, options) => {
        if (left-- > 0) throw new Error('the line is dead');
        return client.get(type, key, options);
      }) as typeof client.get,
    };
    const framework = scene.framework({ client: flaky });
    const object = await scene.create('a');
    await framework.updateFunc(undefined, object);
    expect(scene.calls).to.deep.equal([]);
    await framework.updateFunc(undefined, object);
    expect(scene.calls).to.deep.equal(['r1 created a']);
  });
});

describe('the metrics of a Framework', () => {
  const open = scenes(embeddedTarget);
  const cached = 'operatorkit_informer_cache_size{controller="shop"}';
  const value = async (registry: Registry, sample: string): Promise<number | undefined> => {
    const line = (await registry.metrics()).split('\n').find((each) => each.startsWith(sample));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  };

  it('count reconciles and watch events, and contain the creation and deletion times of objects', async () => {
    const scene = await open();
    const registry = new Registry();
    let isReady = false;
    const r1 = scene.resource('r1', {
      deleted: (context) => {
        if (!isReady) context.keepFinalizers();
      },
    });
    scene.run({ resources: [r1], metrics: promMetrics(registry) });
    const { metadata } = await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    const labels = `{kind="Gadget",namespace="${scene.namespace}",name="a"}`;
    const created = `operatorkit_controller_creation_timestamp${labels}`;
    const deleted = `operatorkit_controller_deletion_timestamp${labels}`;
    const createdMs = Date.parse(metadata.creationTimestamp ?? '');
    expect(await value(registry, created)).to.equal(createdMs / 1_000);
    expect(await value(registry, deleted)).to.equal(undefined);
    expect(await value(registry, cached)).to.equal(1);
    expect(await value(registry, 'operatorkit_framework_event{event="create"}')).to.equal(1);
    expect(await value(registry, 'operatorkit_framework_event{event="update"}')).to.be.above(0);
    await scene.delete('a');
    await scene.until(() => scene.calls.includes('r1 deleted a'));
    expect(await value(registry, deleted)).to.be.at.least(createdMs / 1_000);
    isReady = true;
    await scene.until(() => scene.isGone('a'));
    await scene.calm();
    expect(await value(registry, created)).to.equal(undefined);
    expect(await value(registry, deleted)).to.equal(undefined);
    expect(await value(registry, cached)).to.equal(0);
    const watched = 'operatorkit_informer_watch_event_total';
    expect(await value(registry, `${watched}{kind="deleted"}`)).to.equal(1);
    expect(await value(registry, 'operatorkit_framework_event{event="delete"}')).to.be.above(1);
  });

  it('report the number of cached objects of each framework', async () => {
    const scene = await open();
    const registry = new Registry();
    scene.run({ metrics: promMetrics(registry) });
    const plain = scene.run({
      name: 'plain',
      type: typeOf('Plain'),
      metrics: promMetrics(registry),
    });
    for (const name of ['a', 'b', 'c']) await scene.create(name, {}, 'Plain');
    await scene.create('a');
    const size = (name: string) =>
      value(registry, `operatorkit_informer_cache_size{controller="${name}"}`);
    await scene.until(async () => (await size('plain')) === 3 && (await size('shop')) === 1);
    await plain.stop();
    expect([await size('shop'), await size('plain')]).to.deep.equal([1, 0]);
  });

  it('have the configured names', async () => {
    const scene = await open();
    const registry = new Registry();
    const names = { prometheusNamespace: 'shop', prometheusSubsystem: 'chains' };
    scene.run({ ...names, metrics: promMetrics(registry) });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    expect(await value(registry, 'shop_chains_event{event="create"}')).to.equal(1);
  });
});
