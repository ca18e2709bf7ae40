import { expect } from 'chai';
import type { OperatorStatus } from '../../../lib/declarative/crd/index.js';
import { continued } from '../../../lib/declarative/crd/status-record.js';

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

describe('continued', () => {
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
    it(`keeps the live status for an equal one ${when}`, () => {
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
