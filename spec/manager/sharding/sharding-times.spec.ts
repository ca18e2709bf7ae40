import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { sleep } from '../../../lib/system/clock.js';
import type { Clock } from '../../../lib/system/clock.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import type { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { ReplicaGroup, keys, times } from './sharding-setup.js';

const [key = { name: '' }] = keys;

/** Returns the clocks of a process, which run on while none of its timers fires. */
function bentClock(clock: VirtualClock) {
  const bent = { wallMs: 0, stoppedMs: 0, sleptMs: 0 };
  const own: Clock = {
    now: () => clock.now() + bent.wallMs,
    monotonicMs: () => clock.monotonicMs() + bent.stoppedMs,
    uptimeMs: () => clock.monotonicMs() + bent.stoppedMs + bent.sleptMs,
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
  };
  return { bent, clock: own };
}

describe('Sharding and clocks', () => {
  let group: ReplicaGroup;

  beforeEach(async () => {
    group = await ReplicaGroup.start();
  });

  afterEach(() => group.stop());

  for (const [title, bend] of [
    ['the process was stopped', { stoppedMs: times.renewDeadlineMs }],
    ['the machine slept', { sleptMs: times.renewDeadlineMs }],
  ] as const) {
    it(`refuses the first write after ${title}, before any timer has fired`, async () => {
      const { bent, clock } = bentClock(group.clock);
      const { sharding } = group.replica({ clock });
      await group.clock.advance(1_000);
      const fence = sharding.fenceOf(key);
      fence.check('update');
      Object.assign(bent, bend);
      expect(() => fence.check('update'))
        .to.throw('not sent')
        .with.property('code', 'Fenced');
      expect(sharding.owns(key)).to.equal(false);
    });
  }

  for (const wallMs of [-3_600_000, 3_600_000]) {
    it(`ignores its wall clock, which jumps by ${wallMs} ms`, async () => {
      const { bent, clock } = bentClock(group.clock);
      const replica = group.replica({ clock });
      const other = group.replica({ identity: 'other' });
      await group.clock.advance(5_000);
      const { member, share } = replica.sharding.status();
      expect([share, other.sharding.status().share]).to.deep.equal([0.5, 0.5]);
      const own = keys.find((each) => replica.sharding.owns(each)) ?? key;
      const fence = replica.sharding.fenceOf(own);
      bent.wallMs = wallMs;
      fence.check('update');
      await group.clock.advance(2 * times.leaseDurationMs);
      // The replica has neither left the group nor expelled the other replica.
      fence.check('update');
      const members = [member, other.sharding.status().member].sort();
      expect([...replica.sharding.status().members].sort()).to.deep.equal(members);
      // The jump does not extend the time in which the replica may write, either.
      await replica.client.close();
      await group.clock.advance(times.renewDeadlineMs);
      expect(() => fence.check('update')).to.throw('not sent');
    });
  }

  it('counts the lease from the start of its last successful renewal instead of its response', async () => {
    let begunMs = 0;
    let isCut = false;
    const slow = (client: Client): Client => ({
      ...forwarding(client),
      patch: async (type, of, patch, options) => {
        const startedMs = group.clock.monotonicMs();
        if (isCut) throw new OperatorError('ConnectionFailed', 'no way to the server');
        const answer = await client.patch(type, of, patch, options);
        await sleep(group.clock, 700);
        begunMs = startedMs;
        return answer;
      },
    });
    const { sharding } = group.replica({}, slow);
    await group.clock.advance(5_000);
    const fence = sharding.fenceOf(key);
    isCut = true;
    await group.clock.advance(700);
    const endsMs = begunMs + times.renewDeadlineMs;
    await group.clock.advance(endsMs - group.clock.monotonicMs() - 1);
    fence.check('update');
    await group.clock.advance(1);
    expect(() => fence.check('update')).to.throw('not sent');
  });

  it('is not expelled by a list without its Lease that began before the replica joined', async () => {
    const late = async <T>(answer: PromiseLike<T>): Promise<T> => {
      const answered = await answer;
      await sleep(group.clock, 500);
      return answered;
    };
    const slow = (client: Client): Client => ({
      ...forwarding(client),
      create: async (object, options) => {
        await sleep(group.clock, 600);
        return client.create(object, options);
      },
      // A promise suffices here, because the result is only awaited.
      list: (type, options) => late(client.list(type, options)),
    });
    const { sharding } = group.replica({}, slow);
    const { member } = sharding.status();
    await group.clock.advance(6_000);
    expect(sharding.status()).to.deep.include({ member, phase: 'member', share: 1 });
  });
});
