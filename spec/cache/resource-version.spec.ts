import { expect } from 'chai';
import fc from 'fast-check';
import { compareResourceVersions } from '../../lib/cache/resource-version.js';

describe('compareResourceVersions', () => {
  it('orders integers of any length', () => {
    const property = fc.property(fc.bigInt({ min: 0n }), fc.bigInt({ min: 0n }), (one, other) => {
      const order = compareResourceVersions(String(one), String(other));
      expect(Math.sign(order ?? NaN)).to.equal(one < other ? -1 : one > other ? 1 : 0);
    });
    fc.assert(property);
  });

  for (const version of [undefined, '', 'abc', '-1', '007', '1.5', '1e3', '1/', '1:']) {
    it(`returns undefined for ${String(version)}`, () => {
      expect(compareResourceVersions(version, '7')).to.equal(undefined);
      expect(compareResourceVersions('7', version)).to.equal(undefined);
    });
  }
});
