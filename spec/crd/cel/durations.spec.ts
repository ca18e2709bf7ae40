import { expect } from 'chai';
import { parseDuration } from '../../../lib/crd/internal.js';

describe('parseDuration', () => {
  it("accepts each form of a number that Go's parser accepts", () => {
    const texts = ['1s', '1.s', '.5s', '1.5s', '1h.5m1.s', '-1.5s', '+0', '0'];
    const read = texts.map((text) => parseDuration(text)?.nanos);
    const seconds = [1, 1, 0.5, 1.5, 3631, -1.5, 0, 0];
    expect(read).to.deep.equal(seconds.map((count) => BigInt(count * 1e9)));
    for (const text of ['', '.', '.s', '1', '1.', '1..s', '1.2.3s', 's', '- 1s']) {
      expect(parseDuration(text), text).to.equal(undefined);
    }
  });

  it('parses or refuses 100,000 digits, with or without a unit', () => {
    const nines = '9'.repeat(100_000);
    const unfit = [nines, `${nines}s`, `${nines}.${nines}`, `.${nines}`, `1h${nines}`];
    for (const text of unfit) expect(parseDuration(text)).to.equal(undefined);
    expect(parseDuration(`${'0'.repeat(100_000)}1s`)?.nanos).to.equal(1_000_000_000n);
  });
});
