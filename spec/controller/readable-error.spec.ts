import { expect } from 'chai';
import { isBug, readableError } from '../../lib/controller/result.js';

const broken = {
  get message(): string {
    throw new Error('not for you');
  },
};
const refuse = (): never => {
  throw new Error('not for you');
};
const secretive = Object.defineProperty(new Error('x'), 'retryAfterMs', { get: refuse });

const unreadable: readonly [title: string, error: unknown][] = [
  ['its message', broken],
  ['the message of its cause', new Error('x', { cause: new Error('y', { cause: broken }) })],
  ['the message of one of its parts', new AggregateError([new Error('one'), broken])],
  ['its retry delay', secretive],
  ['its `has` trap', new Proxy({ message: 'x' }, { has: refuse })],
  ['a code that is not a string', Object.assign(new Error('x'), { code: { toString: refuse } })],
];

function changeText(text: string): void {
  (text as unknown as Record<number, string>)[0] = 'x';
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}

describe('readableError', () => {
  for (const [title, error] of unreadable) {
    it(`replaces an error that cannot be read because ${title} throws`, () => {
      const readable = readableError(error);
      expect(readable).to.be.an('error');
      expect((readable as Error).message).to.equal(
        'threw an unreadable value: a proxy, or an object whose getter throws',
      );
    });
  }

  it('names the remedy for a change of a frozen object, once', () => {
    const frozen = Object.freeze({ a: 1, list: Object.freeze([2, 1]) });
    const changes: (() => unknown)[] = [
      () => Object.assign(frozen, { a: 2 }),
      () => Object.assign(frozen, { b: 2 }),
      () => Object.assign(frozen.list, [1, 2]),
      () => delete (frozen as { a?: number }).a,
      () => Object.defineProperty(frozen, 'x', { value: 1 }),
    ];
    for (const change of changes) {
      const error = thrownBy(change);
      const readable = readableError(error);
      expect(readable).to.be.instanceOf(TypeError);
      const { message, cause, stack = '' } = readable as TypeError;
      expect(stack.split('\n')[1]).to.equal((error as TypeError).stack?.split('\n')[1]);
      expect(message).to.match(/^Cannot .*; objects that a client returns are frozen .*a copy/);
      expect(cause).to.equal(error);
      expect(readableError(readable)).to.equal(readable);
    }
    const others = [
      ...[new TypeError('Cannot read properties of undefined'), thrownBy(() => changeText('abc'))],
      new (class extends TypeError {})('Cannot add property x, object is not extensible'),
    ];
    for (const other of others) expect(readableError(other)).to.equal(other);
  });

  it('returns a readable error unchanged', () => {
    const parts = new AggregateError([new Error('one'), 'two'], 'x', { cause: new Error('y') });
    const round = new Error('x');
    round.cause = round;
    const plain = { message: Object.create(null) as object };
    for (const error of [parts, round, plain, 'a text', 7]) {
      expect(readableError(error)).to.equal(error);
    }
  });

  for (const [title, thrown] of [
    ['undefined', undefined],
    ['null', null],
    ['an empty string', ''],
  ] as const) {
    it(`replaces ${title}, which loggers leave out, by an error that names it and counts as a bug`, () => {
      const readable = readableError(thrown);
      expect(readable)
        .to.be.an('error')
        .with.property('message', `${title} was thrown, not an error`);
      expect(isBug(readable)).to.equal(true);
    });
  }
});
