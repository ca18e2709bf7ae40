import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import type { Controller } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import { EmbeddedCluster } from '../../lib/apiserver/cluster/embedded-cluster.js';
import type { Manager } from '../../lib/manager/manager.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { ManagerSetup, ScriptedLeadership, configMap, recorder, watcher } from './manager-setup.js';

/** A controller that holds its reconciles of `a` until they are released, regardless of their signals. */
class Holder {
  /** The number of current reconciles. */
  active = 0;
  /** The highest number of concurrent reconciles. */
  most = 0;
  readonly #holds: (() => void)[] = [];
  readonly controller: Controller;

  constructor(name = 'holder') {
    this.controller = controllerFor(ConfigMap, {
      predicate: ({ object }) => object.metadata.name === 'a',
    })
      .withOptions({ name })
      .complete(async () => {
        this.active++;
        this.most = Math.max(this.most, this.active);
        await new Promise<void>((resolve) => this.#holds.push(resolve));
        this.active--;
        return done();
      });
  }

  /** Ends all current reconciles. */
  release(): void {
    for (const end of this.#holds.splice(0)) end();
  }
}

/** Returns whether `work` has settled. */
function watched(work: Promise<unknown>): { isOver: boolean; error?: unknown } {
  const state: { isOver: boolean; error?: unknown } = { isOver: false };
  work.then(
    () => (state.isOver = true),
    (error: unknown) => Object.assign(state, { isOver: true, error }),
  );
  return state;
}

const names = (manager: Manager): string[] => manager.status().controllers.map(({ name }) => name);

describe('A controller that is being removed', () => {
  it('does not start again when the manager loses and regains the Lease meanwhile', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const leadership = new ScriptedLeadership();
    const whenLeadershipIsLost = 'standby';
    const manager = setup.manager({ leaderElection: leadership, whenLeadershipIsLost });
    const holder = new Holder();
    const others: string[] = [];
    const added = manager.add(holder.controller);
    manager.add(watcher(others));
    await setup.run(manager);
    leadership.lead();
    await setup.until(() => holder.active === 1);
    const removing = watched(added.remove());
    leadership.lose();
    holder.release();
    await setup.until(() => removing.isOver);
    await setup.clock.advance(1_000);
    expect(leadership.log.length).to.equal(2);
    others.length = 0;
    leadership.lead();
    await setup.until(() => others.includes('a'));
    await setup.create('b');
    await setup.until(() => others.includes('b'));
    expect([holder.active, names(manager)]).to.deep.equal([0, ['watcher']]);
    expect(await setup.end()).to.equal(undefined);
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('ends immediately when the Lease is lost, before another replica leads', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const leadership = new ScriptedLeadership();
    const whenLeadershipIsLost = 'standby';
    const manager = setup.manager({ leaderElection: leadership, whenLeadershipIsLost });
    const signals: AbortSignal[] = [];
    const added = manager.add(
      controllerFor(ConfigMap).complete(async ({ signal }) => {
        signals.push(signal);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        return done();
      }),
    );
    await setup.run(manager);
    leadership.lead();
    await setup.until(() => signals.length > 0);
    const removing = watched(added.remove(3_600_000));
    await setup.clock.advance(1_000);
    expect([signals[0]?.aborted, removing.isOver]).to.deep.equal([false, false]);
    leadership.lose();
    await setup.clock.advance(0);
    expect(signals[0]?.aborted).to.equal(true);
    await setup.until(() => removing.isOver);
    await setup.end();
  });

  it('must end within the grace period when the manager stops meanwhile', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const manager = setup.manager({ gracefulShutdownMs: 5_000 });
    const holder = new Holder();
    const added = manager.add(holder.controller);
    await setup.run(manager);
    await setup.until(() => holder.active === 1);
    const removing = watched(added.remove(3_600_000));
    setup.stop.abort();
    const run = watched(setup.running);
    await setup.clock.advance(7_000);
    await setup.until(() => run.isOver);
    holder.release();
    await setup.until(() => removing.isOver);
    expect(setup.clock.pendingTimers).to.equal(0);
    await setup.end();
  });

  it('keeps its name until it has ended, so that no key has two workers', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const manager = setup.manager();
    const holder = new Holder();
    const added = manager.add(holder.controller);
    await setup.run(manager);
    await setup.until(() => holder.active === 1);
    const removing = watched(added.remove());
    const again = (): unknown => manager.add(holder.controller);
    expect(again).to.throw('is being removed').with.property('code', 'InvalidOption');
    await setup.clock.advance(1_000);
    expect(again).to.throw('is being removed');
    // The manager lists the controller until it has ended. A second call of `remove` waits for that, too.
    expect([names(manager), removing.isOver]).to.deep.equal([['holder'], false]);
    const twice = watched(added.remove());
    await setup.clock.advance(0);
    expect(twice.isOver).to.equal(false);
    holder.release();
    await setup.until(() => removing.isOver && twice.isOver);
    expect(names(manager)).to.deep.equal([]);
    again();
    await setup.until(() => holder.active === 1);
    expect(holder.most).to.equal(1);
    holder.release();
    await setup.end();
  });

  it('frees its name immediately if the manager does not run yet', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    const removed = manager.add(watcher([])).remove();
    manager.add(watcher([]));
    await removed;
    await setup.end();
  });

