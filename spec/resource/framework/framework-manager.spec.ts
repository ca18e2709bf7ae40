import { expect } from 'chai';
import { Registry } from 'prom-client';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { Manager } from '../../../lib/manager/index.js';
import { isInvalid } from '../../../lib/object/api-error.js';
import { CustomResourceDefinition, Event } from '../../../lib/object/kinds.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget } from '../../builder/suite/target.js';
import { grant } from '../../manager/grant.js';
import { crdOf, group } from './suite/gadget.js';
import { Scene, finalizersOf, installKinds } from './suite/scene.js';

/** Cluster of one spec, with its own faults, rules and definitions. */
class Lab {
  readonly clock = new VirtualClock();
  readonly #scenes: Scene[] = [];
  cluster!: EmbeddedCluster<VirtualClock>;

  static async start(options: { readonly rbac?: boolean; readonly kinds?: boolean } = {}) {
    const { rbac = false, kinds = true } = options;
    const lab = new Lab();
    lab.cluster = await EmbeddedCluster.start({ clock: lab.clock, rbac });
    if (kinds) await installKinds(lab.target);
    return lab;
  }

  get target(): BuilderTarget {
    const { clock, cluster } = this;
    let mark = cluster.requests.mark();
    return {
      ...{ name: 'the embedded server', real: false, clock, admin: cluster.client() },
      operator: async () => ({
        client: cluster.client({ user: 'operator' }),
        requests: async () => {
          const { entries } = cluster.requests.since(mark);
          mark = cluster.requests.mark();
          return entries.filter(({ user }) => user === 'operator');
        },
      }),
      namespace: async () => 'default',
      eventually: (check) => check(),
      close: () => cluster.stop(),
    };
  }

  async scene(): Promise<Scene> {
    const scene = await Scene.open(this.target);
    this.#scenes.push(scene);
    return scene;
  }

