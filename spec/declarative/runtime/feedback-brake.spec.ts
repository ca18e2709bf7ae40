import { expect } from 'chai';
import {
  FeedbackBrake,
  defaultGrowthLimit,
} from '../../../lib/declarative/runtime/feedback-brake.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const depth = 3;

function newBrake(): FeedbackBrake {
  return new FeedbackBrake(new VirtualClock(), defaultGrowthLimit, () => undefined);
}

describe('FeedbackBrake', () => {
  it('allows growth by 10,000 objects, and one more per deleted object', () => {
    const brake = newBrake();
    for (let n = 0; n < 10_000; n++) brake.wrote({ object: `o${n}`, depth }, 10);
    expect(brake.refuses({ object: 'another', depth }, 10)).to.equal(true);
    expect(brake.refuses({ object: 'o1', depth }, 10)).to.equal(false);
    expect(brake.refuses({ object: 'another', depth: 2 }, 10)).to.equal(false);
    brake.wrote({ object: 'o1', depth: 0 }, 0);
    expect(brake.refuses({ object: 'another', depth }, 10)).to.equal(false);
  });

  it('allows growth by 64 MiB, counting the current size of each object', () => {
    const brake = newBrake();
    const most = 64 * 1024 ** 2;
    brake.wrote({ object: 'a', depth }, most - 10);
    expect(brake.refuses({ object: 'b', depth }, 11)).to.equal(true);
    expect(brake.refuses({ object: 'b', depth }, 10)).to.equal(false);
    expect(brake.refuses({ object: 'a', depth }, most)).to.equal(false);
    expect(brake.refuses({ object: 'a', depth }, most + 1)).to.equal(true);
    brake.wrote({ object: 'a', depth }, 10);
    expect(brake.refuses({ object: 'b', depth }, most - 10)).to.equal(false);
  });
});
