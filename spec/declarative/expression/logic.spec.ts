import { expect } from 'chai';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

/** An expression that fails when it is evaluated. */
const trap = { '@eq': '$.zero' };
const document = { zero: 0, a: 1, no: false, yes: true };

describe('Operators for conditions, such as @and and @cond', () => {
  it('fail if they evaluate the operand {"@eq": "$.zero"}, which the next specs expect to be skipped', () => {
    expect(dataErrorOf(trap, document).operation).to.equal('@eq');
  });

  for (const [title, source, result] of [
    ['@and stops at the first false', { '@and': [true, '$.no', trap] }, false],
    ['@and of true ones is true', { '@and': ['$.yes', true] }, true],
    ['@and takes a single condition', { '@and': '$.yes' }, true],
    ['@or stops at the first true', { '@or': ['$.no', '$.yes', trap] }, true],
    ['@or of false ones is false', { '@or': ['$.no', false] }, false],
    ['@not negates', { '@not': '$.no' }, true],
    ['@not takes a list of one', { '@not': ['$.yes'] }, false],
    [
      '@cond does not evaluate the else branch of a true condition',
      { '@cond': ['$.yes', 'then', trap] },
      'then',
    ],
    [
      '@cond does not evaluate the then branch of a false condition',
      { '@cond': ['$.no', trap, 'else'] },
      'else',
    ],
    ['@cond without an else is null', { '@cond': ['$.no', 'then'] }, null],
    ['@cond in a @cond', { '@cond': ['$.no', trap, { '@cond': ['$.yes', '$.a', trap] }] }, 1],
    [
      '@switch evaluates nothing after the first true case, and no values of false cases',
      {
        '@switch': [
          ['$.no', trap],
          ['$.yes', 'second'],
          [trap, trap],
        ],
      },
      'second',
    ],
    ['@switch without a true case is null', { '@switch': [['$.no', 1]] }, null],
    ['@definedOr stops at the first defined value', { '@definedOr': ['$.b', '$.a', trap] }, 1],
    ['@definedOr counts false as defined', { '@definedOr': ['$.no', true] }, false],
    ['@definedOr without a defined value is null', { '@definedOr': ['$.b', '$.c', null] }, null],
    ['@isnil of a missing value', { '@isnil': '$.b.c' }, true],
    ['@isnil of false', { '@isnil': '$.no' }, false],
    ['@exists of a missing value', { '@exists': '$.b' }, false],
    ['@exists of 0', { '@exists': '$.zero' }, true],
    ['@exists of a list of one', { '@exists': ['$.b'] }, false],
    ['@has is an alias of @exists', { '@has': '$.a' }, true],
    ['@noop returns its operand', { '@noop': '$.a' }, 1],
  ] as const) {
    it(title, () => expect(evaluate(source, document)).to.equal(result));
  }

  it('fail on a condition that is not a boolean, and name the operator and the value', () => {
    const sources = {
      '@and': ['$.a'],
      '@or': ['$.missing'],
      '@not': '$.a',
      '@cond': ['$.a', 1, 2],
      '@switch': [['$.a', 1]],
    };
    const messages = Object.entries(sources).map(
      ([name, argument]) => dataErrorOf({ [name]: argument }, document).message,
    );
    expect(messages).to.deep.equal([
      '@and: want true or false, got 1',
      '@or: want true or false, got null',
      '@not: want true or false, got 1',
      '@cond: want true or false, got 1',
      '@switch: want true or false, got 1',
    ]);
  });

  it('are refused when they are loaded if a condition cannot be a boolean', () => {
    expect(problemsOf({ '@and': ['$.a', 1, { '@len': '$.b' }] })).to.deep.equal([
      '["@and"][1]: @and: want true or false, got 1',
      '["@and"][2]: @and: want true or false, got a number',
    ]);
    expect(problemsOf({ '@cond': [{ '@concat': ['$.a'] }, 1] })).to.deep.equal([
      '["@cond"][0]: @cond: want true or false, got a string',
    ]);
    for (const argument of ['$.a', 1, [], { a: 1 }]) {
      expect(problemsOf({ '@switch': argument })).to.deep.equal([
        '["@switch"]: @switch: want a list of [case, value]',
      ]);
    }
    expect(problemsOf({ '@switch': [['$.a', 1], [3, 2], ['$.a']] })).to.deep.equal([
      '["@switch"][2]: @switch: want a list of [case, value]',
    ]);
    expect(
      problemsOf({
        '@switch': [
          ['$.a', 1],
          [3, 2],
        ],
      }),
    ).to.deep.equal(['["@switch"][1][0]: @switch: want true or false, got 3']);
  });

  it('refuse a branch that fails on every document, even if it is never evaluated', () => {
    expect(problemsOf({ '@cond': ['$.a', { '@div': [1, 0] }] })).to.deep.equal([
      '["@cond"][1]["@div"]: @div: division by zero',
    ]);
  });
});
