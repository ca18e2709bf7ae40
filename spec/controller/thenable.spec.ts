import { expect } from 'chai';
import { isThenable } from '../../lib/controller/sources.js';

describe('isThenable', () => {
  it('is true for promises and other objects with a then method', () => {
    const like: PromiseLike<number> = { then: (told) => Promise.resolve(1).then(told) };
    for (const value of [Promise.resolve(), like])
      expect(isThenable<unknown>(value)).to.equal(true);
  });

  it('is false for other values', () => {
    for (const value of [undefined, null, 1, 'then', { then: 1 }, () => 1]) {
      expect(isThenable<unknown>(value)).to.equal(false);
    }
  });
});
