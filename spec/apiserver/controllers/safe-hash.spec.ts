import { expect } from 'chai';
import { safeHash, safeSuffix } from '../../../lib/apiserver/controllers/controller-revisions.js';
import { seededRandom } from '../../../lib/system/random.js';

describe('safeHash', () => {
  it('returns a short word that is valid in names and labels', () => {
    expect(safeHash({ image: 'app:1' })).to.match(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
  });

  it('depends on everything except the order of fields', () => {
    const hash = safeHash({ a: 1, b: [1, 2] });
    expect(safeHash({ b: [1, 2], a: 1 })).to.equal(hash);
    const others = [{ a: 1, b: [2, 1] }, { a: 2, b: [1, 2] }, { a: 1 }].map((value) =>
      safeHash(value),
    );
    expect(others).not.to.include(hash);
  });

  it('returns a different word for each attempt to avoid a collision', () => {
    const words = [0, 1, 2].map((probe) => safeHash('same', probe));
    expect(new Set(words)).to.have.property('size', 3);
  });
});

describe('safeSuffix', () => {
  it('returns the same suffixes for the same random numbers', () => {
    const [one, other] = [seededRandom(1), seededRandom(1)];
    expect(safeSuffix(() => one.next())).to.equal(safeSuffix(() => other.next()));
    expect(safeSuffix(() => one.next(), 8)).to.have.length(8);
  });
});
