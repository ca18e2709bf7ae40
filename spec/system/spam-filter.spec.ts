import { expect } from 'chai';
import { SpamFilter } from '../../lib/system/index.js';

describe('SpamFilter', () => {
  it('allows a burst of events, then one event in each refill period, and saves at most one burst', () => {
    const filter = new SpamFilter({ burst: 2, refillMs: 100, capacity: 10 });
    const allowed = [0, 0, 0, 99, 100, 100, 10_000, 10_000, 10_000].map((ms) =>
      filter.allow('a', ms),
    );
    expect(allowed).to.deep.equal([true, true, false, false, true, false, true, true, false]);
  });

  it('discards the record of the least recently used object when it is full', () => {
    const filter = new SpamFilter({ burst: 1, refillMs: 100, capacity: 2 });
    const allowed = ['a', 'b', 'a', 'c', 'a', 'b'].map((key) => filter.allow(key, 0));
    expect(allowed).to.deep.equal([true, true, false, true, false, true]);
  });

  it('discards the record of an object when the object may have a whole burst again', () => {
    const filter = new SpamFilter({ burst: 2, refillMs: 100, capacity: 10 });
    const sizes = [
      ...[['a', 0] as const, ['a', 0] as const, ['b', 50] as const],
      ...[['c', 199] as const, ['c', 200] as const],
    ].map(([key, ms]) => {
      filter.allow(key, ms);
      return filter.size;
    });
    expect(sizes).to.deep.equal([1, 1, 2, 3, 1]);
  });
});
