import { expect } from 'chai';
import fc from 'fast-check';
import { seededRandom } from '../../../lib/system/random.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { tries } from '../../sample.js';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';
import { compileExpression } from '../../../lib/declarative/expression/compile-expression.js';
import { compileContext } from '../../../lib/declarative/spec-problem.js';

describe('@hash', () => {
  const spec = { a: 1, b: { c: 2 }, x: [1, 2, 3, 4, 5] };

  it('equals the hash of dcontroller', () => {
    expect(evaluate({ '@hash': '$.spec' }, { spec })).to.equal('dorzm8');
    expect(evaluate({ '@hash': '$.spec' }, { spec: { ...spec, a: 2 } })).to.equal('9pxacx');
    expect(evaluate({ '@hash': spec })).to.equal('dorzm8');
  });

  it('depends on the order of items, not of members', () => {
    const { x, b, a } = spec;
    expect(evaluate({ '@hash': '$.spec' }, { spec: { x, b, a } })).to.equal('dorzm8');
    expect(evaluate({ '@hash': [1, 2] })).to.not.equal(evaluate({ '@hash': [2, 1] }));
  });

  it('treats a list in a list as one operand', () => {
    const hash = evaluate({ '@hash': '$.x' }, spec);
    expect(evaluate({ '@hash': ['$.x'] }, spec)).to.equal(hash);
    expect(evaluate({ '@hash': ['$.a'] }, spec)).to.equal(evaluate({ '@hash': [1] }));
    const nested = { lists: [[1, 2], [3]] };
    expect(evaluate({ '@hash': '$.lists' }, nested)).to.equal(evaluate({ '@hash': [[1, 2], [3]] }));
    expect(evaluate({ '@hash': '$.lists' }, nested)).to.not.equal(evaluate({ '@hash': [1, 2] }));
  });

  it('escapes < > & as Go does', () => {
    // The first six digits of the MD5 of "\u003ca\u003e", the twelve characters of escapes included.
    expect(evaluate({ '@hash': '<a>' })).to.equal('die6m4');
  });

  it('pads the hash with leading zeros', () => {
    expect(evaluate({ '@hash': 27 })).to.equal('066s1a');
  });

  it('returns six characters, which are letters or digits, for any value', () => {
    const property = fc.property(fc.jsonValue(), (value) => {
      expect(evaluate({ '@hash': '$.value' }, { value })).to.match(/^[0-9a-z]{6}$/);
    });
    fc.assert(property, { numRuns: tries(100) });
  });
});

describe('@selector', () => {
  const labels = { app: 'web', tier: 'front', weight: 3 };
  for (const [selector, selects] of [
    [{ app: 'web' }, true],
    [{ app: 'db' }, false],
    [{ weight: 3 }, true],
    [{}, true],
    [null, false],
    [{ matchLabels: { app: 'web' } }, true],
    [{ matchLabels: null }, true],
    [{ matchLabels: null, matchExpressions: null }, true],
    [{ matchLabels: { app: 'db' }, matchExpressions: null }, false],
    [{ matchLabels: { app: 'web', tier: 'back' } }, false],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }, true],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, false],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, true],
    [
      {
        matchLabels: { app: 'web' },
        matchExpressions: [{ key: 'zone', operator: 'Exists' }],
      },
      false,
    ],
  ] as const) {
    it(`${selects ? 'selects' : 'does not select'} the labels with ${JSON.stringify(selector)}`, () => {
      const source = { '@selector': ['$.selector', '$.labels'] };
      expect(evaluate(source, { selector, labels })).to.equal(selects);
      expect(evaluate({ '@selector': [selector, '$.labels'] }, { labels })).to.equal(selects);
    });
  }

  it('selects nothing without labels', () => {
    expect(evaluate({ '@selector': [{}, '$.missing'] })).to.equal(false);
  });

  it('refuses an invalid selector when it is loaded, or fails with a data error if a document contains it', () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'Like', values: ['a'] }] };
    const [problem] = problemsOf({ '@selector': [selector, '$.labels'] });
    expect(problem).to.contain('["@selector"][0]: @selector: want a label selector');
    expect(problem).to.contain('operator Like of app');
    const error = dataErrorOf({ '@selector': ['$.selector', '$.labels'] }, { selector, labels });
    expect(error.message).to.contain('@selector: want a label selector, got {"matchExpressions"');
    expect(dataErrorOf({ '@selector': ['$.a', '$.a'] }, { a: 'x' }).message).to.equal(
      '@selector: want a map or null, got "x"',
    );
  });
});

