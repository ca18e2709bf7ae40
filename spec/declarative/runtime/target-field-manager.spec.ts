import { expect } from 'chai';
import { targetFieldManager } from '../../../lib/declarative/runtime/clean-up-target.js';

describe('The field manager of a declarative controller', () => {
  it('is named after operator and controller', () => {
    expect(targetFieldManager('shop', 'web')).to.equal('shop/web');
    expect(targetFieldManager('o'.repeat(63), 'c'.repeat(64))).to.have.length(128);
  });

  it('is truncated to the limit of the server, and remains unique', () => {
    const names = ['a', 'b'].map((end) => targetFieldManager('shop', `${'c'.repeat(200)}${end}`));
    expect(names.map((name) => name.length)).to.deep.equal([128, 128]);
    expect(names[0]).not.to.equal(names[1]);
    expect(names[0]).to.match(/^shop\/c+-[0-9a-f]{12}$/);
    expect(targetFieldManager('shop', `${'c'.repeat(200)}a`)).to.equal(names[0]);
  });
});
