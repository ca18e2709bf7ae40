import { expect } from 'chai';
import type { StoredAssignment } from '../../../lib/manager/sharding/assignment.js';
import { MemberObserver } from '../../../lib/manager/sharding/member-lease.js';
import { ShardLeader } from '../../../lib/manager/sharding/shard-leader.js';
import type { MemberLease, WriteOutcome } from '../../../lib/manager/sharding/member-lease.js';
import { ShardMachine } from '../../../lib/manager/sharding/shard-machine.js';
import { seededRandom } from '../../../lib/system/random.js';
import { isSampled, sampleSeed, tries } from '../../sample.js';
import { chaos } from './simulation/chaos.js';
import { ModelGroup, times } from './simulation/model-group.js';

/** The number of schedules of each kind. Set SCHEDULES=3000 for more. */
const schedules = Number(process.env['SCHEDULES'] ?? tries(30));
const first = isSampled ? sampleSeed * schedules : 1;
const seeds = Array.from({ length: schedules }, (_, n) => first + n);
const promiseMs = times.leaseDurationMs + 4 * times.retryPeriodMs;

function startedGroup(seed: number, size: number, drainMs = 300): ModelGroup {
  const group = new ModelGroup({ random: seededRandom(seed), drainMs });
  for (let n = 0; n < size; n++) group.time.after(group.time.between(0, 500), () => group.start());
  group.time.runUntil(20_000);
  expect(group.isComplete(), `seed ${seed}: ${group.workers().join()}`).to.equal(true);
  return group;
}

describe('ShardMachine in a simulation', function () {
  this.timeout(60_000 + schedules * 1_000);

  it('never gives a slot two owners, and gives every slot an owner again, whatever fails', () => {
    for (const seed of seeds) {
      // In some groups, work on a key takes longer than a process needs to join again.
      const group = startedGroup(seed, 2 + (seed % 4), seed % 2 === 0 ? 300 : 3_000);
      chaos(group, 30_000);
      group.time.runUntil(group.time.nowMs + 39_000);
      const tookMs = group.untilComplete(20_000);
      expect(group.doubles, `seed ${seed}`).to.deep.equal([]);
      expect(tookMs, `seed ${seed}: ${group.workers().join()}`).to.be.below(20_000);
    }
  });

  it('takes over from dead replicas, even the leader, within leaseDuration + 4 retry periods', () => {
    let longestMs = 0;
    for (const seed of seeds) {
      const group = startedGroup(seed, 4);
      group.time.runUntil(group.time.nowMs + group.time.between(0, 2_000));
      const [one, other] = [group.leader(), group.alive.at(-1)];
      one?.kill();
      if (seed % 2 === 0) other?.kill();
      const tookMs = group.untilComplete(20_000);
      expect(tookMs, `seed ${seed}`).to.be.at.most(promiseMs);
      expect(group.doubles, `seed ${seed}`).to.deep.equal([]);
      longestMs = Math.max(longestMs, tookMs);
    }
    expect(longestMs, 'no faster than the lease lasts').to.be.above(
      times.leaseDurationMs - times.retryPeriodMs,
    );
  });

  for (const type of ['expel', 'record'] as const) {
    for (const isStored of [false, true]) {
      const when = isStored ? 'before it receives the response' : 'before the server receives it';
      it(`takes over from a leader that crashes during its next write of type ${type}, ${when}`, () => {
        for (const seed of seeds.slice(0, Math.ceil(schedules / 3))) {
          const group = startedGroup(seed, 4);
          const leader = group.leader();
          const paused = group.alive.find((process) => process !== leader);
          if (leader === undefined || paused === undefined) throw new Error('no process leads');
          leader.doom = { type, isStored };
          // The slots of the paused process must move. It resumes when that may be half done.
          paused.pause();
          const { time } = group;
          time.after(time.between(times.leaseDurationMs, 8_000), () => paused.resume());
          const untilMs = time.nowMs + 10_000;
          while (leader.isAlive && time.nowMs < untilMs) time.runUntil(time.nowMs + 1);
          expect(leader.isAlive, `seed ${seed}`).to.equal(false);
          const diedMs = time.nowMs;
          group.untilComplete(20_000);
          time.runUntil(Math.max(time.nowMs, diedMs + 10_000));
          expect(group.isComplete(), `seed ${seed}: ${group.workers().join()}`).to.equal(true);
          expect(group.doubles, `seed ${seed}`).to.deep.equal([]);
        }
      });
    }
  }

  it('reassigns the slots of a dead replica in the documented time although the leader is paused', () => {
    for (const seed of seeds) {
      const group = startedGroup(seed, 4);
      const leader = group.leader();
      const victim = group.alive.find((process) => process !== leader);
      const name = victim?.machine.name ?? '';
      victim?.kill();
      const killedMs = group.time.nowMs;
      group.time.after(times.leaseDurationMs - group.time.between(0, 600), () => leader?.pause());
      group.time.runUntil(killedMs + promiseMs);
      // The paused leader, whose time is not over, may now hold some of the slots.
      const { holders = [] } = group.server.records.at(-1) ?? {};
      expect(holders.includes(name), `seed ${seed}`).to.equal(false);
    }
  });
});

