import { expect } from 'chai';
import { asError, cutCharacters, errorMessage } from '../../lib/system/as-error.js';

describe('asError', () => {
  it('returns an error unchanged, and wraps any other value', () => {
    const error = new TypeError('no');
    expect(asError(error)).to.equal(error);
    expect(asError('a text')).to.be.an('error').with.property('message', 'a text');
    expect(asError(undefined).message).to.equal('undefined was thrown, not an error');
    expect(asError('').message).to.equal('an empty string was thrown, not an error');
    expect(asError(null).message).to.equal('null was thrown, not an error');
  });

  it('uses the message of an object that is not an error, or lists its fields if it has no message', () => {
    expect(errorMessage({ message: 'no licence', code: 5 })).to.equal('no licence');
    expect(errorMessage({ code: 5, token: 'x' })).to.equal('a thrown object with code, token');
    expect(errorMessage({})).to.equal('a thrown object with no fields');
  });

  it('wraps values that cannot be converted to a string', () => {
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
      expect(asError(thrown).message).to.equal('a thrown object without a message');
      expect(errorMessage(thrown)).to.equal('a thrown object without a message');
    }
    expect(errorMessage(Symbol('s'))).to.equal('Symbol(s)');
  });
});

describe('cutCharacters', () => {
  it('cuts a text that is too long, but never within a surrogate pair', () => {
    expect(cutCharacters('abc', 3)).to.equal('abc');
    expect(cutCharacters('abcd', 3)).to.equal('abc');
    expect(cutCharacters('ab😀', 3)).to.equal('ab');
    expect(cutCharacters('ab😀', 4)).to.equal('ab😀');
    expect(cutCharacters('ab\ud83d', 3)).to.equal('ab\ud83d');
  });
});
