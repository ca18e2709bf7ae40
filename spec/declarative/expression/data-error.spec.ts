import { expect } from 'chai';
import { DataError, isDataError } from '../../../lib/declarative/expression/operands.js';
import { dataErrorOf } from './evaluate.js';

describe('DataError', () => {
  it('names the operation that failed and its value', () => {
    const error = new DataError('@add', 'want a number', { a: 1 });
    expect(error.message).to.equal('@add: want a number, got {"a":1}');
    expect(error).to.deep.include({ code: 'InvalidData', operation: '@add', value: { a: 1 } });
    expect(isDataError(error)).to.equal(true);
    expect(isDataError(new TypeError('x'))).to.equal(false);
  });

  it('truncates the value in the message', () => {
    const error = dataErrorOf({ '@int': '$.a' }, { a: 'x'.repeat(1_000) });
    expect(error.message).to.equal(
      `@int: want a whole number up to ${Number.MAX_SAFE_INTEGER}, got "${'x'.repeat(79)}…`,
    );
    const message = (length: number): string =>
      new DataError('@int', 'bad', 'x'.repeat(length)).message;
    expect(message(78)).to.equal(`@int: bad, got "${'x'.repeat(78)}"`);
    expect(message(79)).to.equal(`@int: bad, got "${'x'.repeat(79)}…`);
    const halved = new DataError('@int', 'bad', `${'x'.repeat(78)}😀`).message;
    expect(halved).to.equal(`@int: bad, got "${'x'.repeat(78)}…`);
  });

  it('names the type of the value instead of the value after a call of withoutValue', () => {
    for (const [value, type] of [
      [null, 'null'],
      [[1], 'a list'],
      [{ a: 1 }, 'a map'],
      ['text', 'a string'],
      [1, 'a number'],
      [false, 'a boolean'],
    ] as const) {
      const error = new DataError('@add', 'want a number', value).withoutValue();
      expect(error.message).to.equal(`@add: want a number, got ${type}`);
      expect(error).to.deep.include({ code: 'InvalidData', operation: '@add', value: undefined });
      expect(error.withoutValue()).to.equal(error);
    }
    expect(new DataError('@add', 'bad', undefined).message).to.equal('@add: bad');
  });

  it('contains no value in its text or its cause with showValues: false', () => {
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
