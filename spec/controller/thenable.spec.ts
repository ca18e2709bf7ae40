import { expect } from 'chai';
import { isThenable } from '../../lib/controller/sources.js';

describe('isThenable', () => {
  it('knows promises, and what is awaited like one', () => {
    const like: PromiseLike<number> = { then: (told) => Promise.resolve(1).then(told) };
    for (const value of [Promise.resolve(), like])
      expect(isThenable<unknown>(value)).to.equal(true);
  });

  it('takes nothing else for one', () => {
    for (const value of [undefined, null, 1, 'then', { then: 1 }, () => 1]) {
      expect(isThenable<unknown>(value)).to.equal(false);
    }
  });
});
