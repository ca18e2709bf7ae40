import { expect } from 'chai';
import { isDeeperThan } from '../../lib/object/depth.js';

describe('isDeeperThan', () => {
  for (const [value, levels] of [
    [1, 0],
    [null, 0],
    ['text', 0],
    [{}, 1],
    [[], 1],
    [{ a: 1, b: null }, 1],
    [[1, null], 1],
    [{ a: 1, b: { c: 2 }, d: 3 }, 2],
    [[1, [2], 3], 2],
    [{ a: [{ b: [] }] }, 4],
  ] as const) {
    it(`counts ${levels} levels in ${JSON.stringify(value)}`, () => {
      const limits = [0, 1, 2, 3, 4, 5];
      const deeper = limits.map((limit) => isDeeperThan(value, limit));
      expect(deeper).to.deep.equal(limits.map((limit) => levels > limit));
    });
  }
});
