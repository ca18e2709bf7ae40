import { expect } from 'chai';
import { TypedValue, comment, literal } from '../../../lib/cli/types/source-text.js';

describe('Values in generated source text', () => {
  const long = 'a'.repeat(90);

  for (const [value, text] of [
    ['a', "'a'"],
    ["it's", `"it's"`],
    [`it's "so"`, `'it\\'s "so"'`],
    ['\u2028\u2029\n\\', "'\\u2028\\u2029\\n\\\\'"],
    [1, '1'],
    [null, 'null'],
    [undefined, 'undefined'],
    [[], '[]'],
    [[1, 'a', {}], "[1, 'a', {}]"],
    [{ a: undefined }, '{}'],
    [
      JSON.parse('{ "a": 1, "b-c": 2, "__proto__": 3, "$_9": 4, "9a": 5 }'),
      "{\n  a: 1,\n  'b-c': 2,\n  ['__proto__']: 3,\n  $_9: 4,\n  '9a': 5,\n}",
    ],
    [[{ a: [1] }, 2], '[\n  {\n    a: [1],\n  },\n  2,\n]'],
    [[long, 'b'], `['${long}', 'b']`],
    [[long, 'bc'], `[\n  '${long}',\n  'bc',\n]`],
    [{ names: long }, `{\n  names:\n    '${long}',\n}`],
    [{ name: long }, `{\n  name: '${long}',\n}`],
    [{ names: long.slice(7) }, `{\n  names: '${long.slice(7)}',\n}`],
    [new TypedValue({ a: 1 }, 'A'), '{\n  a: 1,\n} satisfies A'],
  ] as const) {
    it(`are ${JSON.stringify(text)}`, () => {
      expect(literal(value)).to.equal(text);
    });
  }

  it('have the indentation of the line before them', () => {
    expect(literal({ a: [{}] }, '    const a = ')).to.equal('{\n      a: [{}],\n    }');
  });

  it('have comments whose text contains neither the end of a comment nor irregular spaces', () => {
    expect(comment(undefined, '')).to.deep.equal([]);
    expect(comment('A\u00a0b. */', '  ')).to.deep.equal(['  /** A b. *\\/ */']);
    expect(comment('A.\r\n\r\nB.\u2028C.  ', '')).to.deep.equal([
      ...['/**', ' * A.', ' *', ' * B.', ' * C.', ' */'],
    ]);
  });
});
