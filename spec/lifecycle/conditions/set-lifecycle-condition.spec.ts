import { expect } from 'chai';
import { setLifecycleCondition } from '../../../lib/lifecycle/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

describe('setLifecycleCondition', () => {
  const clock = (): VirtualClock => new VirtualClock(Date.UTC(2030, 0, 1));
  const first = '2030-01-01T00:00:00Z';
  const later = '2030-01-01T00:00:05Z';

  it('appends a new condition with lastHeartbeatTime and lastTransitionTime', () => {
    const [available] = setLifecycleCondition([], { type: 'Available', status: 'True' }, clock());
    expect(available).to.deep.equal({
      ...{ type: 'Available', status: 'True' },
      ...{ lastHeartbeatTime: first, lastTransitionTime: first },
    });
  });

  it('keeps the order of the conditions, and updates reason, message and lastHeartbeatTime even if the status is equal', async () => {
    const time = clock();
    const before = ['Available', 'Degraded', 'Custom'].reduce<
      ReturnType<typeof setLifecycleCondition>
    >(
      (list, type) => setLifecycleCondition(list, { type, status: 'True', reason: 'Old' }, time),
      [],
    );
    await time.advance(5_000);
    const update = { type: 'Degraded', status: 'True', message: 'new' } as const;
    const after = setLifecycleCondition(before, update, time);
    expect(after.map(({ type }) => type)).to.deep.equal(['Available', 'Degraded', 'Custom']);
    expect(after[1]).to.deep.equal({
      ...update,
      ...{ lastHeartbeatTime: later, lastTransitionTime: first },
    });
    expect(after[0]).to.equal(before[0]);
  });

  it('updates the transition time when the status changes', async () => {
    const time = clock();
    const before = setLifecycleCondition([], { type: 'Available', status: 'True' }, time);
    await time.advance(5_000);
    const [after] = setLifecycleCondition(before, { type: 'Available', status: 'Unknown' }, time);
    expect(after?.lastTransitionTime).to.equal(later);
  });
});