describe('ShardMachine', () => {
  it('acquires its slots again after its lease was stale, although a late response makes the lease fresh', () => {
    const machine = new ShardMachine({ times, slotCount: 2, newName: () => 'me' });
    const lease = {
      ...{ name: 'me', uid: 'u', resourceVersion: '1', holder: 'me', createdMs: 1 },
      ...{ acknowledged: undefined, durationMs: 3_000 },
    };
    const record = {
      ...{ epoch: 1, holders: ['me', 'me'], targets: [undefined, undefined], awaited: new Map() },
      ...{ uid: 'r', resourceVersion: '1' },
    };
    const wrote = (startedMs: number, nowMs: number) => {
      const outcome = { type: 'stored', object: lease } as const;
      return machine.step({ type: 'wroteOwn', outcome, startedMs }, nowMs);
    };
    machine.step({ type: 'tick' }, 0);
    const nobody = { members: [], record: undefined };
    machine.step({ type: 'listed', view: nobody, startedMs: 0 }, 5);
    wrote(5, 10);
    machine.step({ type: 'listed', view: { members: [lease], record }, startedMs: 11 }, 20);
    wrote(20, 30);
    const sentMs = times.retryPeriodMs + 25;
    machine.step({ type: 'tick' }, sentMs);
    expect(machine.owns(0, sentMs)).to.equal(true);
    // The process is paused. When it resumes, its first event finds a stale lease.
    const lateMs = 30 + times.renewDeadlineMs;
    expect(machine.owns(0, lateMs)).to.equal(false);
    const released = wrote(sentMs, lateMs + 1).find((each) => each.type === 'release');
    expect(released).to.have.property('isAtOnce', true);
    const drain = released?.type === 'release' ? released.drain : 0;
    const commands = machine.step({ type: 'drained', drain }, lateMs + 2).map(({ type }) => type);
    expect(machine.owns(0, lateMs + 2)).to.equal(true);
    expect(commands).to.include('acquired');
  });

  it('lists the Leases a second time only after the response to the first list', () => {
    const machine = new ShardMachine({ times, slotCount: 2, newName: () => 'me' });
    const lists = (type: 'tick' | 'listFailed', nowMs: number): number =>
      machine.step({ type }, nowMs).filter((command) => command.type === 'list').length;
    const later = 10 * times.retryPeriodMs;
    expect([lists('tick', 0), lists('tick', 1), lists('tick', later)]).to.deep.equal([1, 0, 0]);
    expect(lists('listFailed', later + 1)).to.equal(1);
  });

  for (const answer of ['conflict', 'gone', 'stored'] as const) {
    it(`joins again after it was expelled although the response to an earlier renewal is: ${answer}`, () => {
      let names = 0;
      const newName = (): string => `me${names++}`;
      const machine = new ShardMachine({ times, slotCount: 2, newName });
      const lease = {
        ...{ name: 'me0', uid: 'u', resourceVersion: '1', holder: 'me', createdMs: 1 },
        ...{ acknowledged: undefined, durationMs: 3_000 },
      };
      const list = (members: readonly MemberLease[], nowMs: number) => {
        const view = { members, record: undefined };
        return machine.step({ type: 'listed', view, startedMs: nowMs }, nowMs);
      };
      const wrote = (outcome: WriteOutcome<MemberLease>, startedMs: number, nowMs: number) =>
        machine.step({ type: 'wroteOwn', outcome, startedMs }, nowMs);
      machine.step({ type: 'tick' }, 0);
      list([], 10);
      wrote({ type: 'stored', object: lease }, 10, 20);
      expect(machine.step({ type: 'tick' }, 410).map(({ type }) => type)).to.include('renew');
      // The list is answered before the renewal.
      list([{ ...lease, resourceVersion: '2', holder: '' }], 420);
      const outcome =
        answer === 'stored' ? ({ type: answer, object: lease } as const) : { type: answer };
      wrote(outcome, 410, 430);
      const joined: string[] = [];
      for (let nowMs = 440; nowMs < 2_000; nowMs += 10) {
        for (const command of machine.step({ type: 'tick' }, nowMs)) {
          if (command.type === 'list') list([], nowMs);
          if (command.type === 'join') joined.push(command.name);
        }
      }
      expect(joined).to.deep.equal(['me1']);
    });
  }
});

