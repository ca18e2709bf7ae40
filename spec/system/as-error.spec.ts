import { expect } from 'chai';
import { asError, errorMessage } from '../../lib/system/as-error.js';

describe('asError', () => {
  it('leaves an error as it is, and makes one of anything else', () => {
    const error = new TypeError('no');
    expect(asError(error)).to.equal(error);
    expect(asError('a text')).to.be.an('error').with.property('message', 'a text');
    expect(asError(undefined).message).to.equal('undefined was thrown, not an error');
    expect(asError(null).message).to.equal('null was thrown, not an error');
  });

  it('takes the message of an object that is no error, or else the names of its fields', () => {
    expect(errorMessage({ message: 'no licence', code: 5 })).to.equal('no licence');
    expect(errorMessage({ code: 5, token: 'x' })).to.equal('a thrown object with code, token');
    expect(errorMessage({})).to.equal('a thrown object with no fields');
  });

  it('takes values that have no text', () => {
    const unprintable = [
      Object.create(null),
      {
        toString: () => {
          throw new Error('no text');
        },
      },
      { toString: 1, valueOf: 2 },
      { [Symbol.toPrimitive]: () => ({}) },
    ];
    for (const thrown of unprintable) {
      expect(asError(thrown).message).to.equal('a thrown object without a text');
      expect(errorMessage(thrown)).to.equal('a thrown object without a text');
    }
    expect(errorMessage(Symbol('s'))).to.equal('Symbol(s)');
  });
});
