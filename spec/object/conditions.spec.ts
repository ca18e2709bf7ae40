import { expect } from 'chai';
import {
  conditionReason,
  findCondition,
  isConditionTrue,
  setCondition,
} from '../../lib/object/conditions.js';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

const ready = deepFreeze({
  type: 'Ready',
  status: 'False' as const,
  lastTransitionTime: '2025-01-01T00:00:00Z',
  reason: 'Starting',
  message: '',
});
const other = deepFreeze({ ...ready, type: 'Other' });

describe('setCondition', () => {
  it('treats an undefined generation or message as absent', () => {
    const { generation } = {} as { generation?: number };
    const update = { type: 'Ready', status: 'True', reason: 'Up', message: undefined } as const;
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    expect(setCondition([], { ...update, observedGeneration: generation }, clock)).to.deep.equal([
      { ...update, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ]);
  });

  it('appends a new condition with the time of the clock', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    await clock.advance(1_999);
    const update = { type: 'Ready', status: 'True', reason: 'Up', observedGeneration: 3 } as const;
    expect(setCondition([other], update, clock)).to.deep.equal([
      other,
      { ...update, message: '', lastTransitionTime: '2026-01-01T00:00:01Z' },
    ]);
  });

  it('keeps the position of the condition, and the transition time while the status is unchanged', () => {
    const update = { type: 'Ready', status: 'False', reason: 'Crash', message: 'exit 1' } as const;
    expect(setCondition([ready, other], update, new VirtualClock())).to.deep.equal([
      { ...ready, reason: 'Crash', message: 'exit 1' },
      other,
    ]);
  });

  it('updates the transition time when the status changes', () => {
    const update = { ...ready, status: 'Unknown' } as const;
    const [condition] = setCondition([ready], update, new VirtualClock());
    expect(condition?.lastTransitionTime).to.equal('2026-01-01T00:00:00Z');
  });

  it('cuts a message to the 32,768 characters that the API server accepts', () => {
    const update = { ...ready, message: 'a'.repeat(32_769) };
    const [condition] = setCondition([ready], update, new VirtualClock());
    expect(condition?.message).to.have.lengthOf(32_768);
  });

  it('returns the same array when nothing changes', () => {
    const before = [ready, other];
    expect(setCondition(before, ready, new VirtualClock())).to.equal(before);
  });
});

describe('isConditionTrue', () => {
  it('is true only for a condition of the type with status True', () => {
    expect(isConditionTrue([{ type: 'Ready', status: 'True' }], 'Ready')).to.equal(true);
    expect(isConditionTrue([ready], 'Ready')).to.equal(false);
    expect(isConditionTrue([ready], 'Other')).to.equal(false);
    expect(isConditionTrue(undefined, 'Ready')).to.equal(false);
    expect(findCondition([ready, other], 'Other')).to.equal(other);
  });
});

describe('conditionReason', () => {
  const long = 'a'.repeat(1_024);
  for (const [text, reason] of [
    ['NoSpace', 'NoSpace'],
    ['no space left', 'noSpaceLeft'],
    ['a_b,c:d', 'a_b,c:d'],
    ['ends with colon:', 'endsWithColon'],
    ['404 not found', 'Reason404NotFound'],
    ['', 'Reason'],
    [long, long],
    [`${long}b`, long],
    [`${'a'.repeat(1_023)}:b`, 'a'.repeat(1_023)],
  ] as const) {
    it(`turns ${JSON.stringify(text.slice(-20))} into ${reason.slice(-20)}`, () => {
      expect(conditionReason(text)).to.equal(reason);
    });
  }
});
