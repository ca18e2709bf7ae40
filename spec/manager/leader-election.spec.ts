import { expect } from 'chai';
import { fenced, forwarding } from '../../lib/client/index.js';
import { releasedLease, renewedLease, takenLease } from '../../lib/manager/lease.js';
import { Lease } from '../../lib/object/kinds.js';
import type { ConfigMap } from '../../lib/object/kinds.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { RecordedMetrics } from './leader-election-metrics.js';
import { Election, leaseKey } from './leader-election-setup.js';
import { rememberingLogger } from './manager-setup.js';
import type { LogLine } from './manager-setup.js';

const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', generateName: 'of-' },
};

const isLost = (error: unknown): boolean => isOperatorError(error, 'LeadershipLost');

describe('LeaderElector', () => {
  let election: Election;

  beforeEach(async () => {
    election = await Election.start();
  });

  afterEach(async () => {
    await election.cluster.stop();
  });

  describe('with a free Lease', () => {
    it('creates the Lease with the fields that client-go writes', async () => {
      const a = election.candidate('a');
      await election.clock.advance(0);
      expect(a.told).to.deep.equal(['0 sees a', '0 started']);
      expect((await election.lease()).spec).to.deep.equal({
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      });
    });

    it('recognizes the Lease that it created although the response was lost, and leads before that Lease expires', async () => {
      const match = { user: 'a', verb: 'create', resource: 'leases' } as const;
      election.cluster.faults.add({ match, effect: { type: 'reset', when: 'after' } });
      const a = election.candidate('a');
      await election.clock.advance(0);
      expect(a.elector.isLeader).to.equal(false);
      await election.clock.advance(4_400);
      expect(a.elector.isLeader).to.equal(true);
      expect((await election.lease()).spec).to.include({ leaseTransitions: 0 });
    });

    it('elects one of three candidates', async () => {
      const all = ['a', 'b', 'c'].map((name) => election.candidate(name));
      await election.clock.advance(60_000);
      expect(all.filter(({ elector }) => elector.isLeader).length).to.equal(1);
      expect(new Set(all.map(({ elector }) => elector.leader)).size).to.equal(1);
    });

    it('renews the Lease every retry period and changes only its renewTime', async () => {
      election.candidate('a');
      await election.clock.advance(2_000);
      const before = await election.lease();
      await election.clock.advance(2_000);
      const { renewTime, ...rest } = (await election.lease()).spec ?? {};
      expect(renewTime).to.equal('2026-01-01T00:00:04.000000Z');
      expect({ ...rest, renewTime: before.spec?.renewTime }).to.deep.equal(before.spec);
    });

    it('accepts a Lease without a spec or a duration', async () => {
      await election.createLease();
      const a = election.candidate('a');
      await election.clock.advance(0);
      expect([a.elector.isLeader, (await election.lease()).spec?.leaseTransitions]).to.deep.equal([
        true,
        1,
      ]);
    });

    it('keeps fields that do not concern the holder', async () => {
      await election.createLease({ holderIdentity: '' });
      await election.edit({}, { labels: { app: 'x' } });
      election.candidate('a');
      await election.clock.advance(5_000);
      expect((await election.lease()).metadata.labels).to.deep.equal({ app: 'x' });
      const strategy = 'OldestEmulationVersion';
      const lease: Lease = { ...(await election.lease()), spec: { strategy } };
      const holding = { identity: 'b', durationMs: 3_000, nowMs: 0 };
      for (const written of [
        takenLease(lease, holding),
        renewedLease(lease, holding),
        releasedLease(lease, 0),
      ]) {
        expect(written.spec).to.include({ strategy });
      }
    });
  });

  describe('with a held Lease', () => {
    for (const renewTime of ['2016-01-01T00:00:00.000000Z', '2036-01-01T00:00:00.000000Z']) {
      it(`takes the Lease when its duration has passed since the first read, although its renewTime is ${renewTime}`, async () => {
        await election.createLease({
          ...{ holderIdentity: 'x', leaseDurationSeconds: 7, renewTime, leaseTransitions: 3 },
        });
        await election.clock.advance(100_000);
        const a = election.candidate('a');
        await election.clock.advance(6_999);
        expect(a.told).to.deep.equal(['100000 sees x']);
        await election.clock.advance(1);
        expect(a.told.slice(1)).to.deep.equal(['107000 sees a', '107000 started']);
        expect((await election.lease()).spec).to.include({ leaseTransitions: 4 });
      });
    }

    it('takes a Lease that has no duration after the duration in its own options', async () => {
      await election.createLease({ holderIdentity: 'x' });
      const a = election.candidate('a');
      await election.clock.advance(14_999);
      expect(a.elector.isLeader).to.be.false;
      await election.clock.advance(1);
      expect(a.elector.isLeader).to.be.true;
    });

    it('treats a new label on the Lease as no renewal by the holder, only a change of the spec', async () => {
      await election.createLease({ holderIdentity: 'x', leaseDurationSeconds: 15 });
      const a = election.candidate('a');
      for (let at = 0; at < 14; at++) {
        await election.clock.advance(1_000);
        await election.edit({}, { labels: { at: String(at) } });
      }
      await election.clock.advance(1_000);
      expect(a.elector.isLeader).to.be.true;
    });

    it('treats a Lease with its own identity as held by another process if another process wrote it', async () => {
      await election.createLease({ holderIdentity: 'a', leaseDurationSeconds: 15 });
      const lines: LogLine[] = [];
      const a = election.candidate('a', { logger: rememberingLogger(lines) });
      await election.clock.advance(14_999);
      expect(a.elector.isLeader).to.be.false;
      expect(lines.map(({ level }) => level)).to.deep.equal(['warn']);
      expect(lines[0]?.message).to.match(/standing by: another process.* with this identity/);
      await election.clock.advance(1);
      expect(a.elector.isLeader).to.be.true;
    });

    it('does not recreate a deleted Lease before its duration is over', async () => {
      await election.createLease({ holderIdentity: 'x', leaseDurationSeconds: 15 });
      const a = election.candidate('a');
      await election.clock.advance(3_000);
      await election.admin.delete(Lease, leaseKey);
      await election.clock.advance(11_999);
      expect(a.elector.isLeader).to.be.false;
      await election.clock.advance(1);
      expect(a.elector.isLeader).to.be.true;
    });

    it('waits its own lease duration before it recreates a deleted Lease whose duration was years', async () => {
      await election.createLease({ holderIdentity: 'x', leaseDurationSeconds: 1_000_000_000 });
      const a = election.candidate('a');
      await election.clock.advance(3_000);
      await election.admin.delete(Lease, leaseKey);
      await election.clock.advance(11_999);
      expect(a.elector.isLeader).to.be.false;
      await election.clock.advance(2_200);
      expect(a.elector.isLeader).to.be.true;
    });

    it('takes a released Lease within 2.2 retry periods', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      const b = election.candidate('b');
      await election.clock.advance(60_000);
      a.stop();
      await election.clock.advance(4_400);
      expect(await a.ended).to.equal('given back');
      expect([a.elector.isLeader, b.elector.isLeader]).to.deep.equal([false, true]);
    });
  });

  describe('as a leader', () => {
    it('may write until renewDeadline after the start of its last renewal, and then loses the Lease', async () => {
      const a = election.candidate('a');
      await election.clock.advance(2_500);
      election.fail('a', 500, 'update');
      await election.clock.advance(9_499);
      const write = (): Promise<unknown> => fenced(a.client, a.elector.fence).create(configMap);
      await write();
      await election.clock.advance(1);
      const refused = await write().catch((error: unknown) => error);
      expect(isOperatorError(refused, 'Fenced')).to.be.true;
      expect(a.told).to.deep.equal(['0 sees a', '0 started', '12000 stopped']);
      expect(isLost(await a.ended)).to.be.true;
    });

    it('counts a renewal from its start instead of its response', async () => {
      const a = election.candidate('a');
      await election.clock.advance(500);
      const slow = election.slow('a', 3_000);
      await election.clock.advance(4_500);
      slow.remove();
      election.fail('a', 500, 'update');
      // The renewal began at 2 s and was answered at 5 s.
      await election.clock.advance(6_999);
      expect(a.elector.isLeader).to.be.true;
      await election.clock.advance(1);
      expect([a.elector.isLeader, a.told.at(-1)]).to.deep.equal([false, '12000 stopped']);
    });

    it('stops leading in time when the server hangs', async () => {
      const a = election.candidate('a');
      await election.clock.advance(2_500);
      election.slow('a', 1_000_000);
      await election.clock.advance(9_500);
      expect(a.told.at(-1)).to.equal('12000 stopped');
      expect(isLost(await a.ended)).to.be.true;
    });

    it('stops leading in time when its client hangs and ignores the signal', async () => {
      const client = election.cluster.client({ user: 'a' });
      let hangs = false;
      const update: typeof client.update = (object, options) =>
        hangs ? new Promise(() => undefined) : client.update(object, options);
      const a = election.candidate('a', { client: { ...forwarding(client), update } });
      await election.clock.advance(2_500);
      hangs = true;
      await election.clock.advance(9_500);
      expect(a.told.at(-1)).to.equal('12000 stopped');
      expect(isLost(await a.ended)).to.be.true;
    });

    it('retries a hanging renewal after half of the deadline', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      const match = { user: 'a', verb: 'update', resource: 'leases' } as const;
      election.cluster.faults.add({ match, effect: { type: 'latency', ms: 1_000_000 }, times: 1 });
      await election.clock.advance(30_000);
      expect(a.told).to.deep.equal(['0 sees a', '0 started']);
    });

    it('keeps the Lease when single renewals fail', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      for (let round = 0; round < 5; round++) {
        const fault = election.fail('a', 500);
        await election.clock.advance(5_000);
        fault.remove();
        await election.clock.advance(4_500);
      }
      expect(a.told).to.deep.equal(['0 sees a', '0 started']);
    });

    it('keeps the Lease when another client labels it, and counts this in leader_election_slowpath_total', async () => {
      const metrics = new RecordedMetrics();
      const a = election.candidate('a', { metrics });
      await election.clock.advance(1_000);
      await election.edit({}, { labels: { app: 'x' } });
      await election.clock.advance(1_000);
      expect((await election.lease()).spec?.renewTime).to.match(/^2026-01-01T00:00:02/);
      await election.clock.advance(29_000);
      expect(a.elector.isLeader).to.be.true;
      expect(metrics.value('leader_election_slowpath_total', { name: 'operator' })).to.equal(1);
    });

    it('creates the Lease again when it is deleted', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      const b = election.candidate('b');
      await election.clock.advance(1_000);
      await election.admin.delete(Lease, leaseKey);
      await election.clock.advance(60_000);
      expect([a.told, b.told]).to.deep.equal([['0 sees a', '0 started'], ['1000 sees a']]);
      expect((await election.lease()).spec?.holderIdentity).to.equal('a');
    });

    it('loses the Lease at the next renewal if another holder took it, and names that holder', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      await election.edit({ holderIdentity: 'x', renewTime: '2026-01-01T00:00:01.000000Z' });
      await election.clock.advance(1_000);
      expect(a.told.slice(2)).to.deep.equal(['2000 stopped', '2000 sees x']);
      expect(await a.ended).to.match(/Lease default\/operator: lost: x holds it/);
    });

    it('loses the Lease if another client renews it with the same identity', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      await election.edit({ renewTime: '2026-01-01T00:00:01.234567Z' });
      await election.clock.advance(1_000);
      expect(a.told.at(-1)).to.equal('2000 stopped');
      expect(isLost(await a.ended)).to.be.true;
    });

    it('recognizes its own renewal whose response was lost', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      const match = { user: 'a', verb: 'update', resource: 'leases' } as const;
      election.cluster.faults.add({ match, effect: { type: 'reset', when: 'after' }, times: 4 });
      await election.clock.advance(30_000);
      expect(a.told).to.deep.equal(['0 sees a', '0 started']);
    });

    it('can run again as a new term, and still refuses writes of the earlier term', async () => {
      const a = election.candidate('a', {}, {});
      await election.clock.advance(0);
      const term = a.elector.fence.term?.();
      a.stop();
      await election.clock.advance(0);
      await a.ended;
      void a.elector.run();
      await election.clock.advance(0);
      expect(a.elector.isLeader).to.be.true;
      a.elector.fence.check('a write');
      expect(() => term?.check('a write')).to.throw(/not sent/);
    });

    it('leads again at once after an outage of the server, if no other process has taken the Lease', async () => {
      const lines: LogLine[] = [];
      const a = election.candidate('a', { logger: rememberingLogger(lines) });
      await election.clock.advance(1_000);
      const outage = election.fail('a', 503);
      await election.clock.advance(12_000);
      expect(isLost(await a.ended)).to.be.true;
      void a.elector.run();
      await election.clock.advance(3_000);
      outage.remove();
      await election.clock.advance(2_000 * 2.2);
      expect(a.elector.isLeader).to.be.true;
      expect(lines.map(({ message }) => message).join()).not.to.contain('another process');
    });

    it('waits after an outage of the server if another process has taken the Lease', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      const outage = election.fail('a', 503);
      await election.clock.advance(12_000);
      expect(isLost(await a.ended)).to.be.true;
      const b = election.candidate('b');
      await election.clock.advance(16_000);
      expect(b.elector.isLeader).to.be.true;
      outage.remove();
      void a.elector.run();
      await election.clock.advance(60_000);
      expect([a.elector.isLeader, a.elector.leader]).to.deep.equal([false, 'b']);
    });

    it('cannot run twice at the same time', async () => {
      const a = election.candidate('a');
      const second = await a.elector.run().catch((error: unknown) => error);
      expect(isOperatorError(second, 'Stopped')).to.be.true;
    });
  });
});
