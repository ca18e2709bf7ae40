import { expect } from 'chai';
import { readableError } from '../../lib/controller/result.js';

const broken = {
  get message(): string {
    throw new Error('not for you');
  },
};
const refuse = (): never => {
  throw new Error('not for you');
};

const unreadable: readonly [title: string, error: unknown][] = [
  ['its message', broken],
  ['the message of its cause', new Error('x', { cause: new Error('y', { cause: broken }) })],
  ['the message of one of its parts', new AggregateError([new Error('one'), broken])],
  ['its `has` trap', new Proxy({ message: 'x' }, { has: refuse })],
  ['a code that is not a string', Object.assign(new Error('x'), { code: { toString: refuse } })],
];

describe('readableError', () => {
  for (const [title, error] of unreadable) {
    it(`replaces an unreadable error: ${title} throws`, () => {
      const readable = readableError(error);
      expect(readable).to.be.an('error');
      expect((readable as Error).message).to.equal(
        'threw an unreadable value: a proxy, or an object whose getter throws',
      );
    });
  }

  it('returns a readable error unchanged', () => {
    const parts = new AggregateError([new Error('one'), 'two'], 'x', { cause: new Error('y') });
    const round = new Error('x');
    round.cause = round;
    const plain = { message: Object.create(null) as object };
    for (const error of [parts, round, plain, 'a text', 7, null, undefined]) {
      expect(readableError(error)).to.equal(error);
    }
  });
});
