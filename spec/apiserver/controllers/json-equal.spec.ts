import { expect } from 'chai';
import fc from 'fast-check';
import { jsonEqual } from '../../../lib/apiserver/controllers/json-equal.js';

describe('jsonEqual', () => {
  const pairs: readonly [a: unknown, b: unknown, equal: boolean][] = [
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: undefined }, {}, true],
    [{}, { a: undefined }, true],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [[], {}, false],
    [{ 0: 1 }, [1], false],
    ['1', 1, false],
    [null, {}, false],
    [undefined, null, false],
    [{}, { constructor: 'x' }, false],
    [{}, JSON.parse('{"__proto__":{}}'), false],
  ];
  for (const [a, b, equal] of pairs) {
    it(`says ${equal} for ${JSON.stringify(a)} and ${JSON.stringify(b)}`, () => {
      expect(jsonEqual(a, b)).to.equal(equal);
      expect(jsonEqual(b, a)).to.equal(equal);
    });
  }

  it('holds for every value and its copy', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => jsonEqual(value, structuredClone(value))));
  });
});