describe('@rnd', () => {
  it('returns a whole number that is at least the first operand and below the second', () => {
    const random = seededRandom(7);
    const compiled = compileExpression({ '@rnd': [2, '$.beyond'] }, compileContext([]), { random });
    const drawn = new Set(Array.from({ length: 200 }, () => compiled({ beyond: 5 })));
    expect([...drawn].toSorted()).to.deep.equal([2, 3, 4]);
  });

  it('returns a new number at each evaluation, even with constant operands', () => {
    const next = { at: 0 };
    const random = { next: () => [0, 0.5, 0.99][next.at++ % 3] ?? 0, uuid: () => '' };
    const compiled = compileExpression({ '@rnd': [0, 10] }, compileContext([]), { random });
    expect([compiled({}), compiled({}), compiled({})]).to.deep.equal([0, 5, 9]);
  });

  it('requires whole numbers as the limits of the range', () => {
    expect(problemsOf({ '@rnd': [3, 3] })).to.deep.equal([
      '["@rnd"]: @rnd: want [first, end] with end above first, got [3,3]',
    ]);
    expect(problemsOf({ '@rnd': [0, 1.5] })).to.have.lengthOf(1);
    expect(problemsOf({ '@rnd': 3 })).to.deep.equal(['["@rnd"]: @rnd: want 2 operands, got 1']);
    expect(dataErrorOf({ '@rnd': ['$.a', 1] }, { a: 2 }).operation).to.equal('@rnd');
  });
});

describe('@now', () => {
  it('returns the time of the evaluation in whole seconds of UTC', async () => {
    const clock = new VirtualClock(Date.parse('2026-01-02T03:04:05.678Z'));
    const compiled = compileExpression({ at: '@now' }, compileContext([]), { clock });
    expect(compiled({})).to.deep.equal({ at: '2026-01-02T03:04:05Z' });
    await clock.advance(60_000);
    expect(compiled({})).to.deep.equal({ at: '2026-01-02T03:05:05Z' });
  });

  it('returns a string, on which other operators can work', () => {
    const clock = new VirtualClock(Date.parse('2026-01-02T03:04:05Z'));
    expect(evaluate({ '@split': ['@now', 'T'] }, {}, { clock })).to.deep.equal([
      ...['2026-01-02', '03:04:05Z'],
    ]);
    expect(problemsOf({ '@len': '@now' })).to.have.length(1);
  });

  it('is allowed as an operator without an operand', () => {
    const clock = new VirtualClock(Date.parse('2026-01-02T03:04:05Z'));
    expect(evaluate({ '@now': null }, {}, { clock })).to.equal('2026-01-02T03:04:05Z');
    expect(problemsOf({ '@now': '$.a' })).to.deep.equal(['["@now"]: @now: want no operand']);
  });

  it('is not evaluated if a document contains the string "@now"', () => {
    expect(evaluate('$.a', { a: '@now' })).to.equal('@now');
  });
});

describe('@literal', () => {
  it('returns its operand unevaluated', () => {
    const value = { $a: ['$.b', '@now', { '@eq': [1] }], n: null };
    expect(evaluate({ '@literal': value })).to.deep.equal(value);
    expect(evaluate({ '@concat': [{ '@literal': '$' }, '$.a'] }, { a: 5 })).to.equal('$5');
  });

  it('copies its operand, so that later changes of the operand have no effect', () => {
    const value = { list: [1] };
    const compiled = compileExpression({ '@literal': value }, compileContext([]));
    value.list.push(2);
    expect(compiled({})).to.deep.equal({ list: [1] });
  });
});