  it('frees its name even if a runnable does not end in time', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    const added = manager.add({ name: 'deaf', run: () => new Promise(() => undefined) });
    await setup.run(manager);
    await manager.whenLeading();
    const removing = watched(added.remove(2_000));
    expect(() => manager.add(recorder('deaf', 'leader', []))).to.throw('is being removed');
    await setup.clock.advance(2_000);
    await setup.until(() => removing.isOver);
    expect(removing.error).to.have.property('code', 'Timeout');
    manager.add(recorder('deaf', 'leader', []));
    await setup.end();
  });
});

describe('A cluster that is added', () => {
  async function setUp() {
    const setup = await ManagerSetup.start();
    const east = await EmbeddedCluster.start({ clock: setup.clock });
    await setup.create('a');
    await east.client().create(configMap('far'));
    const manager = setup.manager({ clusters: [{ name: 'home', client: setup.client }] });
    return { setup, east, manager };
  }

  it('is reconciled by all controllers except one that is being removed', async () => {
    const { setup, east, manager } = await setUp();
    const holder = new Holder();
    const seen: string[] = [];
    const added = manager.add(holder.controller);
    manager.add(watcher(seen));
    await setup.run(manager);
    await setup.until(() => holder.active === 1);
    const removing = watched(added.remove());
    await setup.clock.advance(0);
    manager.addCluster({ name: 'east', client: east.client() });
    await setup.until(() => seen.includes('far'));
    holder.release();
    await setup.until(() => removing.isOver);
    await setup.end();
    await east.stop();
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('is rolled back if one controller fails to watch it, and can be added again', async () => {
    const { setup, east, manager } = await setUp();
    const seen: string[] = [];
    const trouble = { isOver: false };
    manager.add(watcher(seen));
    manager.add(
      controllerFor(ConfigMap)
        .withOptions({ name: 'picky' })
        .from({
          name: 'stream',
          start: ({ cluster }) => {
            if (cluster === 'east' && !trouble.isOver) throw new Error('not this one');
            return { stop: () => undefined };
          },
        })
        .complete(async () => done()),
    );
    await setup.run(manager);
    await setup.until(() => seen.includes('a'));
    const add = (): void => manager.addCluster({ name: 'east', client: east.client() });
    expect(add).to.throw('not this one');
    expect(manager.status().clusters.map(({ name }) => name)).to.deep.equal(['home']);
    await setup.clock.advance(1_000);
    expect(seen).not.to.include('far');
    trouble.isOver = true;
    add();
    await setup.until(() => seen.includes('far'));
    await setup.end();
    await east.stop();
    expect(setup.clock.pendingTimers).to.equal(0);
  });
});

describe('A cluster that is being removed', () => {
  async function setUp() {
    const setup = await ManagerSetup.start();
    const east = await EmbeddedCluster.start({ clock: setup.clock });
    await east.client().create(configMap('a'));
    const manager = setup.manager({ clusters: [{ name: 'home', client: setup.client }] });
    const holder = new Holder();
    manager.add(holder.controller);
    await setup.run(manager);
    const join = (): void => manager.addCluster({ name: 'east', client: east.client() });
    join();
    await setup.until(() => holder.active === 1);
    const endWith = async (): Promise<unknown> => {
      const error = await setup.end();
      await east.stop();
      expect(setup.clock.pendingTimers).to.equal(0);
      return error;
    };
    const end = async (): Promise<void> => {
      expect(await endWith()).to.equal(undefined);
    };
    return { setup, manager, holder, join, end, endWith };
  }

  it('keeps its name until its reconciles have ended', async () => {
    const { setup, manager, holder, join, end } = await setUp();
    const removing = watched(manager.removeCluster('east'));
    expect(join).to.throw('is being removed').with.property('code', 'InvalidOption');
    await setup.clock.advance(1_000);
    expect(removing.isOver).to.equal(false);
    expect(manager.status().clusters.map(({ name }) => name)).to.deep.equal(['home']);
    holder.release();
    await setup.until(() => removing.isOver);
    join();
    await setup.until(() => holder.active === 1);
    holder.release();
    expect(holder.most).to.equal(1);
    await end();
  });

  it('is awaited also by a second call to removeCluster', async () => {
    const { setup, manager, holder, end } = await setUp();
    const first = watched(manager.removeCluster('east'));
    const second = watched(manager.removeCluster('east', 0));
    await setup.clock.advance(1_000);
    expect([first.isOver, second.isOver]).to.deep.equal([false, false]);
    holder.release();
    await setup.until(() => first.isOver && second.isOver);
    expect([first.error, second.error]).to.deep.equal([undefined, undefined]);
    await end();
  });

  it('leaves nothing behind if the manager stops meanwhile, however long its reconciles take', async () => {
    const { setup, manager, holder, endWith } = await setUp();
    const removing = watched(manager.removeCluster('east', 3_600_000));
    await setup.clock.advance(0);
    setup.stop.abort();
    await setup.clock.advance(31_000);
    await setup.clock.advance(1_000);
    const error = await endWith();
    expect(error).to.have.property('code', 'Timeout');
    expect(error).to.have.property('message').that.includes('holder (east/default/a)');
    expect(removing).to.deep.equal({ isOver: true });
    holder.release();
  });

  it("must not be the manager's first cluster; an unknown name is ignored", async () => {
    const { manager, holder, end } = await setUp();
    await manager.removeCluster('west');
    const refused = await manager.removeCluster('home').catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'InvalidOption');
    holder.release();
    await end();
  });
});
