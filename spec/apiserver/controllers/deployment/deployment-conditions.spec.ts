import { expect } from 'chai';
import {
  renewedCondition,
  withCondition,
} from '../../../../lib/apiserver/controllers/deployment-status.js';
import type { ConditionStatement } from '../../../../lib/apiserver/controllers/deployment-status.js';

const before = {
  type: 'Progressing',
  status: 'True',
  reason: 'NewReplicaSetCreated',
  message: 'first',
  lastUpdateTime: '2026-01-01T00:00:00Z',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const later = Date.UTC(2026, 0, 1, 1);
const laterText = '2026-01-01T01:00:00Z';

function say(more: Partial<ConditionStatement>): ConditionStatement {
  const same = { type: 'Progressing', status: 'True', reason: before.reason } as const;
  return { ...same, message: 'second', ...more };
}

describe('withCondition', () => {
  it('returns the condition unchanged for the same status and reason', () => {
    expect(withCondition([before], say({}), later)).to.deep.equal([before]);
  });

  it('keeps the transition time for the same status', () => {
    const [condition] = withCondition([before], say({ reason: 'ReplicaSetUpdated' }), later);
    expect(condition).to.include({
      reason: 'ReplicaSetUpdated',
      lastUpdateTime: laterText,
      lastTransitionTime: before.lastTransitionTime,
    });
  });

  it('sets lastUpdateTime and lastTransitionTime when the status changes', () => {
    const [condition] = withCondition([before], say({ status: 'False' }), later);
    expect(condition).to.include({ lastUpdateTime: laterText, lastTransitionTime: laterText });
  });
});

describe('renewedCondition', () => {
  it('updates the time of a condition even without other changes', () => {
    const [condition] = renewedCondition([before], say({}), later);
    expect(condition).to.include({
      lastUpdateTime: laterText,
      lastTransitionTime: before.lastTransitionTime,
    });
  });
});
