import { expect } from 'chai';
import { ReconnectDelay } from '../../lib/cache/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

describe('ReconnectDelay', () => {
  /** Returns the delays of a client for the least and the highest random number. */
  function range(delayOf: (delay: ReconnectDelay) => number): readonly number[] {
    return [0, 1].map((next) =>
      delayOf(new ReconnectDelay(new VirtualClock(), { ...systemRandom, next: () => next })),
    );
  }

  /** Returns the delays of eight failures in a row, without their random part. */
  function delays(next: (delay: ReconnectDelay) => number): number[] {
    const delay = new ReconnectDelay(new VirtualClock(), { ...systemRandom, next: () => 0 });
    return Array.from({ length: 8 }, () => next(delay));
  }

  it('extends each delay at random by up to 100 %', () => {
    expect(range((delay) => delay.next())).to.deep.equal([800, 1_600]);
    expect(range((delay) => delay.nextLook())).to.deep.equal([800, 1_600]);
    expect(range((delay) => delay.longest())).to.deep.equal([30_000, 60_000]);
    expect(range((delay) => delay.afterHealth())).to.deep.equal([800, 1_600]);
  });

  it('doubles with each failure up to 30 s, or up to 5 s for a kind that is not served', () => {
    const growing = [800, 1_600, 3_200];
    expect(delays((delay) => delay.next())).to.deep.equal([
      ...[...growing, 6_400, 12_800, 25_600, 30_000, 30_000],
    ]);
    expect(delays((delay) => delay.nextLook())).to.deep.equal([
      ...[...growing, 5_000, 5_000, 5_000, 5_000, 5_000],
    ]);
  });

  it('does not grow when a working watch is lost again and again', () => {
    expect(delays((delay) => delay.afterHealth())).to.deep.equal(Array(8).fill(800));
  });

  it('returns to the first delay after two minutes without a failure, counted from the end of the last delay', async () => {
    const clock = new VirtualClock();
    const delay = new ReconnectDelay(clock, { ...systemRandom, next: () => 0 });
    const after = async (ms: number): Promise<number> => {
      await clock.advance(ms);
      return delay.next();
    };
    expect([await after(0), await after(120_799), await after(121_600)]).to.deep.equal([
      ...[800, 1_600, 800],
    ]);
  });
});
