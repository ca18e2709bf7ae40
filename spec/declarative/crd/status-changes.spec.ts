import { expect } from 'chai';
import type { OperatorStatus } from '../../../lib/declarative/crd/index.js';
import {
  continued,
  formerControllers,
  isStarting,
  StatusPace,
  unrecorded,
  withRecords,
  writtenTarget,
} from '../../../lib/declarative/crd/status-record.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

type Status = 'True' | 'False' | 'Unknown';

/** A status whose conditions are all the same. */
function statusOf(
  [status, reason, hour]: [Status, string, number],
  lastErrors: string[] = [],
  generation = 1,
): OperatorStatus {
  const lastTransitionTime = `2026-01-01T0${hour}:00:00Z`;
  const told = { type: 'Ready', message: '', lastTransitionTime, observedGeneration: generation };
  const conditions = [{ ...told, status, reason }];
  return {
    observedGeneration: generation,
    conditions,
    controllers: [{ name: 'prices', conditions, lastErrors }],
  };
}

describe('The function continued, which decides whether a new status is written', () => {
  const cases: readonly [string, OperatorStatus, OperatorStatus][] = [
    ['written by another process', statusOf(['True', 'Ready', 2]), statusOf(['True', 'Ready', 1])],
    [
      'while its controllers restart',
      statusOf(['Unknown', 'Starting', 2]),
      statusOf(['True', 'Ready', 1]),
    ],
    [
      'with the same errors in another order',
      statusOf(['Unknown', 'ReconciliationFailed', 2], ['b', 'a']),
      statusOf(['Unknown', 'ReconciliationFailed', 1], ['a', 'b']),
    ],
    [
      'of a new process without errors yet',
      statusOf(['True', 'Ready', 2]),
      statusOf(['True', 'Ready', 1], ['a']),
    ],
  ];
  for (const [when, next, live] of cases) {
    it(`returns the live status instead of an equivalent new status ${when}`, () => {
      expect(continued(next, live)).to.deep.equal(live);
    });
  }

  it('returns the new status after a changed condition, error or generation', () => {
    const live = statusOf(['True', 'Ready', 1], ['a']);
    for (const next of [
      statusOf(['Unknown', 'ReconciliationFailed', 2], ['a']),
      statusOf(['True', 'Ready', 1], ['a', 'b']),
      statusOf(['Unknown', 'Starting', 2], [], 2),
      statusOf(['True', 'Ready', 1], [], 2),
    ]) {
      expect(continued(next, live)).to.deep.equal(next);
    }
    expect(continued(live, undefined)).to.equal(live);
  });
});

describe('The records of targets in the status of an Operator object', () => {
  const price = { kind: 'Price', type: 'Updater' } as const;
  const config = { apiGroup: '', version: 'v1', kind: 'ConfigMap', type: 'Patcher' } as const;
  const conditions: NonNullable<OperatorStatus['conditions']> = [];
  const recorded: OperatorStatus = {
    controllers: [
      { name: 'prices', conditions, target: price },
      { name: 'unable', conditions },
      { name: 'configs', conditions, target: config },
      { name: 'strange', conditions, target: { ...price, type: 'Other' } },
      { name: 'typeless', conditions, target: { kind: 'Price' } },
    ],
  };

  it('name the controllers whose objects have to be deleted', () => {
    expect(formerControllers(undefined)).to.deep.equal([]);
    expect(formerControllers(recorded)).to.deep.equal([
      { name: 'prices', target: price },
      { name: 'configs', target: config },
      { name: 'strange', target: price },
      { name: 'typeless', target: price },
    ]);
  });

  it('are written without undefined members', () => {
    const absent = { apiGroup: undefined, version: undefined };
    expect(writtenTarget({ ...absent, ...price })).to.deep.equal(price);
    expect(writtenTarget(config)).to.deep.equal(config);
  });

  it('are missing for a controller with another name, or with another kind, group or type of target', () => {
    const needed = [
      { name: 'prices', target: price },
      { name: 'configs', target: { ...config, version: 'v2' } },
      { name: 'more', target: price },
      { name: 'prices', target: { ...price, kind: 'Cost' } },
      { name: 'configs', target: { ...config, apiGroup: 'apps' } },
      { name: 'configs', target: { ...config, type: 'Updater' } as const },
    ];
    expect(unrecorded(recorded, needed)).to.deep.equal(needed.slice(2));
    expect(unrecorded(undefined, needed)).to.deep.equal(needed);
  });

  it('are kept for controllers that cannot run, and with keepsFormer also for former targets', () => {
    const next = [
      { name: 'prices', conditions },
      { name: 'configs', conditions, target: price },
      { name: 'new', conditions },
    ];
    const entries = [{ name: 'prices', conditions, target: price }, next[1], next[2]];
    const before: OperatorStatus = { controllers: recorded.controllers.slice(0, 3) };
    expect(withRecords(next, { before, keepsFormer: false })).to.deep.equal(entries);
    expect(withRecords(next, { before, keepsFormer: true })).to.deep.equal([
      ...entries,
      { name: 'configs', target: config },
    ]);
    expect(withRecords(next, { before: undefined, keepsFormer: true })).to.deep.equal(next);
  });
});

describe('The status of an Operator object', () => {
  it('counts as starting only with the reason Starting in its Ready condition', () => {
    expect(isStarting(statusOf(['Unknown', 'Starting', 1]))).to.equal(true);
    expect(isStarting(statusOf(['Unknown', 'Waiting', 1]))).to.equal(false);
    expect(isStarting({ controllers: [] })).to.equal(false);
  });

  it('is written at least a second after the previous status, and, if it is likely to change soon, at least a second after it is first due', async () => {
    const clock = new VirtualClock();
    const pace = new StatusPace(clock);
    const waits = (): number[] => [pace.waitMs('a'), pace.calmMs('a'), pace.waitMs('b')];
    expect(waits()).to.deep.equal([0, 1_000, 0]);
    await clock.advance(400);
    expect(waits()).to.deep.equal([0, 600, 0]);
    await clock.advance(700);
    expect(waits()).to.deep.equal([0, 0, 0]);
    pace.written('a');
    expect(waits()).to.deep.equal([1_000, 1_000, 0]);
    await clock.advance(999);
    expect(waits()).to.deep.equal([1, 1, 0]);
    pace.written('a');
    await clock.advance(500);
    expect(waits()).to.deep.equal([500, 1_000, 0]);
    await clock.advance(100);
    expect(waits()).to.deep.equal([400, 900, 0]);
    pace.forget('a');
    expect(waits()).to.deep.equal([0, 1_000, 0]);
  });
});
