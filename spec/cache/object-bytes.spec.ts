import { expect } from 'chai';
import { estimateBytes, estimateTotalBytes } from '../../lib/cache/store.js';

describe('estimateBytes', () => {
  it('grows with the lengths of strings and the numbers of fields and list items', () => {
    expect(estimateBytes('')).to.equal(16);
    expect(estimateBytes('123456789')).to.equal(32);
    expect(estimateBytes({ a: 1, b: true, c: null, d: 1.5 })).to.equal(24 + 4 * 8 + 16);
    expect(estimateBytes(['', ''])).to.equal(48 + 2 * (8 + 16));
  });
});

describe('estimateTotalBytes', () => {
  it('estimates the total size from some of the objects', () => {
    let looked = 0;
    const objects = Array.from({ length: 100_000 }, (_, n) => ({
      get text() {
        looked++;
        return 'x'.repeat(n % 1_000);
      },
    }));
    const bytes = estimateTotalBytes(objects, objects.length);
    expect(looked).to.be.below(600);
    expect(bytes / objects.length).to.be.within(400, 700);
    expect(estimateTotalBytes([], 0)).to.equal(0);
  });
});
