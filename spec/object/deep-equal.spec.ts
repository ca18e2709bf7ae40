import { expect } from 'chai';
import fc from 'fast-check';
import { deepEqual } from '../../lib/object/deep-equal.js';

describe('deepEqual', () => {
  const pairs: readonly [a: unknown, b: unknown, equal: boolean][] = [
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: undefined }, {}, true],
    [{}, { a: undefined }, true],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [[], {}, false],
    [{ at: new Date(1) }, { at: new Date(1) }, true],
    [{ at: new Date(1) }, { at: new Date(2) }, false],
    [{ a: undefined, b: 1 }, { b: 1, c: undefined }, true],
    [{ a: undefined }, { b: 1 }, false],
    [{ 0: 1 }, [1], false],
    ['1', 1, false],
    [{ a: 1 }, 'a', false],
    [[1], { 0: 1 }, false],
    [new Date(1), {}, false],
    [{ a: undefined }, { b: undefined }, true],
    [{ a: 1, b: 2 }, { a: 1, c: 2 }, false],
    [null, {}, false],
    [undefined, null, false],
    [{}, { constructor: 'x' }, false],
    [{}, JSON.parse('{"__proto__":{}}'), false],
  ];
  for (const [a, b, equal] of pairs) {
    it(`is ${equal} for ${JSON.stringify(a)} and ${JSON.stringify(b)}`, () => {
      expect(deepEqual(a, b)).to.equal(equal);
      expect(deepEqual(b, a)).to.equal(equal);
    });
  }

  it('is true for every value and its copy', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => deepEqual(value, structuredClone(value))));
  });
});
