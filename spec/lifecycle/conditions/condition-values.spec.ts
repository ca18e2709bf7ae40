import { expect } from 'chai';
import { conditionsChanged } from '../../../lib/lifecycle/index.js';
import { conditionValues } from '../../../lib/lifecycle/conditions.js';
import type { LifecycleCondition } from '../../../lib/lifecycle/lifecycle-status.js';

describe('conditionsChanged', () => {
  const one: LifecycleCondition = { type: 'Available', status: 'True', reason: 'A' };
  const other: LifecycleCondition = { type: 'Degraded', status: 'False' };
  const changed = (before: LifecycleCondition[], after: LifecycleCondition[]): boolean =>
    conditionsChanged(conditionValues(before), conditionValues(after));

  it('is true for flips, additions, removals and replacements', () => {
    expect(changed([one], [{ ...one, status: 'False' }])).to.equal(true);
    expect(changed([one], [one, other])).to.equal(true);
    expect(changed([one, other], [one])).to.equal(true);
    expect(changed([one], [other])).to.equal(true);
  });

  it('ignores reasons, messages, times and order', () => {
    const touched = { ...one, reason: 'B', message: 'b', lastHeartbeatTime: 'x' };
    expect(changed([one, other], [other, touched])).to.equal(false);
    expect(conditionsChanged(conditionValues(undefined), conditionValues([]))).to.equal(false);
  });
});
