import { expect } from 'chai';
import { compareSortKeys, sortKeyOf } from '../../../lib/declarative/engine/gather-node.js';

describe('sortKeyOf', () => {
  const ascending = [null, false, true, -1, 0, 2.5, '', 'B', 'a', [1], [2], { a: 1 }, { b: 0 }];

  it('orders all JSON values by type, then within the type', () => {
    const shuffled = ascending.toReversed();
    const sorted = shuffled.sort((one, other) => compareSortKeys(sortKeyOf(one), sortKeyOf(other)));
    expect(sorted).to.deep.equal(ascending);
  });

  it('treats a missing value as null', () => {
    expect(compareSortKeys(sortKeyOf(undefined), sortKeyOf(null))).to.equal(0);
    expect(compareSortKeys(sortKeyOf(null), sortKeyOf(undefined))).to.equal(0);
    expect(compareSortKeys(sortKeyOf(undefined), sortKeyOf(false))).to.be.below(0);
  });
});