  async stop(): Promise<void> {
    for (const scene of this.#scenes) await scene.close();
    await this.cluster.stop();
  }
}

describe('a Framework in a Manager', () => {
  let lab: Lab;
  const start = async (...args: Parameters<typeof Lab.start>): Promise<Scene> => {
    lab = await Lab.start(...args);
    return lab.scene();
  };
  afterEach(() => lab.stop());

  it('installs its CRD before it watches the kind, and does not delete the CRD on stop', async () => {
    const scene = await start({ kinds: false });
    const running = scene.run({ crd: crdOf('Gadget') });
    await scene.until(() => scene.create('a'));
    await scene.until(() => scene.calls.includes('r1 created a'));
    await running.stop();
    await scene.admin.get(CustomResourceDefinition, { name: `gadgets.${group}` });
    expect([running.failure(), lab.clock.pendingTimers]).to.deep.equal([undefined, 0]);
  });

  it('leaves no timer for its recorded Events', async () => {
    const scene = await start();
    const r1 = scene.resource('r1', {
      created: () => {
        throw new Error('the disk is full');
      },
    });
    const running = scene.run({ resources: [r1], recorder: undefined });
    await scene.create('a');
    await scene.until(async () => (await scene.admin.list(Event)).items[0]?.series !== undefined);
    await running.stop();
    expect([running.failure(), lab.clock.pendingTimers]).to.deep.equal([undefined, 0]);
  });

  it('retries the installation of its CRD with its back-off', async () => {
    const scene = await start({ kinds: false });
    const match = { user: 'operator', resource: 'customresourcedefinitions', verb: 'get' } as const;
    const fault = lab.cluster.faults.add({
      match,
      effect: { type: 'status', code: 503 },
      times: 3,
    });
    const waits = [1_000, 2_000, 3_000, 4_000];
    let at = 0;
    scene.run({
      crd: crdOf('Gadget'),
      backOffFactory: () => ({ next: () => waits[at++] }),
    });
    await scene.until(() => scene.create('a'), 3_000);
    await scene.until(() => scene.calls.includes('r1 created a'));
    expect([fault.struck, at]).to.deep.equal([3, 3]);
    expect(scene.lines.filter((line) => line.includes('tried again in'))).to.have.length(at);
  });

  it('rejects without ending the process when the back-off is exhausted', async () => {
    const scene = await start({ kinds: false });
    const match = { user: 'operator', resource: 'customresourcedefinitions' } as const;
    lab.cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
    const running = scene.run({ crd: crdOf('Gadget') });
    await scene.until(() => running.failure() !== undefined, 10_000);
    expect(isOperatorError(running.failure(), 'ApiError')).to.equal(true);
    expect(scene.lines.filter((line) => line.includes('tried again in'))).to.have.length(7);
  });

  it('fails at once when another CRD has its names', async () => {
    const scene = await start();
    const crd = crdOf('Gadget');
    const metadata = { name: `widgets.${group}` };
    const names = { ...crd.spec.names, plural: 'widgets' };
    const running = scene.run({ crd: { ...crd, metadata, spec: { ...crd.spec, names } } });
    await scene.until(() => running.failure() !== undefined);
    expect(isOperatorError(running.failure(), 'InvalidObject')).to.equal(true);
    expect(String(running.failure())).to.include('is not served');
  });

  it('fails at once when the server rejects its CRD', async () => {
    const scene = await start({ kinds: false });
    const crd = crdOf('Gadget');
    const running = scene.run({ crd: { ...crd, metadata: { name: 'another.name' } } });
    await scene.until(() => running.failure() !== undefined);
    expect(isInvalid(running.failure())).to.equal(true);
    expect(scene.lines.join()).not.to.include('tried again in');
  });

  it('can be added to a manager with other controllers, and removed from it', async () => {
    const scene = await start();
    const { clock } = lab;
    const manager = new Manager({ client: scene.operator.client, clock, logger: scene.logger });
    const one = scene.framework({ name: 'one', resources: [scene.resource('one')] });
    const two = scene.framework({ name: 'two', resources: [scene.resource('two')] });
    const added = one.addTo(manager);
    two.addTo(manager);
    expect(() => one.addTo(manager)).to.throw('two controllers are called one');
    const ending = new AbortController();
    const ended = manager.run(ending.signal);
    await scene.create('a');
    const both = ['one created a', 'two created a'];
    await scene.until(() => both.every((call) => scene.calls.includes(call)));
    await Promise.all([added.remove(), scene.pass(1_000)]);
    await scene.create('b');
    await scene.until(() => scene.calls.includes('two created b'));
    expect(scene.calls).not.to.include('one created b');
    expect(manager.status().controllers.map(({ name }) => name)).to.deep.equal(['two']);
    ending.abort();
    await scene.pass(1_000);
    await ended;
    expect(clock.pendingTimers).to.equal(0);
  });

  it('counts its watch events in the metrics of the manager', async () => {
    const scene = await start();
    const r1 = scene.resource('r1', {
      created: () => {
        throw new Error('the disk is full');
      },
    });
    const registry = new Registry();
    const metrics = { registry, serve: false };
    scene.run({ resources: [r1], recorder: undefined, run: { metrics } });
    await scene.create('a');
    const written = /operator_builder_events_written_total [1-9]/;
    // The manager loads its metrics at start, in real time.
    await scene.until(async () => {
      await new Promise((done) => setImmediate(done));
      return written.test(await registry.metrics());
    }, 5_000);
  });

  it('can be started only once, and belongs to one manager only', async () => {
    const scene = await start();
    const running = scene.run();
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    const { framework } = running;
    const again = async (): Promise<unknown> =>
      framework.run(new AbortController().signal).catch((error: unknown) => error);
    expect(isOperatorError(await again(), 'AlreadyStarted')).to.equal(true);
    await running.stop();
    expect(String(await again())).to.include('framework shop: it is in a manager already');
    const manager = new Manager({ client: scene.operator.client, clock: lab.clock });
    expect(() => framework.addTo(manager)).to.throw('it is in a manager already');
  });

  it('can be added to another manager after it has been removed', async () => {
    const scene = await start();
    const { client } = scene.operator;
    const [first, second] = [0, 1].map(() => new Manager({ client, clock: lab.clock }));
    if (first === undefined || second === undefined) throw new Error('there are two');
    const framework = scene.framework();
    await framework.addTo(first).remove();
    expect(framework.addTo(second).name).to.equal('shop');
  });

  it('ignores events of other informers on a replica that does not lead, or has stopped', async () => {
    const scene = await start();
    const election = { name: 'shop', namespace: 'default', releaseOnCancel: true };
    const replica = (name: string) =>
      scene.run({
        resources: [scene.resource(name)],
        run: { leaderElection: { ...election, identity: name } },
      });
    const first = replica('first');
    const object = await scene.create('a');
    await scene.until(() => scene.calls.includes('first created a'));
    const second = replica('second');
    await scene.pass(10_000);
    const ignored = () =>
      scene.lines.filter((line) => line === 'debug: framework shop: does not run');
    for (const turn of ['standing by', 'ended']) {
      const before = ignored().length;
      await second.framework.updateFunc(undefined, object);
      expect(ignored().length - before, turn).to.equal(turn === 'ended' ? 1 : 0);
      const ending = new AbortController();
      const streams = second.framework.processEvents({ updates: only(object) }, ending.signal);
      await scene.pass(1_000);
      ending.abort();
      await scene.pass(1_000);
      await streams;
      if (turn === 'standing by') await second.stop();
    }
    expect(scene.calls.filter((call) => call.startsWith('second'))).to.deep.equal([]);
    await first.stop();
  });

  it('reconciles only on the leader, and continues on another replica when the leader stops', async () => {
    const scene = await start();
    const election = { name: 'shop', namespace: 'default', releaseOnCancel: true };
    const replica = (name: string) =>
      scene.run({
        resources: [scene.resource(name)],
        run: { leaderElection: { ...election, identity: name } },
      });
    const first = replica('first');
    await scene.create('a');
    await scene.until(() => scene.calls.includes('first created a'));
    replica('second');
    await scene.pass(10_000);
    expect(scene.calls.filter((call) => call.startsWith('second'))).to.deep.equal([]);
    await first.stop();
    await scene.create('b');
    await scene.until(() => scene.calls.includes('second created b'), 1_000);
    expect(scene.calls).not.to.include('first created b');
  });

  it('distributes its objects among the replicas if it has shards', async () => {
    const scene = await start();
    const shards = { name: 'shop', namespace: 'default' };
    for (const name of ['first', 'second']) {
      scene.run({
        resources: [scene.resource(name)],
        run: { shards: true, leaderElection: { ...shards, identity: name } },
      });
    }
    await scene.pass(60_000);
    scene.calls.length = 0;
    const names = Array.from({ length: 12 }, (_, index) => `a${index}`);
    for (const name of names) await scene.create(name);
    const by = (replica: string): readonly string[] =>
      names.filter((name) => scene.calls.includes(`${replica} created ${name}`));
    await scene.until(() => by('first').length + by('second').length >= names.length, 1_000);
    expect([...by('first'), ...by('second')].sort()).to.deep.equal([...names].sort());
    expect([by('first').length > 0, by('second').length > 0]).to.deep.equal([true, true]);
  });

  it('installs, reconciles and deletes with exactly the permissions that it declares', async () => {
    const scene = await start({ rbac: true });
    const framework = scene.framework({ crd: crdOf('Gadget'), recorder: undefined });
    const rules = await Promise.all(
      framework.requires.map(async ({ type, subresource, verbs }) => {
        if (type === undefined) throw new Error('a framework requests no other paths');
        const served = await scene.admin.resourceType(type);
        const resource = [served.plural, ...(subresource === undefined ? [] : [subresource])];
        return { apiGroups: [served.group], resources: [resource.join('/')], verbs };
      }),
    );
    await grant(scene.admin, rules);
    const running = scene.run({
      ...{ crd: crdOf('Gadget'), recorder: undefined },
      run: { rbacPreflight: 'fail' },
    });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.annotate('a', { 'operator-builder.io/paused': 'true' });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'True');
    await scene.until(async () => (await scene.admin.list(Event)).items.length > 0);
    await scene.annotate('a', { 'operator-builder.io/paused': null });
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    expect(running.failure()).to.equal(undefined);
    const refused = lab.cluster.requests.entries.filter(({ code }) => code === 403);
    expect(refused).to.deep.equal([]);
  });

  it('declares its permissions to the RBAC preflight', async () => {
    const scene = await start({ rbac: true });
    const running = scene.run({ recorder: undefined, run: { rbacPreflight: 'fail' } });
    await scene.until(() => running.failure() !== undefined);
    const message = String(running.failure());
    expect(isOperatorError(running.failure(), 'MissingPermission')).to.equal(true);
    for (const part of ['resources: [gadgets]', 'gadgets/status', 'resources: [events]', 'patch']) {
      expect(message).to.include(part);
    }
  });

  it('passes its controller to the option configure', async () => {
    const scene = await start();
    scene.run({
      configure: (controller) =>
        controller.watches({ apiVersion: 'v1', kind: 'ConfigMap' }, ({ metadata }) => [
          { namespace: 'default', name: metadata.name ?? '' },
        ]),
    });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.calm();
    const before = scene.calls.length;
    const metadata = { namespace: 'default', name: 'a' };
    await scene.admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await scene.until(() => scene.calls.length > before);
  });

  it('without a time limit, warns about a reconcile that takes very long, and waits for it', async () => {
    const scene = await start();
    let go: () => void = () => undefined;
    const r1 = scene.resource('r1', {
      created: () => new Promise<void>((resolve) => (go = resolve)),
    });
    scene.run({ resources: [r1, scene.resource('r2')] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.pass(59_000);
    expect(scene.events).to.deep.equal([]);
    await scene.pass(2_000);
    expect(scene.recorded()).to.deep.equal([
      'Warning ResourceHangs: set all, resource r1, ensureCreated has not ended after 60000 ms',
    ]);
    go();
    await scene.until(() => scene.calls.includes('r2 created a'));
    expect(finalizersOf(await scene.get('a'))).to.have.length(1);
  });
});

async function* only<Item>(item: Item): AsyncGenerator<Item> {
  yield await Promise.resolve(item);
}
