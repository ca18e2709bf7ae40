import { expect } from 'chai';
import { DataError, isDataError } from '../../../lib/declarative/expression/operands.js';
import { dataErrorOf } from './evaluate.js';

describe('DataError', () => {
  it('names operation and value', () => {
    const error = new DataError('@add', 'want a number', { a: 1 });
    expect(error.message).to.equal('@add: want a number, got {"a":1}');
    expect(error).to.deep.include({ code: 'InvalidData', operation: '@add', value: { a: 1 } });
    expect(isDataError(error)).to.equal(true);
    expect(isDataError(new TypeError('x'))).to.equal(false);
  });

  it('truncates the value in the message', () => {
    const error = dataErrorOf({ '@int': '$.a' }, { a: 'x'.repeat(1_000) });
    expect(error.message).to.have.lengthOf.below(200).and.match(/x…$/);
  });

  it('contains no value in text or cause with showValues: false', () => {
    const document = { password: 'hunter2(', selector: { 'hunter2(': 'x' } };
    for (const source of [
      { '@int': '$.password' },
      { '@regex': ['$.password', 'a'] },
      { '@selector': ['$.selector', {}] },
      { '@lt': ['$.password', 1] },
      { a: '$.password', '$.a.b': 1 },
    ]) {
      const error = dataErrorOf(source, document, { showValues: false });
      expect(error.value).to.equal(undefined);
      expect(`${error.stack ?? ''} ${String(error.cause)}`).to.not.contain('hunter2');
    }
    const error = dataErrorOf({ '@int': '$.password' }, document, { showValues: false });
    expect(error.message).to.match(/^@int: want a whole number up to \d+, got a string$/);
  });
});
