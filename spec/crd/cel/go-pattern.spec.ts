import { expect } from 'chai';
import { GoPattern, goPattern } from '../../../lib/crd/cel/go.js';

function pattern(source: string): GoPattern {
  const compiled = goPattern(source);
  if (compiled instanceof GoPattern) return compiled;
  throw compiled;
}

// Results of Go's regexp.
const verdicts: readonly (readonly [source: string, text: string, matches: boolean])[] = [
  ['^(?i)abc$', 'ABC', true],
  ['^(?i:[k])$', '\u212a', true],
  ['^[[:alpha:]]+$', 'abc', true],
  ['^[[:alpha:]]+$', 'ab1', false],
  ['^[[:^alpha:]]$', '1', true],
  ['\\Ax\\z', 'x\n', false],
  ['^x$', 'x\n', false],
  ['^\\pL+$', 'é', true],
  ['^\\P{Greek}$', 'α', false],
  ['^\\p{^Greek}$', 'a', true],
  ['^(?s:a.b)$', 'a\nb', true],
  ['^.+$', 'a\nb', false],
  ['(?m)^a$', 'b\na', true],
  ['^\\Qa.b\\E$', 'axb', false],
  ['^\\Qa.b\\E$', 'a.b', true],
  ['^\\x{41}$', 'A', true],
  ['^\\x41\\103$', 'AC', true],
  ['^[a-z&&b]+$', 'b&', true],
  ['^[]a]$', ']', true],
  ['^\\s$', '\v', false],
  ['^\\s$', '\u00a0', false],
  ['^.$', '😀', true],
  ['^a{2,3}$', 'aaaa', false],
  ['^a{,3}$', 'a{,3}', true],
  ['\\bfoo\\b', 'a foo b', true],
  ['^(?P<y>\\d{4})-\\w$', '2024-a', true],
  ['a|', '', true],
];

const refused: readonly (readonly [source: string, message: string])[] = [
  ['(', 'missing closing ): `(`'],
  ['a)', 'unexpected ): `a)`'],
  ['[a', 'missing closing ]: `[a`'],
  ['^(?!x).*$', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['*', 'missing argument to repetition operator: `*`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
  ['\\', 'trailing backslash at end of expression: ``'],
];

describe('goPattern, which matches patterns as Go does', () => {
  for (const [source, text, matches] of verdicts) {
    it(`${source} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
      expect(pattern(source).test(text)).to.equal(matches);
    });
  }

  for (const [source, message] of refused) {
    it(`refuses ${source} with Go's message`, () => {
      expect(() => pattern(source)).to.throw(`error parsing regexp: ${message}`);
    });
  }

  it('finds the same match as Go where several are possible', () => {
    expect(pattern('ab|abc').find('abc')).to.equal('ab');
    expect(pattern('a+?').find('aaa')).to.equal('a');
    expect(pattern('(?U)a+').find('aaa')).to.equal('a');
    expect(pattern('a*').findAll('baac')).to.deep.equal(['', 'aa', '']);
  });

  it('matches nested repetitions in linear time', () => {
    expect(pattern('^(a+)+$').test(`${'a'.repeat(5000)}!`)).to.equal(false);
    expect(pattern('^(a|a)*(a|a)*(a|a)*b$').test('a'.repeat(5000))).to.equal(false);
  });

  it('refuses deeply nested expressions', () => {
    const source = '('.repeat(5000) + ')'.repeat(5000);
    expect(() => pattern(source)).to.throw('expression nests too deeply');
  });
});
