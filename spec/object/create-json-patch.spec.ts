import { expect } from 'chai';
import fc from 'fast-check';
import fastJsonPatch from 'fast-json-patch';
import { createJsonPatch, applyJsonPatch } from '../../lib/object/json-patch.js';
import { tries } from '../sample.js';

describe('createJsonPatch', () => {
  const cases: readonly (readonly [string, unknown, unknown, readonly unknown[]])[] = [
    ['nothing for equal values', { a: [1] }, { a: [1] }, []],
    ['an added member', {}, { a: 1 }, [{ op: 'add', path: '/a', value: 1 }]],
    ['removal for an undefined member', { a: 1 }, { a: undefined }, [{ op: 'remove', path: '/a' }]],
    ['a changed member', { a: 1 }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
    ['an object for a list', { a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
    ['names with / and ~', {}, { 'a/~': 1 }, [{ op: 'add', path: '/a~1~0', value: 1 }]],
    ['an appended item', [1], [1, 2], [{ op: 'add', path: '/-', value: 2 }]],
    [
      ...['items gone', [1, 2, 3], [1]],
      [
        { op: 'remove', path: '/2' },
        { op: 'remove', path: '/1' },
      ],
    ] as never,
  ];
  for (const [what, from, to, patch] of cases) {
    it(`creates ${what}`, () => {
      expect(createJsonPatch(from, to)).to.deep.equal(patch);
    });
  }

  it('treats keys such as constructor and __proto__ as data', () => {
    const to: unknown = JSON.parse('{"__proto__":0,"constructor":{"prototype":1}}');
    const patch = createJsonPatch({}, to);
    expect(patch.map(({ path }) => path)).to.deep.equal(['/__proto__', '/constructor']);
    expect(JSON.stringify(applyJsonPatch({}, patch))).to.equal(JSON.stringify(to));
    expect(applyJsonPatch(to, createJsonPatch(to, {}))).to.deep.equal({});
  });

  it('creates a patch that turns any value into any other, also when another implementation applies it', () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const property = fc.property(json, json, (from, to) => {
      const patch = createJsonPatch(from, to);
      expect(applyJsonPatch(from, patch)).to.deep.equal(to);
      if (patch.some(({ path }) => /\/(__proto__|prototype)(\/|$)/.test(path))) return;
      const oracle = fastJsonPatch.applyPatch(
        structuredClone(from),
        structuredClone(patch) as never,
      );
      expect(oracle.newDocument).to.deep.equal(to);
    });
    fc.assert(property, { numRuns: tries(300) });
  });
});
