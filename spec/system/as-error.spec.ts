import { expect } from 'chai';
import { asError } from '../../lib/system/as-error.js';

describe('asError', () => {
  it('leaves an error as it is, and makes one of anything else', () => {
    const error = new TypeError('no');
    expect(asError(error)).to.equal(error);
    expect(asError('a text')).to.be.an('error').with.property('message', 'a text');
    expect(asError(undefined).message).to.equal('undefined');
  });
});
