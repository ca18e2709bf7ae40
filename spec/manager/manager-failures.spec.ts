import { expect } from 'chai';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { controllerFor } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import type { ManagerOptions } from '../../lib/manager/manager-options.js';
import type { Runnable } from '../../lib/manager/runnable.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { ManagerSetup, ScriptedLeadership, aborted, recorder, watcher } from './manager-setup.js';
import { onLoopback } from './served.js';

/** Returns the error that a manager with one more runnable ends with. */
async function endWith(runnable: Runnable): Promise<{ error: unknown; log: string[] }> {
  const setup = await ManagerSetup.start();
  const manager = setup.manager();
  const log: string[] = [];
  manager.add(recorder('other', 'server', log));
  manager.add(runnable);
  await setup.run(manager);
  const error = await setup.end();
  expect(setup.clock.pendingTimers).to.equal(0);
  return { error, log };
}

describe('Manager with failing or invalid parts', () => {
  it('stops in order when a runnable throws instead of rejecting', async () => {
    const failure = new Error('no luck');
    const run = (): Promise<void> => {
      throw failure;
    };
    for (const phase of ['server', 'webhook', 'replica', 'leader'] as const) {
      const { error, log } = await endWith({ name: 'bad', phase, run });
      expect([error, log]).to.deep.equal([failure, ['other starts', 'other ends']]);
    }
  });

  it('fails with an error if a runnable throws a value that is not an error', async () => {
    const run = (): Promise<void> => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- as a user may do
      throw undefined;
    };
    const { error } = await endWith({ name: 'bad', phase: 'replica', run });
    expect(error).to.be.an('error').with.property('message', 'undefined was thrown, not an error');
  });

  it('continues when a runnable ends', async () => {
    const { error } = await endWith({
      name: 'quick',
      phase: 'webhook',
      run: async () => undefined,
    });
    expect(error).to.equal(undefined);
  });

  it('names a runnable that does not become ready in its error', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ startTimeoutMs: 60_000 });
    const run: Runnable['run'] = ({ signal }) => aborted(signal);
    manager.add({ name: 'slow-starter', phase: 'webhook', run });
    await setup.run(manager);
    await setup.clock.advance(60_000);
    const error = await setup.end();
    expect(error).to.have.property('code', 'Timeout');
    expect(error).to.have.property('message').that.includes('slow-starter');
  });

  it('fails when the leader election does not end after the abort', async () => {
    const setup = await ManagerSetup.start();
    const endless = new ScriptedLeadership();
    endless.run = () => new Promise(() => undefined);
    const manager = setup.manager({ gracefulShutdownMs: 2_000, leaderElection: endless });
    await setup.run(manager);
    const error = await setup.end();
    expect(error).to.have.property('code', 'Timeout');
    expect(error).to.have.property('message', 'leader election has not ended');
  });

  it('fails with the error of a leader election that throws instead of rejecting', async () => {
    const setup = await ManagerSetup.start();
    const throwing = new ScriptedLeadership();
    const failure = new Error('no luck');
    throwing.run = () => {
      throw failure;
    };
    const manager = setup.manager({ leaderElection: throwing });
    await setup.run(manager);
    await setup.until(() => manager.phase === 'stopped');
    expect(await setup.end()).to.equal(failure);
  });

  it('warns about a runnable that fails after its signal is aborted, unless it throws the reason of the signal', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    const failing = (name: string, errorAfter: (signal: AbortSignal) => unknown): Runnable => ({
      name,
      run: async ({ signal }) => {
        await aborted(signal);
        throw errorAfter(signal);
      },
    });
    manager.add(failing('obedient', ({ reason }) => reason as unknown));
    manager.add(failing('broken', () => new Error('the disk is gone')));
    await setup.run(manager);
    await manager.whenStarted();
    expect(await setup.end()).to.equal(undefined);
    expect(setup.logged('warn')).to.deep.equal(['broken failed while it ended']);
  });

  it('names a runnable that does not end in its error', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ gracefulShutdownMs: 2_000 });
    const run = (): Promise<void> => new Promise(() => undefined);
    manager.add({ name: 'deaf', run });
    await setup.run(manager);
    const error = await setup.end();
    expect(error).to.have.property('code', 'Timeout');
    expect(error).to.have.property('message').that.includes('deaf');
  });

  describe('with reconciles that do not end when their signals are aborted', () => {
    /** Runs a manager whose controller never ends its reconciles of `names`. */
    const holding = async (names: readonly string[], options: Partial<ManagerOptions> = {}) => {
      const setup = await ManagerSetup.start();
      for (const name of names) await setup.create(name);
      const ends: (() => void)[] = [];
      const manager = setup.manager({ gracefulShutdownMs: 2_000, ...options });
      const added = manager.add(
        controllerFor(ConfigMap, {
          predicate: ({ object }) => names.includes(object.metadata.name ?? ''),
        })
          .withOptions({ name: 'holder', maxConcurrentReconciles: names.length })
          .complete(async () => {
            await new Promise<void>((resolve) => ends.push(resolve));
            return done();
          }),
      );
      await setup.run(manager);
      return { setup, added, ends };
    };
    const begun = ({ setup, ends }: Awaited<ReturnType<typeof holding>>, count: number) =>
      setup.until(() => ends.length === count);

    it('fails with an error that names controller and key, after it has released the Lease', async () => {
      const leadership = new ScriptedLeadership();
      const held = await holding(['a'], { leaderElection: leadership });
      leadership.lead();
      await begun(held, 1);
      const error = await held.setup.end();
      expect(error).to.have.property('code', 'Timeout');
      expect(error)
        .to.have.property('message')
        .that.matches(/^reconciles have not ended in time: holder \(default\/a\); /);
      expect(leadership.log).to.deep.equal(['candidate', 'released']);
      expect(held.setup.clock.pendingTimers).to.equal(0);
    });

    it('names at most three keys of a controller', async () => {
      const held = await holding(['a', 'b', 'c', 'd', 'e']);
      await begun(held, 5);
      const error = await held.setup.end();
      expect(error)
        .to.have.property('message')
        .that.includes('holder (default/a, default/b, default/c and 2 more); ');
    });

    it('also fails if the reconciles belong to a controller that was removed earlier', async () => {
      const held = await holding(['a']);
      await begun(held, 1);
      void held.added.remove(0);
      await held.setup.clock.advance(1_000);
      expect(await held.setup.end())
        .to.have.property('message')
        .that.includes('holder (default/a)');
    });

    it('also fails if the reconciles began before the Lease was lost', async () => {
      const leadership = new ScriptedLeadership();
      const lost = { leaderElection: leadership, whenLeadershipIsLost: 'standby' } as const;
      const held = await holding(['a'], lost);
      leadership.lead();
      await begun(held, 1);
      leadership.lose();
      await held.setup.clock.advance(1_000);
      await held.setup.until(() => leadership.log.length === 2);
      expect(await held.setup.end()).to.have.property('code', 'Timeout');
    });

    it('succeeds if the reconciles end while the manager stops', async () => {
      const held = await holding(['a']);
      await begun(held, 1);
      held.setup.stop.abort();
      await held.setup.clock.advance(2_500);
      for (const end of held.ends) end();
      expect(await held.setup.end()).to.equal(undefined);
    });
  });

  it('waits a second before it runs a leader election again that failed at once', async () => {
    const setup = await ManagerSetup.start();
    const startedMs: number[] = [];
    const leaderElection = {
      isLeader: false,
      fence: { check: () => undefined },
      run: async () => {
        startedMs.push(setup.clock.monotonicMs());
        throw new Error('no quorum');
      },
    };
    const manager = setup.manager({ leaderElection, whenLeadershipIsLost: 'standby' });
    await setup.run(manager);
    await setup.clock.advance(3_000);
    const [first = 0, ...later] = startedMs;
    expect(later.map((each) => each - first)).to.deep.equal([1_000, 2_000, 3_000]);
    expect(await setup.end()).to.equal(undefined);
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('names a port that is in use in its error', async () => {
    const setup = await ManagerSetup.start();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const manager = setup.manager({ health: { host: '127.0.0.1', port } });
    const error = await manager.run(setup.stop.signal).catch((failed: unknown) => failed);
    expect(error).to.have.property('code', 'ListenFailed');
    expect(error)
      .to.have.property('message')
      .that.includes(`127.0.0.1:${port}: the port is in use`);
    taken.close();
    await setup.end();
  });

  it('rejects two controllers or two runnables of one name', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    manager.add(watcher([]));
    const again = (): unknown => manager.add(watcher([]));
    expect(again).to.throw('withOptions').with.property('code', 'InvalidOption');
    manager.add(recorder('a', 'leader', []));
    expect(() => manager.add(recorder('a', 'server', []))).to.throw('two runnables');
    await setup.end();
  });

  it('rejects whenStarted if run fails before anything has started', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ metrics: onLoopback });
    // The manager adds a server of this name itself.
    manager.add({ name: 'metrics-server', run: ({ signal }) => aborted(signal) });
    const waiting = manager.whenStarted().catch((thrown: unknown) => thrown);
    await setup.run(manager);
    expect(await waiting).to.have.property('code', 'Stopped');
    expect(await setup.end()).to.have.property('code', 'InvalidOption');
  });

  it('starts nothing if its signal is aborted before it runs', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ health: { host: '127.0.0.1', port: 0 } });
    const log: string[] = [];
    manager.add(recorder('a', 'server', log));
    setup.stop.abort();
    await setup.run(manager);
    expect(await setup.end()).to.equal(undefined);
    expect(log).to.deep.equal([]);
    const started = await manager.whenStarted().catch((error: unknown) => error);
    expect(started).to.have.property('code', 'Stopped');
  });

  it('stops during its start, and ends only what it has started', async () => {
    const setup = await ManagerSetup.start();
    const match = { resource: 'configmaps', user: 'operator' };
    setup.cluster.faults.add({ match, effect: { type: 'status', code: 403 } });
    const manager = setup.manager();
    const log: string[] = [];
    manager.add(watcher([]));
    manager.add(recorder('a', 'server', log));
    manager.add(recorder('b', 'replica', log));
    await setup.run(manager);
    await setup.clock.advance(60_000);
    expect(manager.phase).to.equal('starting');
    expect(await setup.end()).to.equal(undefined);
    expect(log).to.deep.equal(['a starts', 'a ends']);
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  it('fails if the caches do not sync within cacheSyncTimeoutMs', async () => {
    const setup = await ManagerSetup.start();
    const match = { resource: 'configmaps', user: 'operator' };
    setup.cluster.faults.add({ match, effect: { type: 'status', code: 403 } });
    const manager = setup.manager({ cacheSyncTimeoutMs: 10_000 });
    manager.add(watcher([]));
    await setup.run(manager);
    await setup.clock.advance(10_000);
    expect(await setup.running)
      .to.have.property('message')
      .that.includes('ConfigMap');
    await setup.end();
  });

  it('refuses a second call of run', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    await setup.run(manager);
    const again = await manager.run(setup.stop.signal).catch((error: unknown) => error);
    expect(again).to.have.property('code', 'AlreadyStarted');
    expect(manager.phase).to.equal('running');
    await setup.end();
  });

  it('aborts reconciles at once when the Lease is lost during a stop', async () => {
    const setup = await ManagerSetup.start();
    const leadership = new ScriptedLeadership();
    const manager = setup.manager({ leaderElection: leadership });
    const run: Runnable['run'] = async ({ signal }) => {
      await aborted(signal);
      await new Promise<void>((resolve) => setup.clock.setTimer(resolve, 20_000));
    };
    manager.add({ name: 'slow', run });
    await setup.run(manager);
    leadership.lead();
    setup.stop.abort();
    await setup.clock.advance(1_000);
    leadership.lose();
    await setup.clock.advance(0);
    const error = await setup.end();
    expect(error).to.have.property('code', 'LeadershipLost');
  });
});
