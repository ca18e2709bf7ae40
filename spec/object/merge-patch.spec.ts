import { expect } from 'chai';
import fc from 'fast-check';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import { applyMergePatch, createMergePatch } from '../../lib/object/merge-patch.js';

describe('applyMergePatch', () => {
  // Test cases of RFC 7386, appendix A.
  const cases: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, expected] of cases) {
    it(`applies ${JSON.stringify(patch)} to ${JSON.stringify(target)}, which gives ${JSON.stringify(expected)}`, () => {
      expect(applyMergePatch(deepFreeze(target), deepFreeze(patch))).to.deep.equal(expected);
    });
  }

  it('treats __proto__ as data', () => {
    const patch: unknown = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"x": 1}}');
    const result = applyMergePatch({}, patch) as object;
    expect(result).not.to.have.property('polluted');
    expect({}).not.to.have.property('polluted');
    expect(Object).not.to.have.property('x');
    expect(JSON.stringify(result)).to.equal('{"__proto__":{"polluted":1},"constructor":{"x":1}}');
    const removed = applyMergePatch(result, JSON.parse('{"__proto__": null}'));
    expect(JSON.stringify(removed)).to.equal('{"constructor":{"x":1}}');
  });
});

describe('createMergePatch', () => {
  const { object } = fc.letrec<{ object: Record<string, unknown>; value: unknown }>((tie) => ({
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value'), {
      noNullPrototype: true,
    }),
    value: fc.oneof(
      { maxDepth: 4 },
      fc.boolean(),
      fc.nat(2),
      fc.array(fc.nat(2), { maxLength: 2 }),
      tie('object'),
    ),
  }));

  it('creates a patch that turns any object into any other object', () => {
    const property = fc.property(object, object, (from, to) => {
      const patch = createMergePatch(deepFreeze(from), deepFreeze(to));
      expect(applyMergePatch(from, patch)).to.deep.equal(to);
    });
    fc.assert(property);
  });

  it('is empty when nothing changed', () => {
    const from = { a: { b: [1] }, c: undefined };
    expect(createMergePatch(from, { a: { b: [1], d: undefined } })).to.deep.equal({});
  });

  it('contains only changes', () => {
    const from = { a: { b: 1, c: 2 }, d: [1], e: {} };
    const to = { a: { b: 1, c: 3 }, d: [1, 2], f: { g: undefined } };
    expect(createMergePatch(from, to)).to.deep.equal({ a: { c: 3 }, d: [1, 2], e: null, f: {} });
  });

  it('rejects to set a member to null, which a merge patch would remove', () => {
    expect(() => createMergePatch({ a: {} }, { a: { b: null } }))
      .to.throw("a.b can't be set to null")
      .with.property('code', 'InvalidPatch');
    expect(createMergePatch({ a: null }, { a: null })).to.deep.equal({});
  });
});
