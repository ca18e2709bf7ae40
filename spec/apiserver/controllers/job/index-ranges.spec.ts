import { expect } from 'chai';
import fc from 'fast-check';
import { formatIndexes, parseIndexes } from '../../../../lib/apiserver/controllers/job-pods.js';

describe('formatIndexes', () => {
  const cases: readonly [indexes: number[], text: string][] = [
    [[], ''],
    [[3], '3'],
    [[1, 0], '0,1'],
    [[0, 1, 2, 5], '0-2,5'],
    [[7, 5, 3], '3,5,7'],
  ];
  for (const [indexes, text] of cases) {
    it(`formats ${JSON.stringify(indexes)} as ${JSON.stringify(text)}`, () => {
      expect(formatIndexes(new Set(indexes))).to.equal(text);
    });
  }

  it('is the inverse of parseIndexes', () => {
    const property = fc.property(fc.uniqueArray(fc.nat(30)), (indexes) => {
      expect(parseIndexes(formatIndexes(new Set(indexes)))).to.deep.equal(new Set(indexes));
    });
    fc.assert(property);
  });
});
