import { expect } from 'chai';
import { controllerFor, done } from '../../../lib/controller/index.js';
import type { Manager } from '../../../lib/manager/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { ManagerSetup, configMap, watcher } from '../manager-setup.js';
import { times } from './sharding-setup.js';

const names = Array.from({ length: 40 }, (_, n) => `item-${n}`);
const shards = { name: 'operator', namespace: 'default', ...times };

describe('Manager with shards', () => {
  let setup: ManagerSetup;

  beforeEach(async () => {
    setup = await ManagerSetup.start();
    await Promise.all(names.map((name) => setup.create(name)));
  });

  afterEach(() => setup.end());

  it('reconciles each key on one replica, and on the other one after the first has stopped', async () => {
    const seen: string[][] = [[], []];
    const managers = seen.map((keys, n) => {
      const manager = setup.manager({ shards: { ...shards, identity: `replica-${n}` } });
      manager.add(watcher(keys), { shards: true });
      return manager;
    });
    const [first, second] = managers;
    const ending = new AbortController();
    const ended = first?.run(ending.signal);
    if (second !== undefined) await setup.run(second);
    await setup.clock.advance(5_000);
    expect(managers.map((manager) => manager.status().shards?.share)).to.deep.equal([0.5, 0.5]);
    for (const keys of seen) keys.splice(0);
    for (const name of names) {
      const key = { namespace: 'default', name };
      await setup.person.patch(ConfigMap, key, { type: 'merge', body: { data: { a: 'b' } } });
    }
    await setup.clock.advance(100);
    expect(seen.flat().sort()).to.deep.equal([...names].sort());
    const firsts = seen[0]?.splice(0) ?? [];
    seen[1]?.splice(0);
    ending.abort();
    await setup.clock.advance(3_000);
    await ended;
    // Exactly the keys of the first replica.
    expect(seen[1]?.sort()).to.deep.equal(firsts.sort());
  });

  it('fences the writes of a reconcile whose key moved to another replica', async () => {
    const outcomes: unknown[] = [];
    const begun: string[] = [];
    const slow = controllerFor(ConfigMap).complete(async ({ key, client, signal }) => {
      begun.push(key.name);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await client.update(configMap(key.name)).catch((error: unknown) => outcomes.push(error));
      return done();
    });
    const manager = setup.manager({ shards: { ...shards, identity: 'cut-off' } });
    manager.add(slow, { shards: true });
    await setup.run(manager);
    await setup.clock.advance(1_000);
    expect(begun).to.have.length(1);
    setup.cluster.faults.add({
      match: { resource: 'leases' },
      effect: { type: 'status', code: 500 },
    });
    await setup.clock.advance(times.renewDeadlineMs);
    expect(outcomes).to.have.length(1);
    expect(outcomes[0]).to.have.property('code', 'Fenced');
  });

  it('takes name, namespace and durations from the leader election', async () => {
    const leaderElection = { name: 'elected', namespace: 'default', ...times };
    const manager = setup.manager({ leaderElection });
    manager.add(watcher([]), { shards: true });
    await setup.run(manager);
    await setup.clock.advance(1_000);
    expect(manager.status().shards?.member).to.match(/^elected-/);
  });

  it('runs a sharded controller on the leader if shards is false', async () => {
    const seen: string[] = [];
    const manager = setup.manager({ shards: false });
    manager.add(watcher(seen), { shards: true });
    await setup.run(manager);
    await setup.clock.advance(100);
    expect([...new Set(seen)].sort()).to.deep.equal([...names].sort());
    expect(manager.status().shards).to.equal(undefined);
  });

  it('rejects shards without a Lease namespace, and shards together with a phase', () => {
    const add = (options: ConstructorParameters<typeof Manager>[0], phase?: 'leader') => () =>
      setup.manager(options).add(watcher([]), { shards: true, phase });
    expect(add({}))
      .to.throw('name and namespace of the Leases are unknown')
      .with.property('code', 'InvalidOption');
    expect(add({ shards }, 'leader')).to.throw('not both').with.property('code', 'InvalidOption');
  });
});
