import { expect } from 'chai';
import fc from 'fast-check';
import {
  compileCondition,
  compileExpression,
} from '../../../lib/declarative/expression/compile-expression.js';
import { operators } from '../../../lib/declarative/expression/operators/operators.js';
import { compileContext, type SpecProblem } from '../../../lib/declarative/spec-problem.js';
import { deepFreeze } from '../../../lib/object/deep-freeze.js';
import { seededRandom } from '../../../lib/system/random.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { tries } from '../../sample.js';
import { evaluate, problemsOf } from './evaluate.js';

describe('compileExpression', () => {
  for (const literal of [
    1,
    -1.5,
    'text',
    '',
    true,
    false,
    null,
    [],
    {},
    [1, [2, ['a']]],
    { a: { b: [null] } },
  ]) {
    it(`evaluates ${JSON.stringify(literal)} to itself`, () => {
      expect(evaluate(literal)).to.deep.equal(literal);
    });
  }

  it('evaluates lists and maps recursively', () => {
    const source = { a: ['$.x', { b: { '@eq': [1, '$.x'] } }], c: { '@concat': ['x', '$.x'] } };
    expect(evaluate(source, { x: 1 })).to.deep.equal({ a: [1, { b: true }], c: 'x1' });
  });

  it('reports all problems, each with its path', () => {
    const source = {
      a: { '@concta': ['$.a'] },
      b: [{ '@eq': [1] }, { '@add': ['$.x', 'y'] }],
      c: { '@eq': ['$.a', 1], '@ne': [1, 2] },
      d: { '@len': '$.x', name: 'e' },
      e: { '@and': [{ '@not': '$.a[' }, { '@or': [] }] },
    };
    expect(problemsOf(source)).to.deep.equal([
      'a["@concta"]: there is no operator @concta (@concat)',
      'b[0]["@eq"]: @eq: want 2 operands, got 1',
      'b[1]["@add"][1]: @add: want a number, got "y"',
      'c: an operator must be the only key of its map, got @eq, @ne',
      'd: an operator must be the only key of its map, got @len, name',
      'e["@and"][0]["@not"]: invalid JSONPath "$.a[": character 5: want \'a name\', an index, *, a slice or ?filter',
      'e["@and"][1]["@or"]: @or: want 1 operand or more, got 0',
    ]);
  });

  for (const [wrong, meant] of [
    ['@Concat', '@concat'],
    ['@definedor', '@definedOr'],
    ['@fliter', '@filter'],
    ['@length', '@len'],
    ['@isnull', '@isnil'],
    ['@regexp', '@regex'],
    ['@neq', '@ne'],
    ['@', undefined],
    ['@if', '@cond'],
    ['@default', '@definedOr'],
    ['@coalesce', '@definedOr'],
    ['@nil', '@isnil'],
    ['@constructor', undefined],
  ]) {
    it(`refuses the unknown operator ${wrong ?? ''}${meant === undefined ? '' : ` and suggests ${meant}`}`, () => {
      const [problem] = problemsOf({ [wrong ?? '']: ['$.a', '$.b'] });
      expect(problem).to.contain(`there is no operator ${wrong ?? ''}`);
      if (meant !== undefined) expect(problem).to.contain(`(${meant})`);
    });
  }

  it('refuses values that are not JSON', () => {
    expect(problemsOf({ a: NaN, b: [undefined], c: 1n, d: () => 1 })).to.deep.equal([
      'a: want JSON, got NaN',
      'b[0]: want JSON, got a value of type undefined',
      'c: want JSON, got 1',
      'd: want JSON, got a value of type function',
    ]);
  });

  it('reports a value that is not JSON once, and not also as an invalid operand', () => {
    expect(problemsOf({ '@add': [1, NaN] })).to.deep.equal(['["@add"][1]: want JSON, got NaN']);
  });

  it('evaluates an invalid expression to null', () => {
    const compiled = compileExpression({ '@eq': [1] }, compileContext([]));
    expect(compiled({})).to.equal(null);
  });

  it('returns the same frozen value for a constant at each evaluation', () => {
    const compiled = compileExpression({ '@list': [1, { a: 2 }] }, compileContext([]));
    expect(compiled({})).to.equal(compiled({}));
    expect(Object.isFrozen((compiled({}) as unknown[])[1])).to.equal(true);
  });

  it('returns the same value or the same data error at each evaluation of a document', () => {
    const names = [...operators.keys()].filter((name) => name !== '@literal');
    const leaf = fc.constantFrom<unknown>('$.a', '$.b', '$', '$.a[0]', '$..x', 1, 'x', null, true);
    const { source } = fc.letrec<{ source: unknown }>((tie) => ({
      source: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .tuple(fc.constantFrom(...names), fc.array(tie('source'), { maxLength: 3 }))
          .map(([name, operands]) => ({ [name]: operands })),
        fc.dictionary(fc.constantFrom('a', '$.b.c', '$.'), tie('source'), { maxKeys: 2 }),
      ),
    }));
    const clock = new VirtualClock();
    const property = fc.property(source, fc.jsonValue(), fc.jsonValue(), (expression, a, b) => {
      const problems: SpecProblem[] = [];
      const options = { clock, random: seededRandom(1) };
      const compiled = compileExpression(expression, compileContext(problems), options);
      if (problems.length > 0) return;
      const document = deepFreeze({ a, b, x: [a, { x: b }] });
      const once = outcome(() => compiled(document));
      expect(once).to.match(/^(value|InvalidData)/);
      // The same compiled expression gives the same result each time, except for @rnd.
      if (!JSON.stringify(expression).includes('@rnd')) {
        expect(outcome(() => compiled(document))).to.equal(once);
      }
    });
    fc.assert(property, { numRuns: tries(1_000) });
  });
});

describe('compileCondition', () => {
  it('returns true or false', () => {
    const holds = compileCondition({ '@gt': ['$.a', 1] }, compileContext([]), {
      operation: '@select',
    });
    expect([holds({ a: 2 }), holds({ a: 1 })]).to.deep.equal([true, false]);
  });

  it('refuses expressions that cannot be boolean when it compiles them', () => {
    const problems: SpecProblem[] = [];
    for (const source of [{ '@len': '$.a' }, 'yes', { a: 1 }, '$.a', { '@eq': [1] }]) {
      compileCondition(source, compileContext(problems), { operation: '@select' });
    }
    expect(problems.map(({ message }) => message)).to.deep.equal([
      '@select: want true or false, got a number',
      '@select: want true or false, got a string',
      '@select: want true or false, got a map',
      '@eq: want 2 operands, got 1',
    ]);
  });

  it('fails on a document for which the condition is not a boolean', () => {
    const holds = compileCondition('$.a', compileContext([]), { operation: '@select' });
    expect(() => holds({ a: 'yes' })).to.throw('@select: want true or false, got "yes"');
    expect(() => holds({})).to.throw('@select: want true or false, got null');
  });
});

function outcome(run: () => unknown): string {
  try {
    return `value ${JSON.stringify(run())}`;
  } catch (error) {
    return `${String((error as { code?: unknown }).code)} ${String(error)}`;
  }
}
