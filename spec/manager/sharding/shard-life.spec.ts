import { expect } from 'chai';
import type { StoredAssignment } from '../../../lib/manager/sharding/assignment.js';
import type {
  MemberLease,
  ShardCommand,
  ShardEvent,
} from '../../../lib/manager/sharding/member-lease.js';
import { ShardMachine } from '../../../lib/manager/sharding/shard-machine.js';

const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };

const lease = (name: string, version: number, more: Partial<MemberLease> = {}): MemberLease => ({
  ...{ name, uid: `uid-${name}`, resourceVersion: `${version}`, holder: name, createdMs: 1 },
  ...{ acknowledged: undefined, durationMs: 3_000, ...more },
});
/** Returns a record of two slots by holder: `m1`, or `-` for none. */
const record = (epoch: number, ...slots: readonly string[]): StoredAssignment => ({
  ...{ epoch, holders: slots.map((name) => (name === '-' ? undefined : name)), uid: 'r' },
  ...{ targets: slots.map(() => undefined), awaited: new Map(), resourceVersion: `${epoch}` },
});

/** A machine of two slots whose Leases are called `m1`, `m2` and so on. */
class Life {
  readonly machine: ShardMachine;
  #names = 0;

  constructor() {
    const newName = (): string => `m${++this.#names}`;
    this.machine = new ShardMachine({ times, slotCount: 2, newName });
  }

  /** Takes a step, and returns its commands in brief and the time of the next one. */
  step(nowMs: number, event: ShardEvent | 'tick' | 'stop' | 'listFailed'): readonly unknown[] {
    const given = typeof event === 'string' ? { type: event } : event;
    const commands = this.machine.step(given, nowMs).map(briefOf);
    return [...commands, this.machine.wakeAtMs(nowMs)];
  }

  listed(
    [startedMs, nowMs]: readonly [number, number],
    members: readonly MemberLease[],
    seen?: StoredAssignment,
  ): readonly unknown[] {
    return this.step(nowMs, { type: 'listed', view: { members, record: seen }, startedMs });
  }

  wrote(
    [startedMs, nowMs]: readonly [number, number],
    written: MemberLease | 'gone' | 'conflict' | 'failed',
  ): readonly unknown[] {
    const outcome =
      typeof written === 'string'
        ? { type: written }
        : ({ type: 'stored', object: written } as const);
    return this.step(nowMs, { type: 'wroteOwn', outcome, startedMs });
  }

  recorded(nowMs: number, object: StoredAssignment): readonly unknown[] {
    return this.step(nowMs, { type: 'recorded', outcome: { type: 'stored', object } });
  }

  drained(nowMs: number, drain: number): readonly unknown[] {
    return this.step(nowMs, { type: 'drained', drain });
  }
}

function briefOf(command: ShardCommand): string {
  switch (command.type) {
    case 'join':
      return `join ${command.name}`;
    case 'renew': {
      const { lease: own, acknowledged } = command;
      return `renew ${own.name} ${own.resourceVersion} ack ${acknowledged?.epoch ?? 'none'}`;
    }
    case 'resign':
    case 'expel':
    case 'remove':
      return `${command.type} ${command.lease.name} ${command.lease.resourceVersion}`;
    case 'record':
      return `record ${command.assignment.epoch} over ${command.over?.epoch ?? 'nothing'}`;
    case 'release':
      return `release ${command.drain}${command.isAtOnce ? ' at once' : ''}`;
    case 'acquired':
      return `acquired ${command.slots.join()}`;
    case 'list':
    case 'ended':
      return command.type;
  }
}

/** Returns a member that owns both slots since 420 ms. Its first renewal, sent at 410 ms, has no response yet. */
function member(): Life {
  const life = new Life();
  life.step(0, 'tick');
  life.listed([0, 10], []);
  life.wrote([10, 20], lease('m1', 1));
  life.step(400, 'tick');
  life.listed([400, 410], [lease('m1', 1)]);
  life.recorded(420, record(1, 'm1', 'm1'));
  return life;
}

