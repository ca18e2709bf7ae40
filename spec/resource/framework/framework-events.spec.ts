import { expect } from 'chai';
import { Registry } from 'prom-client';
import { forwarding } from '../../../lib/client/index.js';
import { callbackSource } from '../../../lib/controller/index.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { promMetrics } from '../../../lib/system/prom-metrics.js';
import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import type { Gadget } from './suite/gadget.js';
import { finalizersOf, scenes } from './suite/scene.js';

/** A stream that is fed by calls. */
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

describe('Framework, told by informers of others', () => {
  const open = scenes(embeddedTarget);

  it('reconciles what updateFunc and deleteFunc tell of, without running', async () => {
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

  it('works on one object after the other call is done, and on others meanwhile', async () => {
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

  it('logs and records what a pass fails with, and throws nothing at the informer', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', {
      created: () => {
        throw new Error('the disk is full');
      },
    });
    const framework = scene.framework({ resources: [r1] });
    await framework.updateFunc(undefined, await scene.create('a'));
    const note = 'set all, resource r1, ensureCreated: the disk is full';
    expect(scene.told()).to.deep.equal([`Warning ResourceFailed: ${note}`]);
    expect(scene.lines.filter((line) => line.startsWith('error'))).to.deep.equal([
      `error: reconcile failed Gadget ${scene.namespace}/a: ${note}`,
    ]);
  });

  it('queues what it is told while it runs', async () => {
    const scene = await open();
    const { framework } = scene.run();
    const object = await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.calm();
    const before = scene.calls.length;
    await framework.updateFunc(undefined, object);
    await scene.until(() => scene.calls.length > before);
  });

  it('watches nothing itself where it has an informer of another', async () => {
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

  it('processes streams of events, tries again what fails, and counts errors', async () => {
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

  it('ends with what a stream throws', async () => {
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

  it('has its controller watch what is configured while it processes streams', async () => {
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
    // Its controller has ended: the pass is made here.
    const before = scene.calls.length;
    await framework.updateFunc(undefined, await scene.get('a'));
    expect(scene.calls).to.have.length(before + 1);
  });

  it('tries what a read fails with again with the next call', async () => {
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

describe("A framework's metrics", () => {
  const open = scenes(embeddedTarget);
  const value = async (registry: Registry, sample: string): Promise<number | undefined> => {
    const line = (await registry.metrics()).split('\n').find((each) => each.startsWith(sample));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  };

  it('count passes and watch events, and collect when objects were created and deleted', async () => {
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
    expect(await value(registry, 'operatorkit_informer_cache_size')).to.equal(1);
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
    expect(await value(registry, 'operatorkit_informer_cache_size')).to.equal(0);
    const watched = 'operatorkit_informer_watch_event_total';
    expect(await value(registry, `${watched}{kind="deleted"}`)).to.equal(1);
    expect(await value(registry, 'operatorkit_framework_event{event="delete"}')).to.be.above(1);
  });

  it('have the names that are asked for', async () => {
    const scene = await open();
    const registry = new Registry();
    const names = { prometheusNamespace: 'shop', prometheusSubsystem: 'chains' };
    scene.run({ ...names, metrics: promMetrics(registry) });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    expect(await value(registry, 'shop_chains_event{event="create"}')).to.equal(1);
  });
});
