import { expect } from 'chai';
import { goSyntax, goText, goTypeOf } from '../../lib/object/index.js';

describe('values as Go prints them', () => {
  const rows: [value: unknown, text: string, syntax: string, type: string][] = [
    [null, '<nil>', 'interface {}(nil)', '<nil>'],
    [undefined, '<nil>', 'interface {}(nil)', '<nil>'],
    ['a "b"', 'a "b"', '"a \\"b\\""', 'string'],
    [true, 'true', 'true', 'bool'],
    [3, '3', '3', 'int64'],
    [1.5, '1.5', '1.5', 'float64'],
    [[], '[]', '[]interface {}{}', '[]interface {}'],
    [[1, 'x', null], '[1 x <nil>]', '[]interface {}{1, "x", interface {}(nil)}', '[]interface {}'],
    [
      { b: [true], a: 1 },
      'map[a:1 b:[true]]',
      'map[string]interface {}{"a":1, "b":[]interface {}{true}}',
      'map[string]interface {}',
    ],
  ];
  for (const [value, text, syntax, type] of rows) {
    it(`are ${text} with %v, and ${syntax} with %#v`, () => {
      expect(goText(value)).to.equal(text);
      expect(goSyntax(value)).to.equal(syntax);
      expect(goTypeOf(value)).to.equal(type);
    });
  }
});
