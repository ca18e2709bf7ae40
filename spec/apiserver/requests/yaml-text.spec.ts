import { expect } from 'chai';
import { yamlText } from '../../../lib/apiserver/requests/yaml-text.js';
import { jsonProblem } from '../../../lib/apiserver/requests/json-text.js';

describe('yamlText', () => {
  const values: readonly (readonly [value: unknown, text: string])[] = [
    [null, 'null'],
    [true, 'true'],
    [[], '[]'],
    [{}, '{}'],
    [{ a: undefined }, '{}'],
    [0, '0'],
    [-0.5, '-0.5'],
    [0.0001, '0.0001'],
    [0.00012, '0.00012'],
    [0.00001, '1e-05'],
    [-1.5e-10, '-1.5e-10'],
    [99999.5, '99999.5'],
    [999999.5, '999999.5'],
    [1000000.5, '1.0000005e+06'],
    [1e18, '1000000000000000000'],
    [2 ** 63, '9.223372036854776e+18'],
    [1e300, '1e+300'],
    ['', '""'],
    ['plain text', 'plain text'],
    ['a: b', "'a: b'"],
    ['a:b', 'a:b'],
    ['a #b', "'a #b'"],
    ['a#b', 'a#b'],
    ["it's", "it's"],
    ["'it", "'''it'"],
    [' a', "' a'"],
    ['a ', "'a '"],
    ['- a', "'- a'"],
    ['-a', '-a'],
    ['? a', "'? a'"],
    ['-', "'-'"],
    ['---', "'---'"],
    ['...', "'...'"],
    ...Array.from('#,[]{}&*!|>\'"%@`').map((sign) => {
      return [`${sign}a`, `'${sign === "'" ? "''" : sign}a'`] as const;
    }),
    ...['~', 'null', 'y', 'N', 'yes', 'No', 'on', 'OFF', 'true', '.nan', '-.inf', '1', '0x1F'].map(
      (word) => [word, `"${word}"`] as const,
    ),
    ...['0b11', '0o17', '1.5', '.5', '1.', '1e3', '1_000', '1:30', '2026-01-31'].map(
      (word) => [word, `"${word}"`] as const,
    ),
    ['2026-01-31T10:00:00Z', '"2026-01-31T10:00:00Z"'],
    ['2026-01-31 10:00:00', '"2026-01-31 10:00:00"'],
    ['2026-01-31t10:00:00.5+01:00', '"2026-01-31t10:00:00.5+01:00"'],
    ['2026-01-31x', '2026-01-31x'],
    ['2026-13-31', '2026-13-31'],
    ['10.0.0.1', '10.0.0.1'],
    ['0x', '0x'],
    ['\t', '"\\t"'],
    ['\u0000\u0007\b\v\f\r\u001b"\\', '"\\0\\a\\b\\v\\f\\r\\e\\"\\\\"'],
    ['\u0001', '"\\x01"'],
    ['\u0085', '"\\x85"'],
    ['\u2028', '"\\u2028"'],
    ['\u{1f600}', '"\\U0001F600"'],
    ['é', 'é'],
    ['\ufeffab', '"\\uFEFF\\x61\\x62"'],
    ['a\nb', '|-\n  a\n  b'],
    ['a\nb\n', '|\n  a\n  b'],
    ['a\n\n', '|+\n  a\n'],
    ['\n', '|2+\n'],
    [' a\nb', '|2-\n   a\n  b'],
    ['a \nb', '"a \\nb"'],
    ['a\n\nb', '|-\n  a\n\n  b'],
  ];
  for (const [value, text] of values) {
    it(`writes ${JSON.stringify(value)} as Go does`, () => {
      expect(yamlText({ a: value })).to.equal(`a: ${text}\n`);
    });
  }

  it('folds long lines at single spaces after the 80th column', () => {
    const word = 'x'.repeat(40);
    const text = yamlText({ a: `${word} ${word} ${word}  ${word} y`, b: `'${word} ${word} y` });
    expect(text.split('\n')).to.deep.equal([
      `a: ${word} ${word}`,
      `  ${word}  ${word}`,
      '  y',
      `b: '''${word} ${word}`,
      "  y'",
      '',
    ]);
    const escaped = yamlText({ a: `\t${word} ${word} y`, b: `\t${word} ${word}  y` });
    expect(escaped.split('\n')).to.deep.equal([
      `a: "\\t${word} ${word}`,
      '  y"',
      `b: "\\t${word} ${word}`,
      '  \\ y"',
      '',
    ]);
  });

  it('folds a line that has more than 80 characters before a space, not one that has 80', () => {
    const [fits, long] = ['x'.repeat(77), 'x'.repeat(78)];
    expect(yamlText({ a: `${fits} y` })).to.equal(`a: ${fits} y\n`);
    expect(yamlText({ a: `${long} y` })).to.equal(`a: ${long}\n  y\n`);
    const values = { a: 1, b: `${fits} y`, c: `${long} y` };
    expect(yamlText(values)).to.equal(`a: 1\nb: ${fits} y\nc: ${long}\n  y\n`);
    const [escaped, cut] = ['x'.repeat(74), 'x'.repeat(75)].map((text) => `\t${text} y`);
    expect(yamlText({ a: escaped })).to.equal(`a: "\\t${'x'.repeat(74)} y"\n`);
    expect(yamlText({ a: cut })).to.equal(`a: "\\t${'x'.repeat(75)}\n  y"\n`);
    const folded = `${'x'.repeat(79)} ${'y'.repeat(78)} ${'z'.repeat(79)} 1`;
    expect(yamlText({ a: folded }).split('\n')).to.deep.equal([
      `a: ${'x'.repeat(79)}`,
      `  ${'y'.repeat(78)} ${'z'.repeat(79)}`,
      '  1',
      '',
    ]);
  });

  it('sorts keys by the numbers in them, and letters after other characters', () => {
    const sorted = ['', '-', '1', '01', '2', '10', 'A', 'a', 'a-', 'a0', 'a00', 'a1b', 'a01b'];
    sorted.push('a10', 'a100', 'aB', 'ab', 'ab1', 'ac', 'b');
    for (const given of [sorted, sorted.toReversed()]) {
      const text = yamlText(Object.fromEntries(given.map((name) => [`k${name}`, name])));
      const names = text
        .trim()
        .split('\n')
        .map((line) => line.replace(/^k(.*): .*$/, '$1'));
      expect(names).to.deep.equal(sorted);
    }
  });

  it('writes maps and lists in blocks', () => {
    const value = { l: [1, { a: 1, b: [2] }, [3, [4]], []], m: { k: { o: 'p' } } };
    expect(yamlText(value)).to.equal(
      'l:\n- 1\n- a: 1\n  b:\n  - 2\n- - 3\n  - - 4\n- []\nm:\n  k:\n    o: p\n',
    );
  });

  it('puts a question mark before keys that are long or have several lines', () => {
    const long = 'k'.repeat(129);
    expect(yamlText({ [long]: 1, ['k'.repeat(128)]: 2, 'a\nb': { c: 3 } })).to.equal(
      `? |-\n  a\n  b\n: c: 3\n${'k'.repeat(128)}: 2\n? ${long}\n: 1\n`,
    );
  });

  it('refuses control characters that YAML does not allow', () => {
    for (const text of ['\u007f', '\u0084', '\u0086', '\u009f', '\ufffe', '\uffff']) {
      expect(() => yamlText({ a: text })).to.throw('yaml: control characters are not allowed');
    }
  });
});

