import { expect } from 'chai';
import { referencesOf } from '../../../lib/declarative/engine/expression-references.js';

/** Formats references as `a, b`, followed by `the whole document` and `volatile`. */
function told(expression: unknown): string {
  const { members, whole, volatile } = referencesOf(expression);
  const more = [...(whole ? ['the whole document'] : []), ...(volatile ? ['volatile'] : [])];
  return [...members, ...more].join(', ');
}

describe('referencesOf', () => {
  const cases: [unknown, string][] = [
    [7, ''],
    ['text', ''],
    ['$.a.b', 'a'],
    ["$['a b'].c", 'a b'],
    ['$', 'the whole document'],
    ['$.', 'the whole document'],
    ['$..a', 'the whole document'],
    ['$.*', 'the whole document'],
    ["$['a','b']", 'the whole document'],
    ['$.a[', 'the whole document'],
    ['$$.a', ''],
    ['$$', ''],
    ['$.a[?$..c]', 'a, the whole document'],
    ['$.a[?match(@.b, $.c) || search($.d, @.b)]', 'a, c, d'],
    ['$.a[?@.b >= $.c || $.d in [1]]', 'a, c, d'],
    ['$.a[?@ == $]', 'a, the whole document'],
    ["$.a[?@.b == 'x' && true == @.c]", 'a'],
    ['a $.b', ''],
    [null, ''],
    [['$.a', ['$.b']], 'a, b'],
    [{ '$.x[': 1 }, 'the whole document'],
    [{ '$..x': 1 }, ''],
    [{ '@rnd': [0, 9] }, 'volatile'],
    [{ '@set': '$.a' }, 'a'],
    [{ '@set': ['$.a', '$.x', { '@rnd': [0, 9] }] }, 'a, volatile'],
    ['$.a[?(@.b == $.c.d && !$.e || length($.f) > 1 || count($.g) > 1)]', 'a, c, e, f, g'],
    ["$$.a[?(@.b in ['x'])]", ''],
    [{ '@eq': ['$.a.x', { '@map': ['$$.y', '$.b.list'] }] }, 'a, b'],
    [{ member: '$.a' }, 'a'],
    [{ '$.x.y': '$.a' }, 'a'],
    [{ '$.x[?(@.n == $.b)]': '$.a' }, 'b, a'],
    [{ '$.': '$.' }, 'the whole document'],
    ['@now', 'volatile'],
    [{ '@now': null }, 'volatile'],
    [{ '@concat': ['$.a', { '@string': { '@rnd': [1, 2] } }] }, 'a, volatile'],
    [{ '@concat': ['$.a', { '@literal': ['$.b', '@now'] }] }, 'a'],
    [{ '@set': ['$.a', '$.x[?(@.n == $.y)]', '$.b'] }, 'a, b'],
    [JSON.parse('{"__proto__":"$.a"}'), 'a'],
  ];
  for (const [expression, references] of cases) {
    it(`finds in the expression ${JSON.stringify(expression)}: ${references || 'nothing'}`, () => {
      expect(told(expression)).to.equal(references);
    });
  }
});
