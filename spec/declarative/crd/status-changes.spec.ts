import { expect } from 'chai';
import type { OperatorStatus } from '../../../lib/declarative/crd/index.js';
import { continued } from '../../../lib/declarative/crd/status-changes.js';

type Status = 'True' | 'False' | 'Unknown';

/** A status whose conditions are all alike. */
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

describe('A status of an operator that says the same as the live one', () => {
  const cases: readonly [string, OperatorStatus, OperatorStatus][] = [
    [
      'where only its process is another one',
      statusOf(['True', 'Ready', 2]),
      statusOf(['True', 'Ready', 1]),
    ],
    [
      'while its controllers begin again',
      statusOf(['Unknown', 'Starting', 2]),
      statusOf(['True', 'Ready', 1]),
    ],
    [
      'where its errors come in another order',
      statusOf(['Unknown', 'ReconciliationFailed', 2], ['b', 'a']),
      statusOf(['Unknown', 'ReconciliationFailed', 1], ['a', 'b']),
    ],
    [
      'where a new process has met no errors yet',
      statusOf(['True', 'Ready', 2]),
      statusOf(['True', 'Ready', 1], ['a']),
    ],
  ];
  for (const [when, next, live] of cases) {
    it(`is the live one ${when}`, () => {
      expect(continued(next, live)).to.deep.equal(live);
    });
  }

  it('is another one where a condition flips, an error is new, or the generation is', () => {
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
