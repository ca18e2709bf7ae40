import { expect } from 'chai';
import { delayAfter, spread } from '../../lib/system/random.js';

describe('delayAfter', () => {
  it('grows by its factor with each failure up to the maximum, for any number of failures', () => {
    const delays = (factor?: number): number[] =>
      [1, 2, 3, 33, 5_000].map((failures) =>
        delayAfter(failures, {
          baseMs: 100,
          maxMs: 1_000,
          ...(factor !== undefined && { factor }),
        }),
      );
    expect(delays()).to.deep.equal([100, 200, 400, 1_000, 1_000]);
    expect(delays(3)).to.deep.equal([100, 300, 900, 1_000, 1_000]);
  });
});

describe('spread', () => {
  it('multiplies a delay by a random factor within the given range', () => {
    const delays = [0, 0.5, 1].map((next) =>
      spread(1_000, { next: () => next, uuid: () => '' }, 0.5, 1.5),
    );
    expect(delays).to.deep.equal([500, 1_000, 1_500]);
  });
});
