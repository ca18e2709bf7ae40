import { expect } from 'chai';
import fc from 'fast-check';
import { tries } from '../../sample.js';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

const document = {
  metadata: { name: 'a', labels: { app: 'web' } },
  spec: { a: 1, b: { c: 2 }, list: [{ x: 1 }, { x: 2 }] },
};

describe('Setters, the keys of a map that are JSONPaths', () => {
  for (const [title, source, result] of [
    ['create the parents', { '$.y.z': '$.spec.b' }, { y: { z: { c: 2 } } }],
    ['accept quoted names', { "$['a.b']['c/d']": 1 }, { 'a.b': { 'c/d': 1 } }],
    ['pad lists', { '$.y[3]': 12 }, { y: [null, null, null, 12] }],
    ['create lists of maps', { '$.y[1].z': 1 }, { y: [null, { z: 1 }] }],
    ['apply in order', { '$.spec.y': 'a', '$.spec.b.d': 12 }, { spec: { y: 'a', b: { d: 12 } } }],
    ['build within their map', { q: { '$.y.z': 1 } }, { q: { y: { z: 1 } } }],
    [
      'set in a copy, and keep its other fields',
      { metadata: '$.metadata', '$.metadata.labels.tier': 'front' },
      { metadata: { name: 'a', labels: { app: 'web', tier: 'front' } } },
    ],
    [
      'set in a copied list',
      { list: '$.spec.list', '$.list[1].x': 3, '$.list[-2].y': 4 },
      { list: [{ x: 1, y: 4 }, { x: 3 }] },
    ],
    [
      'set in each match of a filter',
      { list: '$.spec.list', '$.list[?@.x > 1].x': 9 },
      { list: [{ x: 1 }, { x: 9 }] },
    ],
    [
      'set in all items of a list',
      { list: '$.spec.list', '$.list[*].y': 0 },
      {
        list: [
          { x: 1, y: 0 },
          { x: 2, y: 0 },
        ],
      },
    ],
    ['set in all members of a map', { b: '$.spec.b', '$.b.*': 'new' }, { b: { c: 'new' } }],
    ['set in a slice', { list: '$.spec.list', '$.list[1:].x': 0 }, { list: [{ x: 1 }, { x: 0 }] }],
    ['set nothing without a match', { a: 1, '$.list[*].x': 1 }, { a: 1, list: undefined }],
    ['overwrite earlier values', { a: 1, '$.a': 2 }, { a: 2 }],
    ['set a missing value to null', { '$.a.b': '$.missing' }, { a: { b: null } }],
    ['copy a map', { '$.': '$.metadata' }, document.metadata],
    ['copy the document', { '$.': '$' }, document],
    ['copy a literal map', { '$.': { a: 1 } }, { a: 1 }],
    [
      'copy over earlier members',
      { name: 'b', x: 1, '$.': '$.metadata' },
      { ...document.metadata, x: 1 },
    ],
    [
      'are overwritten by later members',
      { '$.': '$.metadata', name: 'b' },
      { ...document.metadata, name: 'b' },
    ],
    ['treat $ like $.', { $: '$.spec.b' }, { c: 2 }],
  ] as const) {
    it(title, () => {
      // Compares as JSON, so that an undefined member counts as absent.
      const built = JSON.parse(JSON.stringify(evaluate(source, document))) as unknown;
      expect(built).to.deep.equal(JSON.parse(JSON.stringify(result)));
    });
  }

  it('set values as data, not as paths', () => {
    expect(evaluate({ '$.a': '$.b' }, { b: '$.c', c: 1 })).to.deep.equal({ a: '$.c' });
  });

  it('treat __proto__ as an ordinary name', () => {
    const built = evaluate({ '$.__proto__.x': 1, '$.a.constructor.y': 2 });
    expect(JSON.stringify(built)).to.equal('{"__proto__":{"x":1},"a":{"constructor":{"y":2}}}');
    expect(({} as { x?: unknown }).x).to.equal(undefined);
    const source = JSON.parse('{"__proto__": "$.a"}') as unknown;
    expect(JSON.stringify(evaluate(source, { a: 1 }))).to.equal('{"__proto__":1}');
  });

  for (const [source, message] of [
    [{ a: '$.spec.a', '$.a.b': 1 }, '$.a.b: want a map to set "b" in, got 1'],
    [{ a: '$.spec.list', '$.a.b': 1 }, '$.a.b: want a map to set "b" in, got [{"x":1},{"x":2}]'],
    [{ a: '$.spec.b', '$.a[0]': 1 }, '$.a[0]: want a list to set [0] in, got {"c":2}'],
    [{ '$[0]': '$.spec.a' }, '$[0]: want a list to set [0] in, got {}'],
    [{ a: '$.spec.list', '$.a[-3]': 1 }, '$.a[-3]: the list has no [-3], got [{"x":1},{"x":2}]'],
    [{ '$.': '$.spec.a' }, '$.: want a map, whose members are copied, got 1'],
    [{ '$.': '$.missing' }, '$.: want a map, whose members are copied, got null'],
  ] as const) {
    it(`fail on ${JSON.stringify(source)}`, () => {
      expect(dataErrorOf(source, document).message).to.equal(message);
    });
  }

  it('are refused when they are loaded if they cannot set anything', () => {
    expect(
      problemsOf({
        '$..a': 1,
        '$$.a': 1,
        '$.a[70000]': 1,
        '$.a[': 1,
        '$.': 'x',
        $: [1],
        '$.b': { '@eq': [1] },
      }),
    ).to.deep.equal([
      '["$.b"]["@eq"]: @eq: want 2 operands, got 1',
      '["$..a"]: invalid setter "$..a": .. cannot be used to set a value',
      '["$$.a"]: invalid setter "$$.a": a setter cannot change $$',
      '["$.a[70000]"]: invalid setter "$.a[70000]": a list is filled up to index 65535 at most',
      '["$.a["]: invalid JSONPath "$.a[": character 5: want \'a name\', an index, *, a slice or ?filter',
      '["$."]: $.: want a map, whose members are copied, got a string',
      '["$"]: $: want a map, whose members are copied, got a list',
    ]);
  });

  it('set the value that an expression with the same JSONPath reads', () => {
    const step = fc.oneof(
      fc.string().map((name) => `[${JSON.stringify(name)}]`),
      fc.nat(20).map((index) => `[${index}]`),
    );
    const property = fc.property(
      fc.array(step, { maxLength: 5 }),
      fc.jsonValue(),
      (steps, value) => {
        const path = `$.a${steps.join('')}`;
        const built = evaluate({ [path]: '$.value' }, { value });
        expect(evaluate(path, built as Record<string, unknown>)).to.deep.equal(value);
      },
    );
    fc.assert(property, { numRuns: tries(200) });
  });

  it('do not change values at other paths', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const names = fc.array(name, { minLength: 1, maxLength: 3 });
    const property = fc.property(names, names, (one, other) => {
      const [left, right] = [`$.${one.join('.')}`, `$.${other.join('.')}`];
      const apart = !left.startsWith(right) && !right.startsWith(left);
      if (!apart) return;
      const built = evaluate({ [left]: 1, [right]: 2 }) as Record<string, unknown>;
      expect([evaluate(left, built), evaluate(right, built)]).to.deep.equal([1, 2]);
    });
    fc.assert(property, { numRuns: tries(200) });
  });
});