describe('ShardLeader', () => {
  const lease = (name: string, createdMs: number, version = '1'): MemberLease => ({
    ...{ name, uid: name, resourceVersion: version, holder: name, createdMs },
    ...{ acknowledged: { record: 'r', epoch: 1 }, durationMs: 1_000 },
  });
  const record = {
    ...{ epoch: 1, holders: ['a', 'b', 'c'], targets: [], awaited: new Map(), uid: 'r' },
    ...{ resourceVersion: '1' },
  } as unknown as StoredAssignment;

  /** Sets up a leader `a` that receives only its own renewals. */
  function setUp() {
    const observer = new MemberObserver(1_000);
    const leader = new ShardLeader({ observer, retryPeriodMs: 100, slotCount: 3 });
    const acknowledged = { record: 'r', epoch: 1 };
    const context = { self: 'a', isLeaving: false, acknowledged, nowMs: 1_000 };
    const see = (nowMs: number, version: string, cVersion = '1'): void => {
      const members = [lease('a', 1, version), lease('b', 2), lease('c', 3, cVersion)];
      observer.observe(members, [], nowMs);
      leader.see({ members, record });
    };
    return { leader, context, see };
  }

  it('reassigns the slots of an expelled replica at once, and does not move other slots', () => {
    const { leader, context, see } = setUp();
    see(0, '1', '1');
    see(1_000, '2', '2');
    expect(leader.step(context)).to.deep.equal([{ type: 'expel', lease: lease('b', 2) }]);
    leader.expelled({ type: 'stored', object: { ...lease('b', 2), holder: '' } });
    const held = leader.view.members.map(({ holder }) => holder);
    expect(held).to.deep.equal(['a', '', 'c']);
    expect(leader.step(context).map(({ type }) => type)).to.deep.equal(['record']);
  });

  it('wakes when the next lease expires, and not while it waits for responses or a new list', () => {
    const { leader, context, see } = setUp();
    const wakeAtMs = (): number => leader.wakeAtMs('a', 1_000);
    see(0, '1');
    expect(leader.wakeAtMs('a', 0)).to.equal(1_000);
    see(1_000, '2');
    expect(leader.step(context).map(({ type }) => type)).to.deep.equal(['expel', 'expel']);
    expect(wakeAtMs()).to.equal(Infinity);
    leader.expelled({ type: 'stored', object: { ...lease('b', 2), holder: '' } });
    expect(wakeAtMs(), 'a response is missing').to.equal(Infinity);
    leader.expelled({ type: 'stored', object: { ...lease('c', 3), holder: '' } });
    expect(wakeAtMs()).to.equal(1_000);
    expect(leader.step(context).map(({ type }) => type)).to.deep.equal(['record']);
    see(1_000, '2');
    expect(wakeAtMs(), 'the response to the record is missing').to.equal(Infinity);
    leader.recorded({ type: 'stored', object: record });
    expect(wakeAtMs()).to.equal(1_000);
    leader.step(context);
    leader.expelled({ type: 'failed' });
    leader.expelled({ type: 'failed' });
    expect(wakeAtMs(), 'the view was used').to.equal(Infinity);
  });
});
