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

describe('FeedbackBrake, which slows controllers that react to their own writes', () => {
  const long = { object: 'a', depth: 51 };

  it('slows writes that result from more than 50 earlier writes from the 21st in a minute on, each time twice as long', async () => {
    const clock = new VirtualClock();
    let changes = 0;
    const brake = new FeedbackBrake(clock, defaultGrowthLimit, () => changes++);
    for (let n = 0; n < 30; n++) expect(brake.take({ object: 'a', depth: 50 })).to.equal(0);
    for (let n = 0; n < 20; n++) {
      expect(brake.take(long)).to.equal(0);
      await clock.advance(3_000);
    }
    expect(brake.braked).to.equal(undefined);
    // The 21st write comes 60 s after the first.
    expect(brake.take(long)).to.equal(0);
    expect(brake.braked).to.deep.equal({ object: 'a', delayMs: 1_000, writesPerMinute: 20 });
    const delays: number[] = [];
    for (let n = 0; n < 8; n++) {
      const delayMs = brake.take({ ...long, object: 'b' });
      delays.push(delayMs);
      await clock.advance(delayMs - 1);
      expect(brake.take(long)).to.equal(1);
      await clock.advance(1);
      expect(brake.take({ ...long, object: 'b' })).to.equal(0);
    }
    expect(delays).to.deep.equal([...[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]]);
    expect(brake.take({ object: 'a', depth: 50 })).to.equal(0);
    expect(brake.braked).to.deep.include({ object: 'a', delayMs: 60_000 });
    expect(changes).to.equal(1);
    await clock.advance(119_999);
    expect(changes).to.equal(1);
    await clock.advance(1);
    expect([changes, brake.braked, brake.take(long)]).to.deep.equal([2, undefined, 0]);
  });

  it('does not slow such writes if 21 of them take more than a minute, or after a stop', async () => {
    const clock = new VirtualClock();
    const brake = new FeedbackBrake(clock, defaultGrowthLimit, () => undefined);
    for (let n = 0; n < 50; n++) {
      expect(brake.take(long)).to.equal(0);
      await clock.advance(3_001);
    }
    expect(brake.braked).to.equal(undefined);
    for (let n = 0; n < 21; n++) brake.take(long);
    expect(brake.take(long)).to.equal(1_000);
    brake.stop();
    expect([brake.braked, brake.take(long)]).to.deep.equal([undefined, 0]);
    // A new loop begins with the shortest delay again.
    for (let n = 0; n < 20; n++) brake.take(long);
    expect(brake.take(long)).to.equal(1_000);
  });

  it('allows 10,000 additional objects, and one more for each deleted object', () => {
    const brake = newBrake();
    for (let n = 0; n < 10_000; n++) brake.wrote({ object: `o${n}`, depth }, 10);
    expect(brake.refuses({ object: 'another', depth }, 10)).to.equal(true);
    expect(brake.refuses({ object: 'o1', depth }, 10)).to.equal(false);
    expect(brake.refuses({ object: 'another', depth: 2 }, 10)).to.equal(false);
    brake.wrote({ object: 'o1', depth: 0 }, 0);
    expect(brake.refuses({ object: 'another', depth }, 10)).to.equal(false);
  });

  it('allows additional objects of 64 MiB, for which it adds up the current sizes', () => {
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
