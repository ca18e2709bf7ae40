import { expect } from 'chai';
import { controllerFor, done } from '../../../lib/controller/index.js';
import type { Manager } from '../../../lib/manager/index.js';
import { ConfigMap, Lease } from '../../../lib/object/kinds.js';
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

  it('reconciles each key on one replica, and on the other replica after the first has stopped', async () => {
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

  it('refuses the writes of a reconcile after the lease of its replica has become stale', async () => {
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

  it('takes Lease name, namespace, identity and durations from the options of leader election', async () => {
    const leaderElection = { name: 'elected', namespace: 'default', identity: 'me', ...times };
    const manager = setup.manager({ leaderElection });
    manager.add(watcher([]), { shards: true });
    expect(await joined(manager, 'elected')).to.deep.equal(['me', 3]);
  });

  it('uses the options of shards instead of those of the leader election', async () => {
    const election = { name: 'elected', namespace: 'other', identity: 'me', ...times };
    const own = { ...shards, identity: 'mine', leaseDurationMs: 20_000 };
    const manager = setup.manager({ leaderElection: election, shards: own });
    manager.add(watcher([]), { shards: true });
    expect(await joined(manager, 'operator')).to.deep.equal(['mine', 20]);
  });

  /** Starts a replica. @returns the holder and the duration of its Lease, which belongs to `group` */
  async function joined(manager: Manager, group: string): Promise<readonly unknown[]> {
    await setup.run(manager);
    await setup.clock.advance(1_000);
    const { member = '' } = manager.status().shards ?? {};
    expect(member).to.match(new RegExp(`^${group}-[0-9a-f]{8}$`));
    const { metadata, spec } = await setup.person.get(Lease, {
      namespace: 'default',
      name: member,
    });
    expect(metadata.labels).to.deep.equal({ 'operator-builder.io/shards': group });
    return [spec?.holderIdentity, spec?.leaseDurationSeconds];
  }

  it('requires access to the Leases of its namespace, once for all controllers', () => {
    const manager = setup.manager({ shards });
    for (const name of ['one', 'two']) manager.add(watcher([], name), { shards: true });
    const leases = manager.requiredAccess().filter(({ type }) => type?.kind === 'Lease');
    expect(leases).to.deep.equal([
      { type: Lease, verbs: ['list', 'create', 'patch', 'delete'], namespace: 'default' },
    ]);
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
