import { expect } from 'chai';
import { forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { Sharding } from '../../../lib/manager/sharding/index.js';
import { Lease } from '../../../lib/object/kinds.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { RecordedMetrics } from '../leader-election-metrics.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';
import { ReplicaGroup, heldWork, keys, times } from './sharding-setup.js';

const groupLabel = 'operator-builder.io/shards';

describe('Sharding', () => {
  let group: ReplicaGroup;

  beforeEach(async () => {
    group = await ReplicaGroup.start();
  });

  afterEach(async () => {
    await group.stop();
    expect(group.clock.pendingTimers, 'timers left').to.equal(0);
  });

  it('assigns all keys to a single replica at once', async () => {
    const replica = group.replica();
    await group.clock.advance(1_000);
    expect(replica.owned()).to.equal(1_000);
    expect(replica.sharding.status()).to.deep.include({ phase: 'member', share: 1 });
  });

  it('assigns each key to one of three replicas, in shares within a factor of 1.3', async () => {
    const replicas = await group.replicas(3);
    const counts = replicas.map((replica) => replica.owned());
    expect(
      keys.every((key) => replicas.filter(({ sharding }) => sharding.owns(key)).length === 1),
    ).to.equal(true);
    expect(Math.max(...counts) / Math.min(...counts)).to.be.below(1.3);
  });

  it('hands over the keys of a stopping replica before its Lease would expire, and deletes the Lease', async () => {
    const [one, ...others] = await group.replicas(3);
    one?.stop();
    await group.clock.advance(3 * times.retryPeriodMs);
    await one?.ended;
    expect(others.map((replica) => replica.owned()).reduce((a, b) => a + b)).to.equal(1_000);
    await group.clock.advance(2 * times.retryPeriodMs);
    const { items } = await group.admin.list(Lease, { namespace: 'default' });
    expect(items).to.have.length(3);
  });

  it('takes over in time from a leader that cannot reach the server', async () => {
    const replicas = await group.replicas(3);
    const [leader] = replicas;
    await leader?.client.close();
    await group.clock.advance(times.leaseDurationMs - 2 * times.retryPeriodMs);
    expect(replicas.slice(1).reduce((sum, replica) => sum + replica.owned(), 0)).to.be.below(1_000);
    // Until leaseDuration + 4 retry periods are over.
    await group.clock.advance(6 * times.retryPeriodMs);
    expect(leader?.owned()).to.equal(0);
    expect(replicas.slice(1).reduce((sum, replica) => sum + replica.owned(), 0)).to.equal(1_000);
  });

  it("waits for the end of another replica's longer lease before it takes over", async () => {
    // As in the rollout of a release with shorter times.
    const slow = { leaseDurationMs: 12_000, renewDeadlineMs: 10_000, retryPeriodMs: 1_000 };
    const former = group.replica({ ...slow, identity: 'former' });
    await group.clock.advance(1_500);
    const next = group.replica({ identity: 'next' });
    await group.clock.advance(5_000);
    const [key] = keys.filter((each) => former.sharding.owns(each));
    await former.client.close();
    await group.clock.advance(slow.renewDeadlineMs - slow.retryPeriodMs);
    expect(former.sharding.owns(key ?? { name: '' })).to.equal(true);
    expect(next.owned()).to.be.below(1_000);
    await group.clock.advance(slow.leaseDurationMs - slow.renewDeadlineMs + 4_000);
    expect([former.owned(), next.owned()]).to.deep.equal([0, 1_000]);
  });

  it('moves a key only after the work on it has ended', async () => {
    const first = group.replica();
    const work = heldWork();
    first.sharding.subscribe(work);
    await group.clock.advance(1_000);
    const second = group.replica();
    await group.clock.advance(5_000);
    expect([first.owned(), second.owned()]).to.deep.equal([first.owned(), 0]);
    expect(work.graces).to.deep.equal([10_000]);
    work.end();
    await group.clock.advance(3 * times.retryPeriodMs);
    expect(first.owned() + second.owned()).to.equal(1_000);
    expect(second.owned()).to.be.above(400);
    work.released = () => Promise.resolve();
  });

  it('lets running work end within the configured grace period when it stops', async () => {
    const replica = group.replica();
    const work = heldWork();
    replica.sharding.subscribe(work);
    await group.clock.advance(1_000);
    replica.stop();
    await group.clock.advance(0);
    expect(work.graces).to.deep.equal([10_000]);
    work.end();
    await group.clock.advance(3 * times.retryPeriodMs);
    await replica.ended;
  });

  it('refuses writes for keys that another replica owns, and writes while the lease is stale', async () => {
    const [one] = await group.replicas(2);
    const [own, other] = [true, false].map((isOwn) =>
      keys.find((key) => one?.sharding.owns(key) === isOwn),
    );
    if (one === undefined || own === undefined || other === undefined) throw new Error('no keys');
    one.sharding.fenceOf(own).check('update');
    expect(() => one.sharding.fenceOf(other).check('update'))
      .to.throw('update: not sent')
      .with.property('code', 'Fenced');
    const fence = one.sharding.fenceOf(own);
    await one.client.close();
    await group.clock.advance(times.renewDeadlineMs - times.retryPeriodMs);
    fence.check('update');
    await group.clock.advance(times.retryPeriodMs);
    expect(() => fence.check('update')).to.throw('not sent');
  });

  it('continues with a warning if the Lease of a former replica cannot be deleted', async () => {
    const lines: LogLine[] = [];
    const failing = (client: Client): Client => ({
      ...forwarding(client),
      delete: () => Promise.reject(new Error('no luck')),
    });
    const leader = group.replica({ identity: 'one', logger: rememberingLogger(lines) }, failing);
    await group.clock.advance(1_000);
    const other = group.replica({ identity: 'two' });
    await group.clock.advance(4_000);
    other.stop();
    await group.clock.advance(4_000);
    expect(leader.owned()).to.equal(1_000);
    const warnings = lines.filter(({ message }) => message.includes('not deleted'));
    expect(warnings[0]?.fields['error']).to.have.property('message', 'no luck');
  });

  it('does not notify a subscriber after it has unsubscribed', async () => {
    const { sharding } = group.replica();
    const calls: string[] = [];
    const listener = (name: string) => ({
      acquired: () => void calls.push(name),
      released: () => Promise.resolve(),
    });
    sharding.subscribe(listener('stays'));
    sharding.subscribe(listener('goes'))();
    await group.clock.advance(1_000);
    expect(calls).to.deep.equal(['stays']);
  });

  it('notifies every listener of acquired keys although one throws', async () => {
    const lines: LogLine[] = [];
    const { sharding } = group.replica({ logger: rememberingLogger(lines) });
    const acquired: string[] = [];
    const listener = (name: string, fail: boolean) => ({
      acquired: () => {
        acquired.push(name);
        if (fail) throw new Error('broken');
      },
      released: () => Promise.resolve(),
    });
    sharding.subscribe(listener('broken', true));
    sharding.subscribe(listener('working', false));
    await group.clock.advance(1_000);
    expect(acquired).to.deep.equal(['broken', 'working']);
    expect(lines.map(({ message }) => message)).to.deep.equal([
      'sharding: a controller could not add the keys that this replica acquired',
    ]);
  });

  it('keeps keys whose release callback failed, because work on them may continue', async () => {
    // The spec has its own group, because a replica whose release failed cannot leave.
    const stuck = await ReplicaGroup.start();
    const lines: LogLine[] = [];
    const first = stuck.replica({ logger: rememberingLogger(lines) });
    first.sharding.subscribe({
      acquired: () => undefined,
      released: () => Promise.reject(new Error('no luck')),
    });
    await stuck.clock.advance(1_000);
    const second = stuck.replica();
    await stuck.clock.advance(20_000);
    expect(second.owned()).to.equal(0);
    expect(lines.map(({ message }) => message)).to.deep.equal([
      'sharding: a controller could not release its keys, so this replica keeps them until it ends',
    ]);
    await stuck.stop();
  });

  it('refuses writes of reconciles that began before the replica was expelled, even after it has joined again', async () => {
    const lines: LogLine[] = [];
    const logger = rememberingLogger(lines);
    const replica = group.replica({ identity: 'cut-off', logger });
    await group.clock.advance(1_000);
    const [key = { name: '' }] = keys;
    const fence = replica.sharding.fenceOf(key);
    await group.clock.advance(2_000);
    // Renewals do not begin a new term.
    expect([fence.lost?.aborted, lines]).to.deep.equal([false, []]);
    const other = group.replica({ identity: 'other' });
    const fault = group.cluster.faults.add({
      match: { user: 'cut-off', resource: 'leases' },
      effect: { type: 'status', code: 500 },
    });
    await group.clock.advance(6_000);
    expect(other.owned()).to.equal(1_000);
    fault.remove();
    other.stop();
    await group.clock.advance(6_000);
    expect(replica.owned()).to.equal(1_000);
    expect(fence.lost?.aborted).to.equal(true);
    expect(() => fence.check('update')).to.throw('not sent');
    const again = replica.sharding.fenceOf(key);
    again.check('update');
    expect(again.lost?.aborted).to.equal(false);
    expect(
      lines.filter(({ message }) => message.includes('was taken over or deleted')),
    ).to.have.length(1);
  });

  it('reports missing permissions in its health check', async () => {
    const match = { verb: 'list', resource: 'leases' } as const;
    const fault = group.cluster.faults.add({
      match,
      effect: { type: 'status', code: 403, reason: 'Forbidden' },
    });
    const { sharding } = group.replica();
    await group.clock.advance(1_000);
    const check = (): unknown => sharding.healthCheck.check(new AbortController().signal);
    expect(check).to.throw(/resources: \[leases\]/);
    fault.remove();
    await group.clock.advance(1_000);
    check();
  });

  it('reports a namespace that does not exist in its log and its health check', async () => {
    const lines: LogLine[] = [];
    const { sharding } = group.replica({ namespace: 'nowhere', logger: rememberingLogger(lines) });
    await group.clock.advance(1_000);
    const check = (): unknown => sharding.healthCheck.check(new AbortController().signal);
    expect(check).to.throw(
      /^not a member of shards operator: create Lease nowhere\/.*: 404 NotFound/,
    );
    expect(new Set(lines.map(({ message }) => message))).to.deep.equal(
      new Set(['a Lease was not written']),
    );
  });

  it('shows the reason that the server gives for refusing access to the Leases', async () => {
    const match = { verb: 'create', resource: 'leases' } as const;
    const message = 'exceeded quota: q';
    const effect = { type: 'status', code: 403, reason: 'Forbidden', message } as const;
    group.cluster.faults.add({ match, effect });
    const { sharding } = group.replica();
    await group.clock.advance(1_000);
    const check = (): unknown => sharding.healthCheck.check(new AbortController().signal);
    expect(check).to.throw(
      'create Lease in default: forbidden: exceeded quota: q; if RBAC denies it, add',
    );
  });

  it('creates a deleted assignment record again while all replicas continue', async () => {
    const replicas = await group.replicas(2);
    await group.admin.delete(Lease, { namespace: 'default', name: 'operator-shards' });
    await group.clock.advance(4_000);
    expect(replicas.map((replica) => replica.owned()).reduce((a, b) => a + b)).to.equal(1_000);
  });

  it('keeps the assignment record although it loses its label, and gives it the label again', async () => {
    const [one, two] = await group.replicas(2);
    const record = { namespace: 'default', name: 'operator-shards' };
    const { metadata } = await group.admin.get(Lease, record);
    const body = { metadata: { labels: { [groupLabel]: null } } };
    await group.admin.patch(Lease, record, { type: 'merge', body });
    one?.stop();
    await group.clock.advance(4_000);
    expect(two?.owned()).to.equal(1_000);
    const { uid, labels } = (await group.admin.get(Lease, record)).metadata;
    expect([uid, labels]).to.deep.equal([metadata.uid, { [groupLabel]: 'operator' }]);
  });

  it('reports once that another program uses the name of the assignment record', async () => {
    const metadata = { namespace: 'default', name: 'operator-shards' };
    const spec = { holderIdentity: 'leader of operator-shards' };
    const apiVersion = 'coordination.k8s.io/v1';
    await group.admin.create<Lease>({ apiVersion, kind: 'Lease', metadata, spec });
    const lines: LogLine[] = [];
    group.replica({ logger: rememberingLogger(lines) });
    await group.clock.advance(4_000);
    expect(lines.map(({ message }) => message)).to.deep.equal([
      "Lease default/operator-shards can't be read, so no key moves: delete it, it is created again; " +
        'or give shards another name if another program uses it',
    ]);
    expect((await group.admin.get(Lease, metadata)).spec).to.deep.equal(spec);
  });

  it('reports its share, members and epoch as metrics, and sets them to 0 when it leaves', async () => {
    const metrics = new RecordedMetrics();
    const one = group.replica({ identity: 'one', metrics });
    const value = (name: string) =>
      metrics.value(`operator_builder_shards_${name}`, { name: 'operator' });
    const values = () => [value('owned_share'), value('members'), value('epoch')];
    await group.clock.advance(5_000);
    const { epoch: first } = one.sharding.status();
    expect([first, values()]).to.deep.equal([1, [1, 1, 1]]);
    group.replica({ identity: 'two' });
    await group.clock.advance(5_000);
    const { share, members, epoch } = one.sharding.status();
    expect([share, members.length, epoch > first]).to.deep.equal([0.5, 2, true]);
    expect(values()).to.deep.equal([share, members.length, epoch]);
    one.stop();
    await group.clock.advance(5_000);
    expect(values()).to.deep.equal([0, 0, 0]);
  });

  it('refuses a second call of run', async () => {
    const { sharding } = group.replica();
    const error: unknown = await sharding
      .run({ signal: new AbortController().signal, ready: () => undefined })
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'Stopped');
  });

  it('does not join the group if it starts while the program ends', async () => {
    const place = { name: 'operator', namespace: 'default', clock: group.clock };
    const sharding = new Sharding({ ...place, ...times, client: group.admin });
    let isReady = false;
    await sharding.run({ signal: AbortSignal.abort(), ready: () => (isReady = true) });
    const { items } = await group.admin.list(Lease, { namespace: 'default' });
    expect([isReady, sharding.status().phase, items]).to.deep.equal([true, 'left', []]);
  });

  it('accepts a renewDeadlineMs just above 1.2 retry periods, and a name of 50 characters', () => {
    // Just more than 1.2 retry periods.
    expect(() => group.replica({ renewDeadlineMs: 481 })).not.to.throw();
    expect(() => group.replica({ name: 'a'.repeat(50) })).not.to.throw();
  });

  for (const options of [
    { renewDeadlineMs: 3_000 },
    { renewDeadlineMs: 480 },
    { retryPeriodMs: 0 },
    { drainMs: NaN },
    { name: 'A' },
    { name: 'a'.repeat(51) },
    { namespace: 'A' },
    { by: 'uid' as never },
    { identity: '' },
    { leaseDurationMs: Infinity },
    { leaseDurationMs: 2 ** 31 * 1_000 },
    { leaseDurationMs: NaN },
  ]) {
    it(`rejects the options ${Object.entries(options).join()}`, () => {
      const construct = () => group.replica(options);
      expect(construct)
        .to.throw('sharding')
        .that.satisfies((error: unknown) => isOperatorError(error, 'InvalidOption'));
    });
  }
});
