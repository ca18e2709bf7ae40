import { expect } from 'chai';
import { conditionsChanged } from '../../../lib/lifecycle/index.js';
import type { LifecycleCondition } from '../../../lib/lifecycle/lifecycle-status.js';

describe('conditionsChanged', () => {
  const one: LifecycleCondition = { type: 'Available', status: 'True', reason: 'A' };
  const other: LifecycleCondition = { type: 'Degraded', status: 'False' };

  it('is true if a status changed, or a condition was added, removed or replaced', () => {
    expect(conditionsChanged([one], [{ ...one, status: 'False' }])).to.equal(true);
    expect(conditionsChanged([one], [one, other])).to.equal(true);
    expect(conditionsChanged([one, other], [one])).to.equal(true);
    expect(conditionsChanged([one], [other])).to.equal(true);
  });

  it('ignores reasons, messages, times and order', () => {
    const touched = { ...one, reason: 'B', message: 'b', lastHeartbeatTime: 'x' };
    expect(conditionsChanged([one, other], [other, touched])).to.equal(false);
    expect(conditionsChanged(undefined, [])).to.equal(false);
  });
});
