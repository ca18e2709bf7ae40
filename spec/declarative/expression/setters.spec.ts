import { expect } from 'chai';
import fc from 'fast-check';
import { tries } from '../../sample.js';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

const document = {
  metadata: { name: 'a', labels: { app: 'web' } },
  spec: { a: 1, b: { c: 2 }, list: [{ x: 1 }, { x: 2 }] },
};

describe('Setters', () => {
  for (const [title, source, result] of [
    ['make the parents', { '$.y.z': '$.spec.b' }, { y: { z: { c: 2 } } }],
    ['take names in quotes', { "$['a.b']['c/d']": 1 }, { 'a.b': { 'c/d': 1 } }],
    ['pad lists', { '$.y[3]': 12 }, { y: [null, null, null, 12] }],
    ['make lists of maps', { '$.y[1].z': 1 }, { y: [null, { z: 1 }] }],
    ['set in turn', { '$.spec.y': 'a', '$.spec.b.d': 12 }, { spec: { y: 'a', b: { d: 12 } } }],
    ['build in the map they stand in', { q: { '$.y.z': 1 } }, { q: { y: { z: 1 } } }],
    [
      'set in what was copied, and leave the rest',
      { metadata: '$.metadata', '$.metadata.labels.tier': 'front' },
      { metadata: { name: 'a', labels: { app: 'web', tier: 'front' } } },
    ],
    [
      'set in a list that was copied',
      { list: '$.spec.list', '$.list[1].x': 3, '$.list[-2].y': 4 },
      { list: [{ x: 1, y: 4 }, { x: 3 }] },
    ],
    [
      'set in each match of a filter',
      { list: '$.spec.list', '$.list[?@.x > 1].x': 9 },
      { list: [{ x: 1 }, { x: 9 }] },
    ],
    [
      'set in all items',
      { list: '$.spec.list', '$.list[*].y': 0 },
      {
        list: [
          { x: 1, y: 0 },
          { x: 2, y: 0 },
        ],
      },
    ],
    ['set in all members', { b: '$.spec.b', '$.b.*': 'new' }, { b: { c: 'new' } }],
    ['set in a slice', { list: '$.spec.list', '$.list[1:].x': 0 }, { list: [{ x: 1 }, { x: 0 }] }],
    ['set nothing where nothing matches', { a: 1, '$.list[*].x': 1 }, { a: 1, list: undefined }],
    ['overwrite', { a: 1, '$.a': 2 }, { a: 2 }],
    ['set what is missing to null', { '$.a.b': '$.missing' }, { a: { b: null } }],
    ['copy a map', { '$.': '$.metadata' }, document.metadata],
    ['copy the document', { '$.': '$' }, document],
    ['copy a map that is written out', { '$.': { a: 1 } }, { a: 1 }],
    [
      'copy over what stands before',
      { name: 'b', x: 1, '$.': '$.metadata' },
      { ...document.metadata, x: 1 },
    ],
    [
      'are overwritten by what stands after',
      { '$.': '$.metadata', name: 'b' },
      { ...document.metadata, name: 'b' },
    ],
    ['$ is $.', { $: '$.spec.b' }, { c: 2 }],
  ] as const) {
    it(title, () => {
      // As JSON: a member that is undefined is absent.
      const built = JSON.parse(JSON.stringify(evaluate(source, document))) as unknown;
      expect(built).to.deep.equal(JSON.parse(JSON.stringify(result)));
    });
  }

  it('what they set is data', () => {
    expect(evaluate({ '$.a': '$.b' }, { b: '$.c', c: 1 })).to.deep.equal({ a: '$.c' });
  });

  it('__proto__ is a name like any other', () => {
    const built = evaluate({ '$.__proto__.x': 1, '$.a.constructor.y': 2 });
    expect(JSON.stringify(built)).to.equal('{"__proto__":{"x":1},"a":{"constructor":{"y":2}}}');
    expect(({} as { x?: unknown }).x).to.equal(undefined);
    const source = JSON.parse('{"__proto__": "$.a"}') as unknown;
    expect(JSON.stringify(evaluate(source, { a: 1 }))).to.equal('{"__proto__":1}');
  });

  for (const [source, message] of [
    [{ a: '$.spec.a', '$.a.b': 1 }, '$.a.b: wants a map to set "b" in, got 1'],
    [{ a: '$.spec.list', '$.a.b': 1 }, '$.a.b: wants a map to set "b" in, got [{"x":1},{"x":2}]'],
    [{ a: '$.spec.b', '$.a[0]': 1 }, '$.a[0]: wants a list to set [0] in, got {"c":2}'],
    [{ '$[0]': '$.spec.a' }, '$[0]: wants a list to set [0] in, got {}'],
    [{ a: '$.spec.list', '$.a[-3]': 1 }, '$.a[-3]: the list has no [-3], got [{"x":1},{"x":2}]'],
    [{ '$.': '$.spec.a' }, '$.: copies a map, got 1'],
    [{ '$.': '$.missing' }, '$.: copies a map, got null'],
  ] as const) {
    it(`${JSON.stringify(source)} is an error`, () => {
      expect(dataErrorOf(source, document).message).to.equal(message);
    });
  }

  it('what can set nothing is refused at load', () => {
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
      '["$.b"]["@eq"]: @eq wants 2 operands, not 1',
      '["$..a"]: "$..a" is no setter: .. selects, it sets nothing',
      '["$$.a"]: "$$.a" is no setter: $$ is not what is built',
      '["$.a[70000]"]: "$.a[70000]" is no setter: a list is filled up to index 65535 at most',
      '["$.a["]: "$.a[" is no JSONPath: character 5: wants \'a name\', an index, *, a slice or ?filter',
      '["$."]: $. copies a map, not a string',
      '["$"]: $ copies a map, not a list',
    ]);
  });

  it('what was set is what is got', () => {
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

  it('what is set at one place leaves the others', () => {
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
