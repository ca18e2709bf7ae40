import { expect } from 'chai';
import type { ObjectEvent } from '../../lib/events/index.js';
import { LeaderElector } from '../../lib/manager/leader-election.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { RecordedMetrics } from './leader-election-metrics.js';
import { Election, leaseKey } from './leader-election-setup.js';
import { rememberingLogger } from './manager-setup.js';
import type { LogLine } from './manager-setup.js';

describe('LeaderElector', () => {
  let election: Election;

  beforeEach(async () => {
    election = await Election.start();
  });

  afterEach(async () => {
    await election.cluster.stop();
  });

  describe('when it is stopped or loses the Lease', () => {
    it('calls onStoppedLeading after all writes are fenced and the signal is aborted', async () => {
      const seen: unknown[] = [];
      let signal: AbortSignal | undefined;
      const a = election.candidate(
        'a',
        {},
        {
          onStartedLeading: (context) => void (signal = context.signal),
          onStoppedLeading: () => seen.push(a.elector.isLeader, a.elector.fence.term?.().lost),
        },
      );
      await election.clock.advance(0);
      election.fail('a', 500);
      await election.clock.advance(10_000);
      expect([seen, signal?.aborted]).to.deep.equal([[false, undefined], true]);
    });

    it('releases the Lease in the same way as client-go', async () => {
      const a = election.candidate('a');
      await election.clock.advance(3_000);
      a.stop();
      await election.clock.advance(0);
      expect(await a.ended).to.equal('given back');
      const { spec } = await election.lease();
      expect(spec).to.include({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    });

    it('resolves only after the server has confirmed the release', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      election.slow('a', 300);
      let isOver = false;
      void a.ended.then(() => (isOver = true));
      a.stop();
      await election.clock.advance(299);
      expect([a.elector.isLeader, isOver]).to.deep.equal([false, false]);
      await election.clock.advance(1);
      expect([isOver, (await election.lease()).spec?.holderIdentity]).to.deep.equal([true, '']);
    });

    it('keeps the Lease with releaseOnCancel: false', async () => {
      const a = election.candidate('a', { releaseOnCancel: false });
      await election.clock.advance(0);
      a.stop();
      await election.clock.advance(0);
      expect(await a.ended).to.equal('given back');
      expect((await election.lease()).spec?.holderIdentity).to.equal('a');
    });

    it('does not release the Lease of a later leader', async () => {
      const a = election.candidate('a');
      await election.clock.advance(1_000);
      await election.edit({ holderIdentity: 'x' });
      a.stop();
      await election.clock.advance(0);
      await a.ended;
      expect((await election.lease()).spec?.holderIdentity).to.equal('x');
    });

    it('keeps renewing the Lease and allows writes until onStartedLeading has ended', async () => {
      let finish = (): void => undefined;
      const work = new Promise<void>((resolve) => (finish = resolve));
      const a = election.candidate('a', {}, { onStartedLeading: () => work });
      await election.clock.advance(1_000);
      const b = election.candidate('b');
      a.stop();
      await election.clock.advance(60_000);
      expect([a.elector.isLeader, b.elector.isLeader]).to.deep.equal([true, false]);
      finish();
      await election.clock.advance(0);
      expect([a.elector.isLeader, await a.ended]).to.deep.equal([false, 'given back']);
    });

    it('rejects with the error of onStartedLeading, and releases the Lease', async () => {
      const broken = new Error('broken');
      const a = election.candidate('a', {}, { onStartedLeading: () => Promise.reject(broken) });
      await election.clock.advance(0);
      expect(await a.ended).to.equal(broken);
      expect((await election.lease()).spec?.holderIdentity).to.equal('');
    });

    it('releases a Lease that an attempt without a response may have acquired', async () => {
      const a = election.candidate('a');
      const match = { user: 'a', verb: 'create', resource: 'leases' } as const;
      election.cluster.faults.add({ match, effect: { type: 'reset', when: 'after' } });
      await election.clock.advance(100);
      a.stop();
      await election.clock.advance(100);
      expect(await a.ended).to.equal('given back');
      expect((await election.lease()).spec?.holderIdentity).to.equal('');
    });

    it('leaves no timer', async () => {
      const all = ['a', 'b', 'c'].map((name) => election.candidate(name));
      await election.clock.advance(5_000);
      for (const one of all) one.stop();
      await election.clock.advance(0);
      await Promise.all(all.map(({ ended }) => ended));
      expect(election.clock.pendingTimers).to.equal(0);
    });
  });

  it('names verb, resource and rule if RBAC forbids the Lease, and continues when it is allowed', async () => {
    const fault = election.fail('a', 403, 'get');
    const a = election.candidate('a');
    await election.clock.advance(10_000);
    expect(isOperatorError(a.elector.problem, 'LeaseForbidden')).to.be.true;
    expect(a.elector.problem)
      .to.have.property('message')
      .that.matches(
        /get Lease default\/operator: forbidden: .*; if RBAC denies it, add the rule .*leases.*get, create/,
      );
    fault.remove();
    await election.clock.advance(4_400);
    expect([a.elector.isLeader, a.elector.problem]).to.deep.equal([true, undefined]);
  });

  it('logs and keeps the error of a renewal that the server answers with 500', async () => {
    const lines: LogLine[] = [];
    const a = election.candidate('a', { logger: rememberingLogger(lines) });
    await election.clock.advance(1_000);
    const fault = election.fail('a', 500, 'update');
    await election.clock.advance(2_500);
    expect(a.elector.problem).to.be.an('error').with.property('message').that.contains('500');
    expect(lines.filter(({ level }) => level === 'warn')).to.have.lengthOf(1);
    fault.remove();
    await election.clock.advance(2_500);
    expect([a.elector.isLeader, a.elector.problem]).to.deep.equal([true, undefined]);
  });

  it('logs and keeps the error of a namespace that does not exist', async () => {
    const lines: LogLine[] = [];
    const logger = rememberingLogger(lines);
    const a = election.candidate('a', { namespace: 'nowhere', logger });
    await election.clock.advance(1_000);
    const problem = 'create Lease nowhere/operator: 404 NotFound: namespaces "nowhere" not found';
    expect(a.elector.problem).to.have.property('message', problem);
    expect(lines.map(({ level, fields }) => `${level} ${String(fields['error'])}`)).to.deep.equal([
      `warn ApiError: ${problem}`,
    ]);
  });

  it('continues if a listener throws', async () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    const lines: LogLine[] = [];
    const logger = rememberingLogger(lines);
    const a = election.candidate('a', { logger }, { onNewLeader: fail, onStoppedLeading: fail });
    await election.clock.advance(0);
    expect(a.elector.isLeader).to.be.true;
    a.stop();
    await election.clock.advance(0);
    expect(await a.ended).to.equal('given back');
    const failures = lines.filter(({ message }) => message.endsWith('a callback failed'));
    expect(failures.map(({ fields }) => String(fields['error']))).to.deep.equal([
      ...['Error: broken', 'Error: broken'],
    ]);
  });

  it('records an Event on the Lease and sets client-go’s metric', async () => {
    const events: ObjectEvent[] = [];
    const metrics = new RecordedMetrics();
    const status = (): unknown =>
      metrics.value('leader_election_master_status', { name: 'operator' });
    const recorder = { record: (event: ObjectEvent) => void events.push(event) };
    const a = election.candidate('a', { recorder, metrics });
    const seen = [status()];
    await election.clock.advance(0);
    seen.push(status());
    a.stop();
    await election.clock.advance(0);
    await a.ended;
    expect([...seen, status()]).to.deep.equal([0, 1, 0]);
    expect(events.map(({ reason, note }) => `${reason}: ${note}`)).to.deep.equal([
      'LeaderElection: a became leader',
      'LeaderElection: a stopped leading',
    ]);
    expect(events[0]?.regarding).to.have.property('kind', 'Lease');
  });

  it('counts the time in which the machine was suspended towards the renew deadline', async () => {
    const { clock } = election;
    let sleptMs = 0;
    const awake = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      uptimeMs: () => clock.monotonicMs() + sleptMs,
      setTimer: (callback: () => void, delayMs: number) => clock.setTimer(callback, delayMs),
    };
    const a = election.candidate('a', { clock: awake });
    await election.clock.advance(1_000);
    a.elector.fence.check('a write');
    sleptMs = 9_500;
    expect(() => a.elector.fence.check('a write')).to.throw(/not renewed for 10000 ms/);
  });

  it('logs each leader once while this candidate waits', async () => {
    const lines: LogLine[] = [];
    const a = election.candidate('a');
    await election.clock.advance(0);
    election.candidate('b', { logger: rememberingLogger(lines) });
    await election.clock.advance(20_000);
    await election.edit({ holderIdentity: 'c' });
    // The clock advances in steps, because the server answers in turns of the event loop between the retries.
    for (let second = 0; second < 8 && lines.length < 2; second++) {
      await election.clock.advance(1_000);
    }
    a.stop();
    const lease = 'Lease default/operator:';
    expect(lines.map(({ message, fields }) => [message, fields['leader']])).to.deep.equal([
      [`${lease} standing by`, 'a'],
      [`${lease} standing by`, 'c'],
    ]);
    await election.clock.advance(60_000);
    expect(lines.slice(2).map(({ message }) => message)).to.deep.equal([`${lease} became leader`]);
  });

  it('has no leader and refuses writes before run is called', () => {
    const elector = new LeaderElector({ ...leaseKey, client: election.admin });
    expect([elector.leader, elector.isLeader, elector.problem]).to.deep.equal([
      '',
      false,
      undefined,
    ]);
    expect(() => elector.fence.check('create'))
      .to.throw()
      .with.property('code', 'Fenced');
  });

  it('defaults to client-go’s times and a unique identity', () => {
    const client = election.admin;
    const identities = [1, 2].map(() => new LeaderElector({ ...leaseKey, client }).identity);
    expect(new Set(identities).size).to.equal(2);
    expect(identities[0]).to.match(/^.+_[0-9a-f-]{36}$/);
  });

  for (const [what, options] of Object.entries({
    'a leaseDuration of at most the renewDeadline': { leaseDurationMs: 10_000 },
    'a renewDeadline of at most 1.2 retry periods': { renewDeadlineMs: 2_400 },
    'a retry period of 0': { retryPeriodMs: 0 },
    NaN: { leaseDurationMs: NaN },
    'an endless lease': { leaseDurationMs: Infinity },
    'a lease of more seconds than 32 bits hold': { leaseDurationMs: 2 ** 31 * 1_000 },
    'an empty identity': { identity: '' },
    'an invalid Lease name': { name: 'A b' },
    'an empty namespace': { namespace: '' },
    // Plain JavaScript can omit the namespace.
    'no namespace': { namespace: undefined as unknown as string },
  })) {
    it(`rejects ${what}`, () => {
      const clock = new VirtualClock();
      const make = () =>
        new LeaderElector({ ...leaseKey, client: election.admin, clock, ...options });
      expect(make).to.throw().with.property('code', 'InvalidOption');
    });
  }
});