describe('The commands of a ShardMachine from its start to its end', () => {
  const never = Infinity;

  it('begin with a list, a Lease for the replica, and the record of the first assignment', () => {
    const life = new Life();
    const { machine } = life;
    expect(machine.wakeAtMs(0)).to.equal(-Infinity);
    expect([
      life.step(0, 'tick'),
      life.listed([0, 10], []),
      life.wrote([10, 20], lease('m1', 1)),
      life.step(399, 'tick'),
      life.step(400, 'tick'),
      life.listed([400, 410], [lease('m1', 1)]),
      life.recorded(420, record(1, 'm1', 'm1')),
      life.wrote([410, 430], lease('m1', 2)),
      life.wrote([430, 440], lease('m1', 3)),
    ]).to.deep.equal([
      ['list', never],
      ['join m1', 400],
      [400],
      [400],
      ['list', 410],
      ['renew m1 1 ack none', 'record 1 over nothing', 800],
      ['acquired 0,1', 800],
      // The acknowledgement is sent at once, because it has changed.
      ['renew m1 2 ack 1', 800],
      [800],
    ]);
    expect([machine.phase, machine.term, machine.owned]).to.deep.equal(['member', 1, [0, 1]]);
    expect([machine.leader(440), machine.view.record?.epoch]).to.deep.equal(['m1', 1]);
  });

  it('release its slots at once when its lease becomes stale, and acquire them again', () => {
    const life = member();
    expect([
      life.step(2_009, 'tick'),
      life.step(2_010, 'tick'),
      life.step(2_410, 'tick'),
      life.step(2_420, 'listFailed'),
      life.listed([2_420, 2_430], [lease('m1', 1)], record(1, 'm1', 'm1')),
      life.wrote([2_430, 2_440], lease('m1', 2)),
      life.drained(2_450, 1),
    ]).to.deep.equal([
      ['list', 2_010],
      ['release 1 at once', never],
      [never],
      ['list', never],
      [2_820],
      ['renew m1 2 ack 1', 2_820],
      ['acquired 0,1', 2_820],
    ]);
    expect(life.machine.term).to.equal(1);
  });

  it('list the Leases after a conflict before they renew again, and retry a failed renewal later', () => {
    const life = member();
    expect([
      life.wrote([420, 430], 'conflict'),
      // This list began before the conflict, so it may be older.
      life.listed([429, 440], [lease('m1', 6)], record(1, 'm1', 'm1')),
      life.step(500, 'tick'),
      life.listed([500, 510], [lease('m1', 7)], record(1, 'm1', 'm1')),
      life.wrote([510, 520], 'failed'),
      life.step(919, 'tick'),
      life.step(920, 'tick'),
    ]).to.deep.equal([
      [500],
      [500],
      ['list', 2_010],
      ['renew m1 7 ack 1', 900],
      [900],
      ['list', 920],
      ['renew m1 7 ack 1', 2_010],
    ]);
  });

  it('join under another name after its Lease was taken', () => {
    const life = member();
    const { machine } = life;
    expect(machine.holds(0, 1, 425)).to.equal(true);
    expect(life.wrote([420, 430], 'gone')).to.deep.equal(['release 1 at once', 800]);
    expect([machine.phase, machine.term, machine.name]).to.deep.equal(['joining', 2, 'm2']);
    expect(machine.holds(0, 1, 430)).to.equal(false);
    expect([
      life.drained(440, 1),
      life.step(829, 'tick'),
      life.step(830, 'tick'),
      life.listed([829, 835], [], record(1, 'm1', 'm1')),
      life.wrote([830, 840], lease('m2', 1)),
    ]).to.deep.equal([
      [800],
      ['list', 830],
      ['join m2', never],
      [1_229],
      ['renew m2 1 ack 1', 1_229],
    ]);
    expect([machine.phase, machine.owned, machine.isFresh(2_829)]).to.deep.equal([
      ...['member', [], true],
    ]);
    expect(machine.isFresh(2_830)).to.equal(false);
  });

  it('find the Lease whose creation had no response, and renew it before it owns a slot', () => {
    const life = new Life();
    life.step(0, 'tick');
    life.listed([0, 10], []);
    expect([
      life.wrote([10, 20], 'failed'),
      life.step(400, 'tick'),
      life.listed([400, 410], [lease('m1', 1)], record(1, 'm1', 'm1')),
      life.wrote([410, 415], lease('m1', 2)),
    ]).to.deep.equal([[400], ['list', 420], ['renew m1 1 ack 1', 800], ['acquired 0,1', 800]]);
  });

  it('release its slots when it stops, and its Lease only afterwards', () => {
    const life = member();
    life.wrote([410, 430], lease('m1', 2));
    life.wrote([430, 435], lease('m1', 3));
    expect([
      life.step(440, 'stop'),
      life.wrote([440, 450], lease('m1', 4)),
      life.drained(460, 1),
      life.step(800, 'tick'),
      life.listed([800, 810], [lease('m1', 4)], record(1, 'm1', 'm1')),
      life.step(840, 'tick'),
      life.wrote([840, 850], lease('m1', 5, { holder: '' })),
      life.step(860, 'tick'),
    ]).to.deep.equal([
      ['release 1', 'renew m1 3 ack 1', 800],
      [800],
      [800],
      ['list', 840],
      [840],
      ['resign m1 4', 1_200],
      ['ended', never],
      [never],
    ]);
    expect(life.machine.phase).to.equal('left');
  });

  it('end at once when it stops before it has joined', () => {
    const life = new Life();
    expect(life.step(0, 'stop')).to.deep.equal(['list', 'ended', never]);
    expect(life.machine.phase).to.equal('left');
  });

  it('expel a member that no longer renews its Lease, and list again soon after a conflict', () => {
    const life = member();
    life.wrote([410, 430], lease('m1', 2));
    life.wrote([430, 440], lease('m1', 3));
    const other = lease('m0', 1, { createdMs: 2 });
    const both = record(2, 'm1', 'm0');
    for (let nowMs = 800; nowMs < 4_000; nowMs += 400) {
      life.step(nowMs, 'tick');
      life.listed([nowMs, nowMs + 1], [lease('m1', nowMs), other], both);
      life.wrote([nowMs + 1, nowMs + 2], lease('m1', nowMs + 1));
      life.wrote([nowMs + 2, nowMs + 3], lease('m1', nowMs + 2));
    }
    const expelled = (nowMs: number, outcome: 'conflict' | MemberLease): readonly unknown[] =>
      life.step(nowMs, {
        type: 'expelled',
        outcome: outcome === 'conflict' ? { type: outcome } : { type: 'stored', object: outcome },
      });
    expect([
      life.step(3_801, 'tick'),
      expelled(3_810, 'conflict'),
      life.step(3_900, 'tick'),
      life.listed([3_900, 3_905], [lease('m1', 9), other], both),
      expelled(3_910, lease('m0', 2, { holder: '', createdMs: 2 })),
      life.step(3_915, { type: 'recorded', outcome: { type: 'conflict' } }),
      life.recorded(3_920, record(3, 'm1', 'm1')),
      life.listed(
        [3_930, 3_935],
        [lease('m1', 9), lease('m0', 2, { holder: '' })],
        record(3, 'm1', 'm1'),
      ),
    ]).to.deep.equal([
      ['expel m0 1', 4_000],
      ['list', 4_001],
      [4_001],
      ['expel m0 1', 4_001],
      ['record 3 over 2', 4_001],
      [4_000],
      [4_000],
      ['remove m0 2', 4_000],
    ]);
  });
});
