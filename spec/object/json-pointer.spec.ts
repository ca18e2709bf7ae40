import { expect } from 'chai';
import fc from 'fast-check';
import { formatJsonPointer, isWellEscaped, parseJsonPointer } from '../../lib/object/json-patch.js';

describe('JSON pointers', () => {
  // Examples of RFC 6901, section 5.
  const cases: [string, string[]][] = [
    ['', []],
    ['/foo', ['foo']],
    ['/foo/0', ['foo', '0']],
    ['/', ['']],
    ['/a~1b', ['a/b']],
    ['/m~0n', ['m~n']],
    ['/~01', ['~1']],
    ['/ ', [' ']],
  ];
  for (const [pointer, tokens] of cases) {
    it(`parse ${JSON.stringify(pointer)}`, () => {
      expect(parseJsonPointer(pointer)).to.deep.equal(tokens);
    });
  }

  it('begin with a slash', () => {
    expect(parseJsonPointer('foo')).to.equal(undefined);
  });

  it('are unchanged by formatting and parsing', () => {
    const property = fc.property(fc.array(fc.string()), (tokens) => {
      const pointer = formatJsonPointer(tokens);
      expect(parseJsonPointer(pointer)).to.deep.equal(tokens);
      expect(isWellEscaped(pointer)).to.equal(true);
    });
    fc.assert(property);
  });

  it('accept only the escapes ~0 and ~1', () => {
    expect(['/~0~1', '/~', '/~2', '/a~'].map(isWellEscaped)).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
  });
});