describe('jsonProblem', () => {
  const end = 'unexpected end of JSON input';
  const problems: readonly (readonly [text: string, problem: string])[] = [
    ['', end],
    ['{', end],
    ['{"a"', end],
    ['{"a":', end],
    ['{"a":1', end],
    ['[', end],
    ['[1,', end],
    ['"a', end],
    ['"a\\', "invalid character ' ' in string escape code"],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{a', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 2}', "invalid character '2' after object key:value pair"],
    ['{"a":1]', "invalid character ']' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1}', "invalid character '}' after array element"],
    ['{} {}', "invalid character '{' after top-level value"],
    ['[[]]]', "invalid character ']' after top-level value"],
    [' \t\r\n01', "invalid character '1' after top-level value"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['-', "invalid character ' ' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['-10.25E+x', "invalid character 'x' in exponent of numeric literal"],
    ['[0.5e-07x', "invalid character 'x' after array element"],
    ['tRue', "invalid character 'R' in literal true (expecting 'r')"],
    ['fals', "invalid character ' ' in literal false (expecting 'e')"],
    ['[null,nul!', "invalid character '!' in literal null (expecting 'l')"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ['"\\q"', "invalid character 'q' in string escape code"],
    ['"\\n\\/\\u00eF\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"],
    ["['", "invalid character '\\'' looking for beginning of value"],
    ['[1"', "invalid character '\"' after array element"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
  ];
  for (const [text, problem] of problems) {
    it(`names the problem of ${JSON.stringify(text)} as Go does`, () => {
      expect(jsonProblem(text)).to.equal(problem);
    });
  }
});
